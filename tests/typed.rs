//! The resources of the types of `k8s-openapi`, on the demo.

use std::fmt::Debug;

use k8s_openapi::ListableResource;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::CronJob;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kdelta::api::{Client, Discovery, DiscoveryOptions, ResourceClient};
use kdelta::demo::{Demo, Options};
use kdelta::informer::SharedIndexInformer;
use kdelta::kubeconfig::Config;
use kdelta::object::ApiResource;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

/// Checks that the resource of a type is the one of the server, and that the type reads all its objects.
async fn check<K>(client: &Client)
where
    K: ListableResource + k8s_openapi::Metadata<Ty = ObjectMeta> + DeserializeOwned + Debug,
    K::Scope: 'static,
{
    let resource = ApiResource::of::<K>();
    let discovery = Discovery::new(client, &DiscoveryOptions::default());
    let found = discovery.resolve(&resource.group_resource()).await.expect("the server has it");
    assert_eq!(found[0].resource, resource);

    let informer = SharedIndexInformer::builder(ResourceClient::new(client.clone(), resource)).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(informer.run(stop.clone()));
    assert!(informer.synced().await);
    let objects = informer.get_indexer().list();
    assert!(!objects.is_empty(), "{}", K::KIND);
    for object in objects {
        let typed: K = object.parse().expect("a typed object");
        assert_eq!(typed.metadata().name.as_deref(), Some(object.name()));
    }
    stop.cancel();
    running.await.expect("no panic").expect("no error");
}

#[tokio::test]
async fn types_name_the_resources_of_the_server() {
    let demo = Demo::start(Options::default().port(Some(0))).await.expect("a demo");
    let client = Client::new(&Config::for_server(&demo.url()).expect("a config")).expect("a client");
    check::<Pod>(&client).await;
    check::<Node>(&client).await;
    check::<Namespace>(&client).await;
    check::<Deployment>(&client).await;
    check::<CronJob>(&client).await;
    demo.stop().await;
}
