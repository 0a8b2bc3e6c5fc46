//! A server, or a proxy in front of it, that rejects the next watch.

use super::{Scene, Watcher};
use crate::support::{Fault, FaultResponse, RequestClass};

/// Makes both watches miss changes and cuts them; the next request of each gets this response.
fn rejected_once(response: FaultResponse) {
    let scene = Scene::synced();
    scene.change_unseen();
    scene.proxy.respond_to_each(RequestClass::Rewatches, response);
    scene.proxy.inject(Fault::Cut);
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expired_version_in_the_watch_response_causes_a_gap() {
    rejected_once(FaultResponse::status(410));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expired_version_in_the_first_watch_frame_causes_a_gap() {
    rejected_once(FaultResponse::error_frame(410));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn overload_backs_off_for_the_servers_retry_after() {
    rejected_once(FaultResponse::status(429).retry_after(1));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn internal_server_error_causes_a_relist() {
    rejected_once(FaultResponse::status(500));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn bad_gateway_is_retried() {
    rejected_once(FaultResponse::page(503));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn future_version_error_causes_a_relist() {
    rejected_once(FaultResponse::status(504));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn forbidden_watch_resumes_when_permission_returns() {
    let mut scene = Scene::synced();
    scene.proxy.respond(RequestClass::All, FaultResponse::status(403), usize::MAX);
    scene.proxy.inject(Fault::Cut);
    scene.wait_for_lines(2);
    scene.change();
    scene.proxy.forward_all();
    scene.assert_recovered();
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expired_token_is_reread_from_its_file() {
    let mut scene = Scene::synced();
    scene.proxy.require_token("the second");
    scene.proxy.inject(Fault::Cut);
    scene.wait_for_lines(2);
    scene.change();
    for Watcher { version, .. } in &scene.watchers {
        scene.proxy.write_token(&scene.env, version, "the second");
    }
    scene.assert_recovered();
}
