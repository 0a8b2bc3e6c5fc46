//! Metrics and health of a watch on the real server: the numbers are those of what was done.

use serde_json::json;

use crate::support::{Api, Proxy, Running, Scraper, TestEnv, Testbed, config_maps};

const LABELS: [(&str, &str); 2] = [("group", ""), ("resource", "configmaps")];

/// A kind of delta with its labels.
fn of(kind: &'static str, origin: &'static str) -> [(&'static str, &'static str); 4] {
    [LABELS[0], LABELS[1], ("type", kind), ("origin", origin)]
}

/// Starts a watch through the proxy and waits for its initial state.
fn start(env: &TestEnv, testbed: &Testbed, namespace: &str, proxy: &Proxy) -> (Running, Scraper) {
    let config = env.kubeconfig(testbed, "admin", namespace, proxy.port());
    let words = ["watch", "cm", "-o", "json", "--metrics", "0"];
    let running = env.kdelta(&words).env("KUBECONFIG", config).start();
    let scraper = Scraper::of(&running);
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    (running, scraper)
}

/// Makes 5 additions, 7 updates and 2 deletions.
fn change(api: &Api, namespace: &str) {
    let path = config_maps(namespace);
    for number in 0..5 {
        api.create_config_map(namespace, &format!("secret-name-{number}"), &json!({}));
    }
    for number in 1..=7 {
        api.patch(&format!("{path}/kept"), &json!({"data": {"n": number.to_string()}}));
    }
    for number in 0..2 {
        api.delete(&format!("{path}/secret-name-{number}"));
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn scraped_numbers_equal_what_was_done() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    for name in ["kept", "other", "gone"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let mut proxy = Proxy::before(testbed.port());
    let (mut running, scraper) = start(&env, &testbed, &namespace, &proxy);
    assert_eq!(scraper.await_status("/readyz", 200), "ok\n");
    assert_eq!(scraper.value("kdelta_deltas_total", &of("added", "list")), Some(3.0));
    assert_eq!(scraper.value("kdelta_synced", &LABELS), Some(1.0));

    change(&api, &namespace);
    scraper.await_value("kdelta_deltas_total", &of("deleted", "watch"), 2.0);
    assert_eq!(scraper.value("kdelta_deltas_total", &of("added", "watch")), Some(5.0));
    assert_eq!(scraper.value("kdelta_deltas_total", &of("modified", "watch")), Some(7.0));
    scraper.await_value("kdelta_output_deltas_total", &[("result", "printed")], 17.0);
    scraper.await_value("kdelta_queue_items", &LABELS, 0.0);
    assert_eq!(scraper.value("kdelta_queue_bytes", &LABELS), Some(0.0));
    let messages = scraper.value("kdelta_last_message_timestamp_seconds", &LABELS);
    let started = scraper.value("process_start_time_seconds", &[]);
    assert!(messages >= started && started > Some(1.7e9), "{messages:?} {started:?}");
    for name in ["kdelta_received_bytes_total", "kdelta_requests_total"] {
        assert!(scraper.value(name, &[]).is_some_and(|value| value > 1.0), "{name}");
    }
    let text = scraper.text();
    assert!(!text.contains("secret-name") && !text.contains(&namespace), "no names, no namespaces: {text}");

    // A cut connection: nothing is missed.
    proxy.cut();
    running.stderr.find("the loss", |line| line.contains("lost"));
    let reason = scraper.await_status("/readyz?max-behind=0.1", 503);
    assert!(reason.contains("configmaps: no connection for "), "{reason}");
    assert_eq!(scraper.get("/healthz").0, 200);
    assert!(scraper.value("kdelta_behind_seconds", &LABELS).is_some_and(|seconds| seconds > 0.0));
    assert!(scraper.value("kdelta_failures_total", &LABELS).is_some_and(|failures| failures >= 1.0));
    proxy.reopen();
    scraper.await_value("kdelta_reconnects_total", &LABELS, 1.0);
    scraper.await_status("/readyz?max-behind=0.1", 200);
    assert!(scraper.value("kdelta_disconnected_seconds_total", &LABELS).is_some_and(|seconds| seconds > 0.0));
    assert_eq!(scraper.value("kdelta_behind_seconds", &LABELS), Some(0.0));
    assert_eq!(scraper.value("kdelta_gaps_total", &LABELS), Some(0.0));

    // A gap: the server loses its history.
    proxy.cut();
    api.delete(&format!("{}/gone", config_maps(&namespace)));
    testbed.stop();
    let testbed = env.own_server();
    proxy.reopen();
    running.stdout.json_until("GAP", |line| line["type"] == "GAP");
    scraper.await_value("kdelta_deltas_total", &of("deleted", "relist"), 1.0);
    assert_eq!(scraper.value("kdelta_gaps_total", &LABELS), Some(1.0));
    assert_eq!(scraper.value("kdelta_relists_total", &LABELS), Some(1.0));
    assert!(scraper.value("kdelta_gap_seconds_total", &LABELS).is_some_and(|seconds| seconds > 0.0));
    scraper.await_status("/readyz?max-behind=1", 200);

    running.signal("INT");
    assert_eq!(running.wait(), 130);
    assert!(std::net::TcpStream::connect(&scraper.address).is_err(), "nothing listens after the end");
    drop(testbed);
}
