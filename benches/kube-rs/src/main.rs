//! A kube-rs reflector that stores all pods as `DynamicObject`, the type for kinds chosen at run time.
//!
//! `kube-rs-peer [--watch]` uses KUBECONFIG and prints one line once it is synced. Then it exits, or with `--watch`
//! prints a line per event: the annotation `testbed/sent` of its object, empty if there is none.

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
            // A watcher retries after an error; that time is not part of a sync.
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
                    // Exits without freeing each object, which would count as part of the sync.
                    std::process::exit(0);
                }
            }
            watcher::Event::Apply(object) => print_event(&mut out, "MODIFIED", &object)?,
            watcher::Event::Delete(object) => print_event(&mut out, "DELETED", &object)?,
            watcher::Event::Init | watcher::Event::InitApply(_) => {}
        }
    }
    Ok(())
}

fn print_event(out: &mut impl std::io::Write, kind: &str, object: &DynamicObject) -> std::io::Result<()> {
    let annotations = object.metadata.annotations.as_ref();
    let sent = annotations.and_then(|all| all.get("testbed/sent")).map_or("", String::as_str);
    writeln!(out, "{{\"type\":\"{kind}\",\"testbed/sent\":\"{sent}\"}}")?;
    out.flush()
}
