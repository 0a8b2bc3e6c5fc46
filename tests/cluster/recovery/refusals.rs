//! A server, or something before it, that refuses the next watch.

use super::{Scene, Watcher};
use crate::support::{FaultAnswer, Strike, Which};

/// Both watches miss changes and are cut; the next of each is answered so.
fn refused_once(answer: FaultAnswer) {
    let Some(scene) = Scene::synced() else { return };
    scene.change_unseen();
    scene.proxy.answer_each(Which::Rewatches, answer);
    scene.proxy.strike(Strike::Cut);
    scene.went_on();
}

#[test]
fn a_version_too_old_at_the_start_of_a_watch_is_a_gap() {
    refused_once(FaultAnswer::status(410));
}

#[test]
fn a_version_too_old_in_the_first_frame_of_a_watch_is_a_gap() {
    refused_once(FaultAnswer::error_frame(410));
}

#[test]
fn an_overload_is_waited_out_as_long_as_the_server_says() {
    refused_once(FaultAnswer::status(429).retry_after(1));
}

#[test]
fn a_failure_inside_the_server_costs_a_list() {
    refused_once(FaultAnswer::status(500));
}

#[test]
fn a_load_balancer_without_servers_is_waited_out() {
    refused_once(FaultAnswer::page(503));
}

#[test]
fn a_server_that_lags_behind_is_listed() {
    refused_once(FaultAnswer::status(504));
}

#[test]
fn a_permission_that_comes_back_is_waited_for() {
    let Some(mut scene) = Scene::synced() else { return };
    scene.proxy.answer(Which::All, FaultAnswer::status(403), usize::MAX);
    scene.proxy.strike(Strike::Cut);
    scene.both_said(2);
    scene.change();
    scene.proxy.forward_all();
    scene.went_on();
}

#[test]
fn a_token_that_expired_is_read_again_from_its_file() {
    let Some(mut scene) = Scene::synced() else { return };
    scene.proxy.take_token("the second");
    scene.proxy.strike(Strike::Cut);
    scene.both_said(2);
    scene.change();
    for Watcher { version, .. } in &scene.watchers {
        scene.proxy.give_token(&scene.env, version, "the second");
    }
    scene.went_on();
}
