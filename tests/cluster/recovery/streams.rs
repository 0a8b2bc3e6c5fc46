//! Watches that end, break or deliver unreadable data.

use std::time::Duration;

use super::Scene;
use crate::support::{Bookmarks, Strike};

#[test]
fn watch_timeout_is_silent() {
    let Some(scene) = Scene::synced() else { return };
    // A watch that ends within a second of its start counts as failed.
    std::thread::sleep(Duration::from_secs(1));
    scene.change_unseen();
    scene.proxy.strike(Strike::End);
    scene.assert_recovered();
}

#[test]
fn frame_cut_by_a_clean_end_is_received_again() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.strike(Strike::Truncate);
    scene.change();
    scene.assert_recovered();
}

#[test]
fn frame_cut_by_a_broken_stream_is_received_again() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.strike(Strike::Break);
    scene.change();
    scene.assert_recovered();
}

#[test]
fn unreadable_frame_causes_a_relist() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Corrupt);
    scene.assert_recovered();
}

#[test]
fn invalid_json_causes_a_relist() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Garbage);
    scene.assert_recovered();
}

#[test]
fn delayed_partial_frames_are_reassembled() {
    let Some(mut scene) = Scene::set() else { return };
    scene.proxy.pieces(7, Duration::from_millis(1));
    scene.start(&[]);
    scene.change();
    scene.assert_recovered();
}

#[test]
fn dropped_bookmarks_are_tolerated() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.bookmarks(Bookmarks::None);
    std::thread::sleep(Duration::from_secs(1));
    scene.change_unseen();
    scene.proxy.strike(Strike::End);
    scene.assert_recovered();
}

#[test]
fn expired_version_in_the_stream_causes_a_gap() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(410));
    scene.assert_recovered();
}

#[test]
fn overload_error_in_the_stream_backs_off() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(429));
    scene.assert_recovered();
}

#[test]
fn internal_server_error_in_the_stream_causes_a_relist() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(500));
    scene.assert_recovered();
}
