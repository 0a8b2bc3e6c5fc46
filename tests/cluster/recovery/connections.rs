//! Connections that end, that can't be made, or that are not to be used again.

use std::time::Duration;

use super::Scene;
use crate::support::Strike;

#[test]
fn a_connection_that_ends_is_made_again() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Cut);
    scene.went_on();
}

#[test]
fn a_connection_that_is_reset_is_made_again() {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.strike(Strike::Reset);
    scene.went_on();
}

#[test]
fn a_server_that_refuses_is_tried_until_it_accepts() {
    let Some(mut scene) = Scene::synced() else { return };
    scene.proxy.refuse();
    scene.both_said(2);
    scene.change();
    scene.proxy.accept();
    scene.went_on();
}

#[test]
fn a_server_that_shows_a_wrong_certificate_is_tried_until_it_shows_the_right_one() {
    let Some(mut scene) = Scene::synced() else { return };
    scene.proxy.be_a_stranger(true);
    scene.proxy.strike(Strike::Cut);
    scene.both_said(2);
    scene.change();
    scene.proxy.be_a_stranger(false);
    scene.went_on();
}

#[test]
fn a_connection_that_goes_away_is_left_with_its_last_watch() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.strike(Strike::GoAway);
    // The watch that stands goes on, and ends in its own time; the next one finds another connection.
    std::thread::sleep(Duration::from_secs(1));
    scene.change_unseen();
    scene.proxy.strike(Strike::End);
    scene.went_on();
}
