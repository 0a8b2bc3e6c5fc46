//! Objects of another type than the collection's: dropped, reported once, and never stored (client-go's case G7).

use std::sync::Arc;

use kdelta::listwatch::{Error, ListMeta, ListOptions, ListStream, ListerWatcher, WatchOptions};
use kdelta::object::{Object, TypeMeta};
use kdelta::reflector::Reflector;
use kdelta::testing::{FakeSource, InitialEvents, Request, pod};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{RecordingStore, advance, plain, start, until};

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
        let run = start(&source, plain().watch_list(watch_list));
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

#[tokio::test(start_paused = true)]
async fn dropped_event_does_not_end_the_run_of_initial_objects() {
    let source = source_of_pods();
    source.set_initial_events(InitialEvents::WithoutEnd);
    source.add(pod("a"));
    source.add(pod("b"));
    let run = start(&source, plain().watch_list(true));
    advance(1).await;
    source.modify(service("b"));
    for name in ["c", "d", "e"] {
        advance(6).await;
        source.add(pod(name));
    }
    advance(1).await;
    source.end_initial_events();
    run.caught_up().await;
    assert_eq!(run.store.content(), ["a@2", "b@3", "c@5", "d@6", "e@7"]);
    assert!(
        source.requests().iter().all(|request| matches!(request, Request::Watch(_))),
        "no list was needed"
    );
    run.stop().await.expect("no error");
}

#[tokio::test(start_paused = true)]
async fn dropped_objects_do_not_postpone_the_deadline_of_the_initial_state() {
    let source = source_of_pods();
    source.set_initial_events(InitialEvents::WithoutEnd);
    source.add(pod("a"));
    let run = start(&source, plain().watch_list(true));
    for number in 0..8 {
        advance(2).await;
        source.add(service(&format!("s{number}")));
    }
    assert!(
        source.requests().iter().any(|request| matches!(request, Request::List(_))),
        "it fell back to a list"
    );
    run.stop().await.expect("no error");
}

/// A source whose lists have no version, so that its watches begin with the objects that exist.
struct VersionlessSource(FakeSource);

struct VersionlessList(<FakeSource as ListerWatcher>::List, ListMeta);

impl ListStream for VersionlessList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        self.0.next().await
    }

    fn meta(&self) -> &ListMeta {
        &self.1
    }
}

impl ListerWatcher for VersionlessSource {
    type List = VersionlessList;
    type Watch = <FakeSource as ListerWatcher>::Watch;

    async fn list(&self, options: &ListOptions) -> Result<VersionlessList, Error> {
        Ok(VersionlessList(self.0.list(options).await?, ListMeta::default()))
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.0.watch(options).await
    }

    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        self.0.expected_type()
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_update_does_not_end_the_initial_events_of_a_watch() {
    let source = source_of_pods();
    source.add(pod("a"));
    let reflector =
        Reflector::new(VersionlessSource(source.clone()), Arc::new(RecordingStore::default()), plain());
    let (handle, stop) = (reflector.handle(), CancellationToken::new());
    let task = tokio::spawn(reflector.run(stop.clone()));
    until(|| source.open_watches() == 1).await;
    source.modify(service("a"));
    source.add(pod("b"));
    advance(1).await;
    assert!(handle.last_sync_resource_version().is_unset(), "{}", handle.last_sync_resource_version());
    source.modify(pod("b"));
    advance(1).await;
    assert_eq!(handle.last_sync_resource_version(), source.version());
    stop.cancel();
    task.await.expect("no panic").expect("no error");
}
