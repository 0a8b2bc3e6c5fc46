//! A reflector of kube-rs that holds all pods as `DynamicObject`, the type for kinds chosen at run time.
//!
//! `kube-rs-peer [--watch]` uses KUBECONFIG, prints one line once it is synced, and ends there, or with `--watch` prints
//! a line for each event that follows: the annotation `testbed/sent` of its object, empty where there is none.

use std::io::Write as _;
use std::pin::pin;

use futures::StreamExt as _;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use kube::{Api, Client};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let stays = std::env::args().nth(1).is_some_and(|argument| argument == "--watch");
    let pods = ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
    let writer = reflector::store::Writer::new(pods.clone());
    let reader = writer.as_reader();
    let api: Api<DynamicObject> = Api::all_with(Client::try_default().await?, &pods);
    let config = watcher::Config::default().streaming_lists();
    let mut events = pin!(watcher(api, config).default_backoff().reflect(writer));
    let mut out = std::io::stdout().lock();
    while let Some(event) = events.next().await {
        let event = match event {
            // What a watcher fails at it tries again; the time that takes is no part of a sync.
            Err(error) if stays => {
                eprintln!("{error}");
                continue;
            }
            event => event?,
        };
        match event {
            watcher::Event::InitDone => {
                writeln!(out, "{{\"type\":\"SYNCED\",\"objects\":{}}}", reader.len())?;
                if !stays {
                    // Giving back the memory of each object would be counted as the sync's.
                    std::process::exit(0);
                }
            }
            watcher::Event::Apply(object) => tell(&mut out, "MODIFIED", &object)?,
            watcher::Event::Delete(object) => tell(&mut out, "DELETED", &object)?,
            watcher::Event::Init | watcher::Event::InitApply(_) => {}
        }
    }
    Ok(())
}

fn tell(out: &mut impl std::io::Write, kind: &str, object: &DynamicObject) -> std::io::Result<()> {
    let annotations = object.metadata.annotations.as_ref();
    let sent = annotations.and_then(|all| all.get("testbed/sent")).map_or("", String::as_str);
    writeln!(out, "{{\"type\":\"{kind}\",\"testbed/sent\":\"{sent}\"}}")?;
    out.flush()
}
