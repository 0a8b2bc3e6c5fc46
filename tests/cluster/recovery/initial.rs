//! Faults before the initial list is complete.

use super::Scene;
use crate::support::{Bookmarks, Fault, FaultResponse, RequestClass};

/// Returns the number of streaming lists and the number of first pages among the requests.
fn ways(requests: &[String]) -> (usize, usize) {
    let of_maps = || requests.iter().filter(|target| target.contains("/configmaps"));
    let count = |has: fn(&&String) -> bool| of_maps().filter(has).count();
    let lists = |target: &&String| !target.contains("watch=") && !target.contains("continue=");
    (count(|target| target.contains("sendInitialEvents=")), count(lists))
}

/// Gives the first matching request this response, and expects the watch to start normally afterwards.
fn starts_after(class: RequestClass, response: FaultResponse, arguments: &[&str]) {
    let mut scene = Scene::set();
    scene.proxy.respond_to_each(class, response);
    scene.start(arguments);
    scene.change();
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn initial_streaming_list_with_an_expired_version_is_retried() {
    starts_after(RequestClass::WatchLists, FaultResponse::status(410), &[]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn initial_list_with_an_expired_version_is_retried() {
    starts_after(RequestClass::Lists, FaultResponse::status(410), &["--list-mode", "list", "--cached"]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expired_continue_token_causes_one_unpaged_list() {
    starts_after(
        RequestClass::LaterPages,
        FaultResponse::status(410),
        &["--list-mode", "list", "--chunk-size", "2"],
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn initial_request_backs_off_under_overload() {
    starts_after(RequestClass::WatchLists, FaultResponse::status(429).retry_after(1), &[]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn server_without_watch_list_is_listed() {
    starts_after(RequestClass::WatchLists, FaultResponse::status(500), &[]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn missing_initial_events_end_falls_back_to_a_list() {
    let mut scene = Scene::set();
    scene.proxy.bookmarks(Bookmarks::NoEnd);
    scene.start(&[]);
    assert_eq!(ways(&scene.proxy.take_requests()), (2, 2), "each tried once and then listed");
    scene.change_unseen();
    scene.proxy.inject(Fault::Error(410));
    scene.wait_for_lines(3);
    assert_eq!(ways(&scene.proxy.take_requests()), (0, 2), "that it does not come is remembered");
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn server_that_ignores_send_initial_events_is_listed() {
    let scene = Scene::synced();
    scene.proxy.drop_initial_events(true);
    scene.change_unseen();
    scene.proxy.inject(Fault::Error(410));
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn initial_list_method_is_configurable() {
    let mut scene = Scene::set();
    scene.start(&["--list-mode", "list"]);
    assert_eq!(ways(&scene.proxy.take_requests()), (0, 2));
    let requests = |arguments: &[&str], feature: &str| {
        let arguments = [&["watch", "cm", "--until-synced"], arguments].concat();
        let config = scene.proxy.kubeconfig(&scene.env, &scene.namespace);
        let kdelta = scene.env.kdelta(&arguments).env("KUBECONFIG", config);
        let _table = kdelta.env("KUBE_FEATURE_WatchListClient", feature).finish().quiet_success();
        ways(&scene.proxy.take_requests())
    };
    assert_eq!(requests(&[], ""), (1, 0));
    assert_eq!(requests(&[], "false"), (0, 1));
    assert_eq!(requests(&["--list-mode", "auto"], "true"), (1, 0));
    assert_eq!(requests(&["--list-mode", "watchlist"], "false"), (1, 0));
    scene.change();
    scene.assert_recovered();
}
