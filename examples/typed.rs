//! Informers of two kinds read through the types of `k8s-openapi`: the pods on each node and their restarts.
//!
//! `cargo run --example typed` uses a demo cluster inside the process, `cargo run --example typed -- URL` any server
//! without authentication, such as `kdelta demo` or `kubectl proxy`. For a kubeconfig use `kdelta::kubeconfig::Config::load`.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use k8s_openapi::api::core::v1::{Node, Pod};
use kdelta::api::{Client, ResourceClient};
use kdelta::demo::{Demo, Options};
use kdelta::informer::{GenericInformer, ResourceEventHandler, SharedIndexInformer, SharedInformerFactory};
use kdelta::kubeconfig::Config;
use kdelta::object::{ApiResource, LabelSelector, Object};
use kdelta::store::{Indexer, index_funcs};
use tokio_util::sync::CancellationToken;

/// The report of one node.
#[derive(Debug, Default, PartialEq, Eq)]
struct NodeReport {
    kubelet: String,
    pods: usize,
    restarts: i32,
}

/// A handler that counts pods that are not running when they are added. It is called while the informers fill.
#[derive(Clone, Default)]
struct NotRunning(Arc<AtomicUsize>);

impl ResourceEventHandler for NotRunning {
    fn on_add(&self, object: &Arc<Object>, _is_in_initial_list: bool) {
        // A typed view is parsed on request: the store keeps the bytes, a fraction of the struct's size.
        let phase = object.parse::<Pod>().ok().and_then(|pod| pod.status?.phase);
        if phase.is_none_or(|phase| phase != "Running" && phase != "Succeeded") {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the number of restarts of a pod's containers.
fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_deref());
    statuses.unwrap_or_default().iter().map(|status| status.restart_count).sum()
}

/// Groups the pods by node, through the index over `spec.nodeName`.
fn report(
    nodes: &GenericInformer,
    pods: &dyn Indexer,
) -> Result<BTreeMap<String, NodeReport>, Box<dyn Error>> {
    let mut lines = BTreeMap::new();
    for object in nodes.lister().list(&LabelSelector::default()) {
        let node: Node = object.parse()?;
        let kubelet = node.status.and_then(|status| status.node_info).map(|info| info.kubelet_version);
        let on_it = pods.by_index("node", object.name())?;
        let on_it = on_it.iter().map(|object| object.parse()).collect::<Result<Vec<Pod>, _>>()?;
        let line = NodeReport {
            kubelet: kubelet.unwrap_or_default(),
            pods: on_it.len(),
            restarts: on_it.iter().map(restarts).sum(),
        };
        lines.insert(object.name().to_owned(), line);
    }
    Ok(lines)
}

/// Runs both informers until they have synced, and returns the report with the number of pods that are not running.
async fn run(server: &str) -> Result<(BTreeMap<String, NodeReport>, usize), Box<dyn Error>> {
    let client = Client::new(&Config::for_server(server)?)?;
    let factory = SharedInformerFactory::new(move |resource| {
        let source = ResourceClient::new(client.clone(), resource.clone());
        SharedIndexInformer::builder(source)
            .indexers([("node".to_owned(), index_funcs::node())].into())
            .build()
    });
    let nodes = factory.for_resource(&ApiResource::of::<Node>())?;
    let pods = factory.for_resource(&ApiResource::of::<Pod>())?;
    let not_running = NotRunning::default();
    let registration = pods.informer().add_event_handler(not_running.clone())?;
    factory.start(&CancellationToken::new())?;
    factory.wait_for_cache_sync().await;
    if !registration.synced().await {
        return Err("the informer ended before it had synced".into());
    }
    let lines = report(&nodes, &*pods.informer().get_indexer())?;
    factory.shutdown().await;
    Ok((lines, not_running.0.load(Ordering::Relaxed)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (lines, not_running) = if let Some(server) = std::env::args().nth(1) {
        run(&server).await?
    } else {
        let demo = Demo::start(Options::default().port(Some(0))).await?;
        run(&demo.url()).await?
    };
    for (node, NodeReport { kubelet, pods, restarts }) in lines {
        println!("{node} ({kubelet}): {pods} pods, {restarts} restarts");
    }
    println!("{not_running} pods are not running");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn report_has_every_node_with_its_pods() {
        let demo = Demo::start(Options::default().port(Some(0)).objects(100)).await.expect("a demo");
        let (lines, not_running) = run(&demo.url()).await.expect("a report");
        let pods: usize = lines.values().map(|line| line.pods).sum();
        assert!(lines.len() > 1 && lines.values().all(|line| line.kubelet.starts_with('v')), "{lines:?}");
        assert!(pods > 100, "{lines:?}");
        assert!(not_running < pods, "most are running: {not_running} of {pods}");
        demo.stop().await;
    }
}
