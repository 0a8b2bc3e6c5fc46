//! A recording with as many pods as a large cluster has.

use std::time::Instant;

use jiff::Timestamp;
use kdelta::api::Client;
use kdelta::kubeconfig::Config;

use super::resource;
use crate::support::{DemoServer, Recorder, TestEnv, print_line};

#[test]
#[ignore = "a minute: cargo test --test integration -- --ignored large_recording"]
fn large_recording_prints_the_objects_of_the_cluster() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--objects", "20000", "--speed", "0.0001"]);
    let dir = env.home().join("rec");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let client = Client::new(&Config::for_server(&demo.url).expect("a config")).expect("a client");
        let mut recorder = Recorder::new(&dir, "demo", Timestamp::now());
        recorder.documents_of(&client, Timestamp::now()).await;
        recorder.collection_of(&client, &resource("pods", "Pod"), None, Timestamp::now()).await;
        recorder.finish(Timestamp::now());
    });
    let live = ["get", "pods", "-A", "-o", "name", "--server", &demo.url];
    let live = env.kdelta(&live).finish().quiet_success();
    assert!(live.lines().count() > 20_000, "{} pods", live.lines().count());
    for form in ["name", "wide", "json"] {
        let began = Instant::now();
        let words = ["get", "pods", "-A", "-o", form, "--from", "rec"];
        let past = env.kdelta(&words).finish().quiet_success();
        print_line(&format!("get pods -A -o {form}: {:?}, {} bytes", began.elapsed(), past.len()));
        match form {
            "name" => assert_eq!(past, live),
            "wide" => assert_eq!(past.lines().count(), live.lines().count() + 1),
            _ => assert_eq!(past.matches("\"kind\": \"Pod\"").count(), live.lines().count()),
        }
    }
}
