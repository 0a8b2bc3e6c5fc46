//! Asks a server what it offers: all at once, or group version by group version where it can't tell all at once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use serde::de::DeserializeOwned;

use super::Told;
use super::catalog::{Catalog, Discovered, Missing};
use super::version::{Info, ServerVersion};
use super::wire::{Answer, GroupVersion, ResourceList, Root, UnusableNames};
use crate::api::{Client, Request};
use crate::listwatch::Error;

/// Both forms of the aggregated answer, then whatever the server has.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
/// A cluster with 2,000 CRDs tells 10 MB.
const LIMIT: usize = 256 * 1024 * 1024;
/// Group versions asked for at a time.
const AT_A_TIME: usize = 8;
/// How long a server may take to say its version, which only helps to choose among good ways.
const VERSION_LIMIT: Duration = Duration::from_secs(2);

/// Everything a server offers, and which it is. A part that can't be had is carried as missing; names that can't stand in
/// a URL are left out.
///
/// # Errors
/// When neither the core group nor the others answer: what the core group failed with.
pub(super) async fn fetch(
    client: &Client,
    timeout: Option<Duration>,
) -> Result<(Told, UnusableNames), Error> {
    let version = async { Ok(version(client, timeout).await) };
    let ((catalog, unusable), version) = tokio::try_join!(catalog(client, timeout), version)?;
    Ok((Told { catalog: Arc::new(catalog), version }, unusable))
}

async fn catalog(client: &Client, timeout: Option<Duration>) -> Result<(Catalog, UnusableNames), Error> {
    let (core, groups) = tokio::join!(root(client, "/api", timeout), root(client, "/apis", timeout));
    let (mut found, mut missing, mut unusable) = (Vec::new(), Vec::new(), UnusableNames::default());
    match (core, groups) {
        (Err(error), Err(_)) => return Err(error),
        (core, groups) => {
            for part in [core, groups] {
                match part {
                    Ok((more, without, names)) => {
                        found.extend(more);
                        missing.extend(without);
                        unusable.extend(names);
                    }
                    Err(error) => missing.push(Missing {
                        group: String::new(),
                        version: String::new(),
                        reason: error.to_string(),
                    }),
                }
            }
        }
    }
    Ok((Catalog::new(found, missing), unusable))
}

/// Which version the server is, where it says so in time.
async fn version(client: &Client, timeout: Option<Duration>) -> Option<ServerVersion> {
    let timeout = timeout.map_or(VERSION_LIMIT, |timeout| timeout.min(VERSION_LIMIT));
    ask::<Info>(client, &Request::new("/version").timeout(Some(timeout))).await.ok()?.version()
}

/// What `/api` or `/apis` leads to.
async fn root(
    client: &Client,
    path: &str,
    timeout: Option<Duration>,
) -> Result<(Vec<Discovered>, Vec<Missing>, UnusableNames), Error> {
    let request = Request::new(path).accept(ACCEPT).timeout(timeout);
    let root: Root = ask(client, &request).await?;
    let mut unusable = UnusableNames::default();
    let (found, missing) = match root.read(&mut unusable).map_err(Error::Decode)? {
        Answer::Whole(found, missing) => (found, missing),
        Answer::Parts(parts) => one_by_one(client, parts, timeout, &mut unusable).await,
    };
    Ok((found, missing, unusable))
}

async fn one_by_one(
    client: &Client,
    parts: Vec<GroupVersion>,
    timeout: Option<Duration>,
    unusable: &mut UnusableNames,
) -> (Vec<Discovered>, Vec<Missing>) {
    let asking = parts.into_iter().map(|part| async move {
        let answer: Result<ResourceList, Error> =
            ask(client, &Request::new(part.path()).timeout(timeout)).await;
        (part, answer)
    });
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    // In the order asked, which is that of preference.
    let mut answers = stream::iter(asking).buffered(AT_A_TIME);
    while let Some((part, answer)) = answers.next().await {
        match answer {
            Ok(list) => found.extend(list.read(&part, unusable)),
            Err(error) => {
                let (group, version) = part.into_names();
                missing.push(Missing { group, version, reason: error.to_string() });
            }
        }
    }
    (found, missing)
}

async fn ask<T: DeserializeOwned>(client: &Client, request: &Request) -> Result<T, Error> {
    let body = client.send(request).await?.body(LIMIT).await?;
    serde_json::from_slice(&body).map_err(|error| {
        Error::Decode(format!("the answer to {} is not what it should be: {error}", request.path))
    })
}
