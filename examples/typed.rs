//! An informer read through the types of `k8s-openapi`: which pods of each node have restarted containers.
//!
//! `cargo run --example typed`. The source is one in memory; on a cluster, it is a `kdelta::api::ResourceClient`, and
//! nothing else changes.

use std::collections::BTreeMap;
use std::error::Error;

use k8s_openapi::api::core::v1::Pod;
use kdelta::informer::SharedIndexInformer;
use kdelta::listwatch::ListerWatcher;
use kdelta::store::{Indexer, index_funcs};
use kdelta::testing::FakeSource;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// How often the containers of a pod have restarted. A typed view is parsed when it is asked for: what is held are the
/// bytes, a fraction of the size of the struct.
fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_deref());
    statuses.unwrap_or_default().iter().map(|status| status.restart_count).sum()
}

/// The restarts of each node's pods, by the index over `spec.nodeName`.
fn restarts_by_node(indexer: &dyn Indexer) -> Result<BTreeMap<String, i32>, Box<dyn Error>> {
    let mut by_node = BTreeMap::new();
    for node in indexer.list_index_func_values("node") {
        let pods = indexer.by_index("node", &node)?;
        let pods = pods.iter().map(|object| object.parse::<Pod>()).collect::<Result<Vec<_>, _>>()?;
        by_node.insert(node, pods.iter().map(restarts).sum());
    }
    Ok(by_node)
}

/// Runs an informer on that source until it has synced, and answers what the question gives.
async fn report(source: impl ListerWatcher) -> Result<BTreeMap<String, i32>, Box<dyn Error>> {
    let informer = SharedIndexInformer::builder(source)
        .indexers([("node".to_owned(), index_funcs::node())].into())
        .build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(informer.run(stop.clone()));
    informer.synced().await;
    let answer = restarts_by_node(&*informer.get_indexer());
    stop.cancel();
    running.await??;
    answer
}

fn pods() -> FakeSource {
    let source = FakeSource::new();
    for (name, node, restarts) in [("web-1", "north", 0), ("web-2", "south", 2), ("db-0", "south", 5)] {
        source.add(json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": "shop", "name": name},
            "spec": {"nodeName": node, "containers": [{"name": "main", "image": "registry/main:1"}]},
            "status": {"containerStatuses": [
                {"name": "main", "image": "registry/main:1", "imageID": "", "ready": true, "restartCount": restarts},
            ]},
        }));
    }
    source
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for (node, restarts) in report(pods()).await? {
        println!("{node}: {restarts} restarts");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn restarts_are_counted_by_node() {
        let counted = report(pods()).await.expect("a report");
        assert_eq!(counted, [("north".to_owned(), 0), ("south".to_owned(), 7)].into());
    }
}
