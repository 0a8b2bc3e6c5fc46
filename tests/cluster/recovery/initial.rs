//! Faults on the way to the initial state.

use super::Scene;
use crate::support::{Bookmarks, FaultAnswer, Strike, Which};

/// How often the initial state was asked for through a watch, and how often by a first page.
fn ways(asked: &[String]) -> (usize, usize) {
    let of_maps = || asked.iter().filter(|target| target.contains("/configmaps"));
    let count = |has: fn(&&String) -> bool| of_maps().filter(has).count();
    let lists = |target: &&String| !target.contains("watch=") && !target.contains("continue=");
    (count(|target| target.contains("sendInitialEvents=")), count(lists))
}

/// A first request that is answered so, and no other.
fn starts_after(which: Which, answer: FaultAnswer, arguments: &[&str]) {
    let Some(mut scene) = Scene::set() else { return };
    scene.proxy.answer_each(which, answer);
    scene.start(arguments);
    scene.change();
    scene.went_on();
}

#[test]
fn a_first_version_too_old_is_asked_for_anew() {
    starts_after(Which::WatchLists, FaultAnswer::status(410), &[]);
}

#[test]
fn a_first_list_too_old_is_asked_for_anew() {
    starts_after(Which::Lists, FaultAnswer::status(410), &["--list-mode", "list", "--cached"]);
}

#[test]
fn a_continue_token_that_expired_costs_one_list_without_pages() {
    starts_after(Which::LaterPages, FaultAnswer::status(410), &["--list-mode", "list", "--chunk-size", "2"]);
}

#[test]
fn an_overload_at_the_start_is_waited_out() {
    starts_after(Which::WatchLists, FaultAnswer::status(429).retry_after(1), &[]);
}

#[test]
fn a_server_that_does_not_know_watch_list_is_listed() {
    starts_after(Which::WatchLists, FaultAnswer::status(500), &[]);
}

#[test]
fn an_end_of_the_initial_state_that_never_comes_is_not_waited_for_again() {
    let Some(mut scene) = Scene::set() else { return };
    scene.proxy.bookmarks(Bookmarks::NoEnd);
    scene.start(&[]);
    assert_eq!(ways(&scene.proxy.take_asked()), (2, 2), "each tried once and then listed");
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(410));
    scene.both_said(3);
    assert_eq!(ways(&scene.proxy.take_asked()), (0, 2), "that it does not come is remembered");
    scene.went_on();
}

#[test]
fn a_server_that_ignores_the_wish_for_an_initial_state_is_listed() {
    let Some(scene) = Scene::synced() else { return };
    scene.proxy.swallow_initial_events(true);
    scene.change_unseen();
    scene.proxy.strike(Strike::Error(410));
    scene.went_on();
}

#[test]
fn the_way_to_the_initial_state_can_be_chosen() {
    let Some(mut scene) = Scene::set() else { return };
    scene.start(&["--list-mode", "list"]);
    assert_eq!(ways(&scene.proxy.take_asked()), (0, 2));
    let ask = |arguments: &[&str], feature: &str| {
        let arguments = [&["watch", "cm", "--until-synced"], arguments].concat();
        let config = scene.proxy.kubeconfig(&scene.env, &scene.namespace);
        let kdelta = scene.env.kdelta(&arguments).env("KUBECONFIG", config);
        let _table = kdelta.env("KUBE_FEATURE_WatchListClient", feature).finish().quiet_success();
        ways(&scene.proxy.take_asked())
    };
    assert_eq!(ask(&[], ""), (1, 0));
    assert_eq!(ask(&[], "false"), (0, 1));
    assert_eq!(ask(&["--list-mode", "auto"], "true"), (1, 0));
    assert_eq!(ask(&["--list-mode", "watchlist"], "false"), (1, 0));
    scene.change();
    scene.went_on();
}
