//! Leftovers of a stopped informer. Tasks are counted in a runtime of the test's own, connections at the server.

use std::sync::Arc;
use std::time::Duration;

use kdelta::api::{Client, ResourceClient};
use kdelta::demo::{Demo, Options};
use kdelta::informer::{
    HandlerOptions, MutationDetector, OnSlow, SharedIndexInformer, SharedInformerFactory,
};
use kdelta::kubeconfig::Config;
use kdelta::object::ApiResource;
use kdelta::testing::{FakeSource, pod};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;

use super::{KINDS, Recorder, Replay, source_of, source_state, until};
use crate::support::{Proxy, eventually};

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Builds an informer with every feature that may own a task, a timer or a channel.
fn equipped(builder: kdelta::informer::Builder<FakeSource>) -> SharedIndexInformer {
    builder
        .resync_check_period(Some(Duration::from_secs(1)))
        .mutation_detector(MutationDetector::new(Arc::new(|mutation| panic!("{mutation:?}"))))
        .build()
}

#[tokio::test(start_paused = true)]
async fn stop_ends_all_tasks_and_delivers_queued_deltas() {
    for kind in KINDS {
        let source = source_of(&["a", "b"]);
        let informer = equipped(SharedIndexInformer::builder(source.clone()).queue(kind));
        let coalesce = HandlerOptions::default().on_slow(OnSlow::Coalesce);
        let recorder = Recorder::default();
        informer.add_event_handler(recorder.clone()).expect("not stopped");
        informer.add_event_handler_with_options(Recorder::default(), coalesce).expect("not stopped");
        let mut unread = informer.subscribe(1, None).expect("not stopped");
        let mut merged = informer.subscribe_with_options(coalesce).expect("not stopped");
        assert_eq!(tasks(), 0, "before it runs");
        let stop = CancellationToken::new();
        let run = informer.run(stop.clone());
        let run = async {
            let (ended, ()) = tokio::join!(run, async {
                assert!(informer.synced().await);
                let removed = informer.add_event_handler(Recorder::default()).expect("not stopped");
                assert!(tasks() >= 4, "the reflector and three handlers");
                until("it watches", || source.open_watches() == 1).await;
                (0..20).for_each(|at| source.add(pod(&format!("p{at}"))));
                until("received", || informer.last_sync_resource_version() == source.version()).await;
                informer.remove_event_handler(&removed);
                stop.cancel();
            });
            ended
        };
        run.await.expect("no error");
        assert_eq!((tasks(), source.open_watches()), (0, 0), "after it has stopped");
        assert_eq!(Replay::replay_to_end(&mut unread).await, source_state(&source));
        assert_eq!(Replay::replay_to_end(&mut merged).await, source_state(&source));
        assert_eq!(recorder.take().iter().filter(|line| line.starts_with('+')).count(), 22);
    }
}

fn resource(resource: &str, kind: &str, namespaced: bool) -> ApiResource {
    let (resource, kind) = (resource.into(), kind.into());
    ApiResource { group: String::new(), version: "v1".into(), resource, kind, namespaced }
}

#[test]
fn dropping_a_factory_and_its_client_closes_all_connections() {
    let (serving, watching) = (runtime(), runtime());
    let demo = serving.block_on(Demo::start(Options::default().port(Some(0)))).expect("a demo");
    let proxy = Proxy::before(demo.address().expect("a port").port());
    watching.block_on(async {
        let config = Config::for_server(&format!("http://127.0.0.1:{}", proxy.port())).expect("a config");
        let client = Client::new(&config).expect("a client");
        let factory = SharedInformerFactory::new(move |resource| {
            SharedIndexInformer::builder(ResourceClient::new(client.clone(), resource.clone())).build()
        });
        let mut handled = Vec::new();
        for (resource, kind, namespaced) in [("pods", "Pod", true), ("nodes", "Node", false)] {
            let api_resource = self::resource(resource, kind, namespaced);
            let informer = factory.for_resource(&api_resource).expect("an informer").informer().clone();
            let recorder = Recorder::default();
            informer.add_event_handler(recorder.clone()).expect("not stopped");
            handled.push((informer, recorder));
        }
        factory.start(&CancellationToken::new()).expect("not shut down");
        assert!(factory.wait_for_cache_sync().await.iter().all(|(_, synced)| *synced));
        assert!(proxy.connections() >= 2, "one watch each");
        assert!(factory.shutdown().await.is_empty());
        for (informer, recorder) in &handled {
            let stored = informer.get_store().list_keys().len();
            assert!(stored > 0 && recorder.len() >= stored, "notified of all stored objects");
        }
    });
    eventually("every connection is closed", || (proxy.connections() == 0).then_some(()));
    eventually("every task has ended", || (watching.metrics().num_alive_tasks() == 0).then_some(()));
}
