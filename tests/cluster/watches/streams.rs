//! Many watches on one connection: an unread watch does not block the others.

use std::time::Duration;

use kdelta::api::{Client, ResourceClient, ResourceWatch};
use kdelta::kubeconfig::{Config, ConfigOptions};
use kdelta::listwatch::{ListOptions, ListStream, ListerWatcher, WatchEvent, WatchOptions, WatchStream};
use kdelta::object::ApiResource;
use serde_json::json;

use crate::support::{OnServer, PATIENCE, TestEnv, config_maps};

/// The number of watches that share a connection.
const WATCHES: usize = 80;
/// Far more than the server may send ahead on one stream.
const LARGE: usize = 200_000;
const UPDATES: usize = 20;

fn client(kubeconfig: &str) -> Client {
    // By default the first watches have a connection each.
    let (kubeconfig, watch_connections) = (Some(kubeconfig.into()), Some("0".into()));
    let options = ConfigOptions::default().kubeconfig(kubeconfig).watch_connections(watch_connections);
    Client::new(&Config::load(&options).expect("a config")).expect("a client")
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unread_watch_does_not_block_others_on_its_connection() {
    let OnServer { testbed, api, namespace, .. } = TestEnv::on_server();
    let quiet = api.namespace();
    let large = |number: usize| json!({"metadata": {"name": "large"}, "data": {"x": number.to_string().repeat(LARGE)}});
    api.create(&config_maps(&namespace), &large(0));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let watch = |client: &Client, namespace: &str| {
        let resource = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "configmaps".into(),
            kind: "ConfigMap".into(),
            namespaced: true,
        };
        let resource = ResourceClient::new(client.clone(), resource).namespace(Some(namespace.to_owned()));
        runtime.block_on(async {
            let mut list = resource.list(&ListOptions::default()).await.expect("a list");
            while list.next().await.expect("a page").is_some() {}
            let resource_version = list.meta().resource_version.clone();
            let options = WatchOptions::default().resource_version(resource_version);
            resource.watch(&options).await.expect("a watch")
        })
    };
    let client = client(testbed.kubeconfig());
    let mut unread = watch(&client, &namespace);
    let mut others: Vec<_> = (1..WATCHES).map(|_| watch(&client, &quiet)).collect();

    for number in 1..=UPDATES {
        api.patch(&format!("{}/large", config_maps(&namespace)), &large(number % 10));
    }
    api.create_config_map(&quiet, "small", &json!({}));
    let event = |watch: &mut ResourceWatch| {
        let next = async { tokio::time::timeout(PATIENCE, WatchStream::next(watch)).await };
        runtime.block_on(next).expect("in time").expect("no end").expect("no error")
    };
    for watch in &mut others {
        assert!(matches!(event(watch), WatchEvent::Added(object) if object.name() == "small"));
    }
    // The unread watch was only delayed and loses nothing.
    for number in 1..=UPDATES {
        let WatchEvent::Modified(object) = event(&mut unread) else { panic!("update {number}") };
        assert!(object.json().len() > LARGE);
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
}
