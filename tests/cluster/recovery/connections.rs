//! Connections that end, fail to open, or must not be reused.

use super::Scene;
use crate::support::Fault;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn closed_connection_is_reopened() {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.inject(Fault::Cut);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn reset_connection_is_reopened() {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.inject(Fault::Reset);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn refused_connection_is_retried() {
    let mut scene = Scene::synced();
    scene.proxy.refuse();
    scene.wait_for_lines(2);
    scene.change();
    scene.proxy.accept();
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn wrong_certificate_is_retried() {
    let mut scene = Scene::synced();
    scene.proxy.use_unknown_certificate(true);
    scene.proxy.inject(Fault::Cut);
    scene.wait_for_lines(2);
    scene.change();
    scene.proxy.use_unknown_certificate(false);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn goaway_moves_later_watches_to_another_connection() {
    let scene = Scene::synced();
    scene.proxy.inject(Fault::GoAway);
    // The open watch continues until its timeout; the next one uses another connection.
    scene.outlive_the_first_second();
    scene.change_unseen();
    scene.proxy.inject(Fault::End);
    scene.assert_recovered();
}
