//! Asks a server what it offers: all at once, or group version by group version where it can't tell all at once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use serde::de::DeserializeOwned;

use super::Told;
use super::catalog::Catalog;
use super::version::{Info, ServerVersion};
use crate::api::{Client, Request};
use crate::clock::{Clock, TokioClock};
use crate::listwatch::Error;
use crate::wire::discovery::{DiscoveryDocument, GroupVersion, ResourceList, Root, UnusableNames};
use crate::wire::{DiscoveredResource, UnavailableGroup};

/// Both forms of the aggregated answer, then whatever the server has.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
/// The size of an answer that is read: two bytes of JSON may become hundreds of memory.
struct Limits {
    /// Decompressed.
    bytes: usize,
    objects: usize,
    members: usize,
}

/// Of everything at once. A cluster with 2,000 CRDs tells 10 MB; 100,000 types with two subresources each are 500,000
/// objects.
const WHOLE: Limits = Limits { bytes: 64 << 20, objects: 1_000_000, members: 8_000_000 };
/// Of one group version, of which several are read at the same time.
const PART: Limits = Limits { bytes: 8 << 20, objects: 100_000, members: 1_000_000 };
/// The types that are kept of those that are asked for one by one.
const MOST_TYPES: usize = 200_000;
/// The group versions that are asked for one by one: a server that can't tell them at once has a hundred.
const MOST_PARTS: usize = 2_000;
/// Tries of a request that the server wants to be repeated later, as many as kubectl makes.
const TRIES: u32 = 10;
/// The shortest wait between them, whatever the server says.
const SHORTEST_WAIT: Duration = Duration::from_millis(800);
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
                    Err(error) => missing.push(UnavailableGroup {
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
    ask::<Info>(client, &Request::new("/version").timeout(Some(timeout)), &PART).await.ok()?.version()
}

/// What `/api` or `/apis` leads to.
async fn root(
    client: &Client,
    path: &str,
    timeout: Option<Duration>,
) -> Result<(Vec<DiscoveredResource>, Vec<UnavailableGroup>, UnusableNames), Error> {
    let request = Request::new(path).accept(ACCEPT).timeout(timeout);
    let root: Root = ask(client, &request, &WHOLE).await?;
    let mut unusable = UnusableNames::default();
    let (found, missing) = match root.read(&mut unusable).map_err(Error::Decode)? {
        DiscoveryDocument::Aggregated(found, missing) => (found, missing),
        DiscoveryDocument::GroupVersions(parts) if parts.len() > MOST_PARTS => {
            return Err(Error::Decode(format!(
                "the answer to {path} names more than {MOST_PARTS} group versions"
            )));
        }
        DiscoveryDocument::GroupVersions(parts) => one_by_one(client, parts, timeout, &mut unusable).await,
    };
    Ok((found, missing, unusable))
}

async fn one_by_one(
    client: &Client,
    parts: Vec<GroupVersion>,
    timeout: Option<Duration>,
    unusable: &mut UnusableNames,
) -> (Vec<DiscoveredResource>, Vec<UnavailableGroup>) {
    let as_request = parts.into_iter().map(|part| async move {
        let answer: Result<ResourceList, Error> =
            ask(client, &Request::new(part.path()).timeout(timeout), &PART).await;
        (part, answer)
    });
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    // In the order asked, which is that of preference.
    let mut answers = stream::iter(as_request).buffered(AT_A_TIME);
    while let Some((part, answer)) = answers.next().await {
        if found.len() > MOST_TYPES {
            let reason = format!("the server names more than {MOST_TYPES} types: the others are left out");
            missing.push(UnavailableGroup { group: String::new(), version: String::new(), reason });
            break;
        }
        match answer {
            Ok(list) => found.extend(list.read(&part, unusable)),
            Err(error) => {
                let (group, version) = part.into_names();
                missing.push(UnavailableGroup { group, version, reason: error.to_string() });
            }
        }
    }
    (found, missing)
}

/// Requests one document, again while the server refuses it and says when to return, as kubectl does. All tries together
/// take no longer than the request may.
async fn ask<T: DeserializeOwned>(client: &Client, request: &Request, limits: &Limits) -> Result<T, Error> {
    let due = request.timeout.map(|timeout| TokioClock.now() + timeout);
    for _ in 1..TRIES {
        let left = due.map(|due| due.saturating_duration_since(TokioClock.now()));
        let error = match try_once(client, &request.clone().timeout(left), limits).await {
            Ok(document) => return Ok(document),
            Err(error) => error,
        };
        let Some(after) = error.retry_after().map(|after| after.max(SHORTEST_WAIT)) else {
            return Err(error);
        };
        if due.is_some_and(|due| TokioClock.now() + after >= due) {
            return Err(error);
        }
        client.notify_wait(&request.path, &error, after);
        TokioClock.sleep(after).await;
    }
    let left = due.map(|due| due.saturating_duration_since(TokioClock.now()));
    try_once(client, &request.clone().timeout(left), limits).await
}

async fn try_once<T: DeserializeOwned>(
    client: &Client,
    request: &Request,
    limits: &Limits,
) -> Result<T, Error> {
    read(client, request, limits).await.map_err(|error| client.redaction().error(error))
}

async fn read<T: DeserializeOwned>(client: &Client, request: &Request, limits: &Limits) -> Result<T, Error> {
    let body = client.send(request).await?.body(limits.bytes).await.map_err(|error| match error {
        Error::Decode(why) => Error::Decode(format!("the answer to {} can't be read: {why}", request.path)),
        error => error,
    })?;
    if !is_small(&body, limits) {
        return Err(Error::Decode(format!("the answer to {} has too many parts", request.path)));
    }
    serde_json::from_slice(&body).map_err(|error| {
        Error::Decode(format!("the answer to {} is not what it should be: {error}", request.path))
    })
}

/// Whether JSON has few enough parts to be kept in memory. Texts count as well: discovery has no long ones.
fn is_small(json: &[u8], limits: &Limits) -> bool {
    let (mut objects, mut members) = (0, 0);
    for byte in json {
        match byte {
            b'{' => objects += 1,
            b',' | b'[' => members += 1,
            _ => {}
        }
    }
    objects <= limits.objects && members <= limits.members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::test_server::{TestServer, json};
    use crate::kubeconfig::Config;

    async fn refused(body: String) -> String {
        let server = TestServer::start(move |_| json(200, &body)).await;
        let client = Client::new(&Config::for_server(&server.url).unwrap()).unwrap();
        let refused = fetch(&client, None).await.err().unwrap();
        assert!(server.requests().len() <= 3, "nothing is asked for one by one");
        refused.to_string()
    }

    #[tokio::test]
    async fn small_answers_that_would_take_much_memory_are_refused() {
        let types = "{},".repeat(WHOLE.objects) + "{}";
        let told = refused(format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{types}]}}"#)).await;
        assert_eq!(told, "the answer to /api has too many parts");
        let verbs = "0,".repeat(WHOLE.members);
        let told = refused(format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{verbs}0]}}"#)).await;
        assert_eq!(told, "the answer to /api has too many parts");
        let versions = r#""v1","#.repeat(MOST_PARTS);
        let told = refused(format!(r#"{{"kind":"APIVersions","versions":[{versions}"v1"]}}"#)).await;
        assert_eq!(told, "the answer to /api names more than 2000 group versions");
    }
}
