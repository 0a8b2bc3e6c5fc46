//! Watches that end, break or deliver unreadable data.

use std::time::Duration;

use super::Scene;
use crate::support::{Bookmarks, Fault};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_timeout_is_silent() {
    let scene = Scene::synced();
    scene.outlive_the_first_second();
    scene.change_unseen();
    scene.proxy.inject(Fault::End);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn frame_cut_by_a_clean_end_is_received_again() {
    let scene = Scene::synced();
    scene.proxy.inject(Fault::Truncate);
    scene.change();
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn frame_cut_by_a_broken_stream_is_received_again() {
    let scene = Scene::synced();
    scene.proxy.inject(Fault::Break);
    scene.change();
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unreadable_frame_causes_a_relist() {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.inject(Fault::Corrupt);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn invalid_json_causes_a_relist() {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.inject(Fault::Garbage);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn delayed_partial_frames_are_reassembled() {
    let mut scene = Scene::set();
    scene.proxy.pieces(7, Duration::from_millis(1));
    scene.start(&[]);
    scene.change();
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn dropped_bookmarks_are_tolerated() {
    let scene = Scene::synced();
    scene.proxy.bookmarks(Bookmarks::None);
    scene.outlive_the_first_second();
    scene.change_unseen();
    scene.proxy.inject(Fault::End);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expired_version_in_the_stream_causes_a_gap() {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.inject(Fault::Error(410));
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn overload_error_in_the_stream_backs_off() {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.inject(Fault::Error(429));
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn internal_server_error_in_the_stream_causes_a_relist() {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.inject(Fault::Error(500));
    scene.assert_recovered();
}
