//! The statuses of a deployment during a rollout of the demo.

use std::collections::HashMap;

use jiff::Timestamp;
use kdelta::api::{Client, ClientOptions, Discovery, DiscoveryOptions, ResourceClient};
use kdelta::client::Connector;
use kdelta::demo::{Demo, Options};
use kdelta::informer::{Notification, SharedIndexInformer};
use kdelta::kubeconfig::Config;
use kdelta::query::{ComputedStatus, ObjectStatus};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::support::PATIENCE;

fn client(demo: &Demo) -> Client {
    let opener = demo.opener();
    let connector = Connector::new(move || {
        let opener = opener.clone();
        async move { opener.open().await }
    });
    let config = Config::for_server(&demo.url()).expect("a config");
    Client::with_options(&config, ClientOptions::default().connector(Some(connector))).expect("a client")
}

/// Returns the distinct statuses of the first deployment that completes a rollout, from the last one before it.
async fn statuses(demo: &Demo) -> Vec<ComputedStatus> {
    let client = client(demo);
    let found =
        Discovery::new(&client, &DiscoveryOptions::default()).resolve("deploy").await.expect("a type");
    let source = ResourceClient::new(client, found[0].resource.clone());
    let informer = SharedIndexInformer::builder(source).build();
    let mut notifications = informer.subscribe(1024, None).expect("not stopped");
    let stop = CancellationToken::new();
    let running = tokio::spawn(informer.run(stop.clone()));
    let mut seen: HashMap<String, Vec<ComputedStatus>> = HashMap::new();
    loop {
        let object = match notifications.recv().await.expect("a change") {
            Notification::Added { object, .. } => object,
            Notification::Updated { new, .. } => new,
            _ => continue,
        };
        let computed = ComputedStatus::of(&object.json(), Timestamp::now()).expect("a status");
        let states = seen.entry(object.key().to_string()).or_default();
        let is_current = computed.status == ObjectStatus::Current;
        if states.last() != Some(&computed) {
            states.push(computed);
        }
        let was_updated = states.iter().any(|state| state.message.starts_with("Updated: "));
        if is_current && !was_updated {
            // A pod that was unavailable for a time is not part of a rollout.
            states.drain(..states.len() - 1);
        }
        if is_current && was_updated && states[0].status == ObjectStatus::Current {
            stop.cancel();
            running.await.expect("no panic").expect("stopped");
            return std::mem::take(states);
        }
    }
}

#[tokio::test]
async fn a_rollout_goes_from_current_through_its_stages_to_current() {
    let demo = Demo::start(Options::default().seed(5).speed(20.0)).await.expect("a demo");
    let states = timeout(PATIENCE, statuses(&demo)).await.expect("a rollout");
    let reason = |state: &ComputedStatus| match &state.condition {
        Some(condition) => condition.reason.to_string(),
        None => state.status.to_string(),
    };
    // The demo may take a pod of the deployment down at any time.
    let mut reasons: Vec<String> =
        states.iter().map(reason).filter(|reason| reason != "LessAvailable").collect();
    reasons.dedup();
    let expected = ["Current", "LatestGenerationNotObserved", "LessUpdated", "ExtraPods", "Current"];
    assert_eq!(reasons, expected, "{states:#?}");
}
