//! Watches that end, break or bring what can't be read.

use std::time::Duration;

use super::Scene;
use crate::support::{Bookmarks, Strike};

#[test]
fn a_watch_that_ends_at_its_timeout_goes_on_without_a_word() {
    let Some(scene) = Scene::synced() else { return };
    // One that ends within a second of its start has failed.
    std::thread::sleep(Duration::from_secs(1));
    scene.change_unseen();
    scene.proxy.strike(Strike::End);
    scene.went_on();
}

#[test]
fn a_watch_cut_off_in_a_frame_gets_that_frame_again() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.strike(Strike::Truncate);
    scene.change();
    scene.went_on();
}

#[test]
fn a_watch_that_breaks_in_a_frame_gets_that_frame_again() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.strike(Strike::Break);
    scene.change();
    scene.went_on();
}

#[test]
fn a_frame_that_can_not_be_read_costs_a_list() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Corrupt);
    scene.went_on();
}

#[test]
fn what_is_no_frame_costs_a_list() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Garbage);
    scene.went_on();
}

#[test]
fn frames_in_pieces_that_come_late_are_whole() {
    let Some(mut scene) = Scene::set() else { return };
    scene.proxy.pieces(7, Duration::from_millis(1));
    scene.start(&[]);
    scene.change();
    scene.went_on();
}

#[test]
fn a_proxy_that_drops_bookmarks_is_not_noticed() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.bookmarks(Bookmarks::None);
    std::thread::sleep(Duration::from_secs(1));
    scene.change_unseen();
    scene.proxy.strike(Strike::End);
    scene.went_on();
}

#[test]
fn a_version_too_old_in_the_stream_is_a_gap() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(410));
    scene.went_on();
}

#[test]
fn an_overload_told_in_the_stream_is_waited_out() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(429));
    scene.went_on();
}

#[test]
fn a_failure_inside_the_server_told_in_the_stream_costs_a_list() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(500));
    scene.went_on();
}
