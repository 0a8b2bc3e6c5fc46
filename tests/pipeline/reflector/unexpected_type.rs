//! Objects of another type than the collection's: dropped, reported once, and never stored (client-go's case G7).

use kdelta::reflector::ReflectorOptions;
use kdelta::testing::{FakeSource, InitialEvents, pod};
use serde_json::{Value, json};

use super::{advance, plain, start};

fn service(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}})
}

fn source_of_pods() -> FakeSource {
    let source = FakeSource::new();
    source.set_expected_type("v1", "Pod");
    source
}

const REPORT: &str = "Service b in place of a Pod";

// G7
#[tokio::test(start_paused = true)]
async fn watch_drops_objects_of_another_kind() {
    let source = source_of_pods();
    source.add(pod("a"));
    source.add(pod("b"));
    let run = start(&source, plain());
    run.caught_up().await;
    source.modify(service("b"));
    source.add(service("c"));
    source.modify(pod("a"));
    run.caught_up().await;
    assert_eq!(run.store.content(), ["a@6", "b@3"], "the service has not replaced the pod of its name");
    source.delete("b");
    advance(1).await;
    assert_eq!(
        run.handle.last_sync_resource_version(),
        "6".into(),
        "a dropped event does not move the version"
    );
    assert_eq!(run.store.content(), ["a@6", "b@3"], "nor does its deletion delete the pod");
    assert_eq!(run.events.all().iter().filter(|line| *line == REPORT).count(), 1, "{:?}", run.events.all());
    run.stop().await.expect("no error");
}

#[tokio::test(start_paused = true)]
async fn initial_list_drops_objects_of_another_kind() {
    for watch_list in [false, true] {
        let source = source_of_pods();
        let initial = if watch_list { InitialEvents::Sent } else { InitialEvents::Unsupported };
        source.set_initial_events(initial);
        source.add(pod("a"));
        source.add(service("b"));
        source.add(service("c"));
        let run = start(&source, ReflectorOptions { watch_list, ..plain() });
        run.caught_up().await;
        assert_eq!(run.store.content(), ["a@2"], "watch-list: {watch_list}");
        assert_eq!(
            run.events.all().iter().filter(|line| *line == REPORT).count(),
            1,
            "{:?}",
            run.events.all()
        );
        run.stop().await.expect("no error");
    }
}
