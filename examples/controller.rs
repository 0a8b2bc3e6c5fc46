//! A controller that keeps a config map `contact` in every namespace: `cargo run --example controller`, on a demo cluster.

use std::error::Error;
use std::sync::Arc;

use kdelta::api::{Client, Discovery, DiscoveryOptions, ResourceClient};
use kdelta::demo::{Demo, Options};
use kdelta::informer::{Notification, NotificationFn, SharedIndexInformer};
use kdelta::{kubeconfig::Config, store::Store, workqueue::WorkQueue};
use tokio_util::sync::CancellationToken;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Creates the config map of a namespace if it is missing, with a plain HTTP request: the library only reads.
async fn reconcile(server: &str, maps: &dyn Store, namespace: &str) -> Result<()> {
    if maps.get_by_key(&format!("{namespace}/contact")).is_none() {
        let post = reqwest::Client::new().post(format!("{server}/api/v1/namespaces/{namespace}/configmaps"));
        let body = r#"{"metadata":{"name":"contact"},"data":{"team":"unknown"}}"#;
        post.header("Content-Type", "application/json").body(body).send().await?.error_for_status()?;
        println!("created {namespace}/contact");
    }
    Ok(())
}

/// Returns an informer that queues the namespace of each object that was added, changed or deleted.
async fn informer(server: &str, plural: &str, queue: &Arc<WorkQueue<String>>) -> Result<SharedIndexInformer> {
    let client = Client::new(&Config::for_server(server)?)?;
    let found = Discovery::new(&client, &DiscoveryOptions::default()).resolve(plural).await?;
    let (source, queue) = (ResourceClient::new(client, found[0].resource.clone()), Arc::clone(queue));
    let informer = SharedIndexInformer::builder(source).build();
    informer.add_event_handler(NotificationFn(move |notification: Notification| {
        if let Some(namespace) = notification.key().and_then(|key| key.split('/').next()) {
            queue.add(namespace.to_owned());
        }
    }))?;
    tokio::spawn(informer.run(CancellationToken::new()));
    informer.synced().await;
    Ok(informer)
}

/// Reconciles until the queue is shut down. A namespace that fails is tried again after a delay that grows.
async fn run(server: &str, queue: &Arc<WorkQueue<String>>) -> Result<()> {
    let maps = informer(server, "configmaps", queue).await?.get_store();
    let _namespaces = informer(server, "namespaces", queue).await?;
    while let Some(namespace) = queue.get().await {
        match reconcile(server, &*maps, &namespace).await {
            Ok(()) => queue.forget(&namespace),
            Err(_) => queue.add_rate_limited(namespace.clone()),
        }
        queue.done(&namespace);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    // This package builds reqwest without a TLS provider.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    run(&Demo::start(Options::default().port(Some(0))).await?.url(), &Arc::new(WorkQueue::new())).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits until the response to a GET has this status.
    async fn until_status(url: &str, status: u16) {
        while reqwest::get(url).await.expect("a response").status() != status {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn config_map_is_created_again_after_its_deletion() {
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let demo = Demo::start(Options::default().port(Some(0)).objects(100)).await.expect("a demo");
        let (server, queue) = (demo.url(), Arc::new(WorkQueue::new()));
        let url = format!("{server}/api/v1/namespaces/default/configmaps/contact");
        let test = async {
            until_status(&url, 200).await;
            let first = reqwest::get(&url).await.expect("a response").text().await.expect("a body");
            reqwest::Client::new().delete(&url).send().await.expect("a response");
            until_status(&url, 200).await;
            while reqwest::get(&url).await.expect("a response").text().await.expect("a body") == first {
                tokio::task::yield_now().await;
            }
            queue.shut_down();
        };
        let (result, ()) = tokio::join!(run(&server, &queue), test);
        result.expect("no error");
        demo.stop().await;
    }
}
