//! Requests the discovery documents of a server: aggregated, or one per group version from servers without the
//! aggregated form.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use serde::de::DeserializeOwned;

use super::catalog::Catalog;
use super::fetched_catalog::FetchedCatalog;
use super::version::{ServerVersion, VersionInfo};
use crate::api::{Client, Request};
use crate::clock::{Clock, TokioClock};
use crate::listwatch::Error;
use crate::wire::discovery::{DiscoveryDocument, GroupVersion, ResourceList, Root, UnusableNames};
use crate::wire::{DiscoveredResource, UnavailableGroup};

/// The accepted media types: both versions of the aggregated form, then any JSON.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// The limits of a document. Bytes alone are no bound for the memory: two bytes of JSON may become hundreds.
pub(super) struct Limits {
    /// The number of bytes after decompression.
    bytes: usize,
    /// The number of JSON objects.
    objects: usize,
    /// The number of commas and arrays, which bounds that of array elements and object fields.
    members: usize,
}

/// The limits of a document about all types, or about all fields of a group version. A cluster with 2,000 CRDs sends 10 MB of
/// types; 100,000 types with two subresources each are 500,000 objects.
pub(super) const AGGREGATED_LIMITS: Limits =
    Limits { bytes: 64 << 20, objects: 1_000_000, members: 8_000_000 };
/// The limits of the document of one group version, of which several are read at the same time.
const GROUP_VERSION_LIMITS: Limits = Limits { bytes: 8 << 20, objects: 100_000, members: 1_000_000 };
/// The maximum number of resources from separate documents.
const MAX_RESOURCES: usize = 200_000;
/// The maximum number of separate documents: a server without the aggregated form has about a hundred group versions.
const MAX_GROUP_VERSIONS: usize = 2_000;
/// The number of tries for a request that the server wants to be repeated, as in kubectl.
const TRIES: u32 = 10;
/// The shortest wait between tries, whatever the server requests.
const SHORTEST_WAIT: Duration = Duration::from_millis(800);
/// The number of concurrent requests for group versions.
const CONCURRENCY: usize = 8;
/// The time limit for the server's version, which only helps to choose among equivalent requests.
const VERSION_LIMIT: Duration = Duration::from_secs(2);

/// Requests all resources of a server, and its version. Unavailable group versions are returned separately; names
/// that are not valid in a URL are skipped.
///
/// # Errors
/// The error of the core group, when neither it nor the other groups are available.
pub(super) async fn fetch(
    client: &Client,
    timeout: Option<Duration>,
) -> Result<(FetchedCatalog, UnusableNames), Error> {
    let version = async { Ok(version(client, timeout).await) };
    let ((catalog, unusable), version) = tokio::try_join!(catalog(client, timeout), version)?;
    Ok((FetchedCatalog { catalog: Arc::new(catalog), version }, unusable))
}

/// Requests the resources of the core group and of the others.
async fn catalog(client: &Client, timeout: Option<Duration>) -> Result<(Catalog, UnusableNames), Error> {
    let (core, groups) =
        tokio::join!(fetch_root(client, "/api", timeout), fetch_root(client, "/apis", timeout));
    let (mut found, mut missing, mut unusable) = (Vec::new(), Vec::new(), UnusableNames::default());
    match (core, groups) {
        (Err(error), Err(_)) => return Err(error),
        (core, groups) => {
            for part in [core, groups] {
                match part {
                    Ok((resources, unavailable, names)) => {
                        found.extend(resources);
                        missing.extend(unavailable);
                        unusable.extend(names);
                    }
                    Err(error) => missing.push(UnavailableGroup {
                        group: String::new(),
                        version: String::new(),
                        reason: error.to_string(),
                        is_stale: false,
                    }),
                }
            }
        }
    }
    Ok((Catalog::new(found, missing), unusable))
}

/// Returns the server's version, if it responds in time.
async fn version(client: &Client, timeout: Option<Duration>) -> Option<ServerVersion> {
    let timeout = timeout.map_or(VERSION_LIMIT, |timeout| timeout.min(VERSION_LIMIT));
    version_info(client, Some(timeout)).await.ok()?.version()
}

/// Requests the server's version in full.
///
/// # Errors
/// The server's refusal or the network's failure, by meaning.
pub(super) async fn version_info(client: &Client, timeout: Option<Duration>) -> Result<VersionInfo, Error> {
    request_document(client, &Request::new("/version").timeout(timeout), &GROUP_VERSION_LIMITS).await
}

/// Requests the group versions of a server, such as `v1` and `apps/v1`, sorted. As in kubectl, a part that the server
/// refuses or does not have is left out.
///
/// # Errors
/// Any other failure of either part.
pub(super) async fn group_versions(
    client: &Client,
    timeout: Option<Duration>,
) -> Result<(Vec<String>, UnusableNames), Error> {
    let request = |path: &'static str| async move {
        let request = Request::new(path).accept(ACCEPT).timeout(timeout);
        match request_document::<Root>(client, &request, &AGGREGATED_LIMITS).await {
            Ok(root) => Ok(Some(root)),
            Err(Error::NotFound(_) | Error::Forbidden(_)) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let (core, groups) = tokio::try_join!(request("/api"), request("/apis"))?;
    let (mut found, mut unusable) = (Vec::new(), UnusableNames::default());
    for root in [core, groups].into_iter().flatten() {
        let versions = root.group_versions(&mut unusable).map_err(Error::Decode)?;
        found.extend(versions.iter().map(GroupVersion::api_version));
    }
    found.sort_unstable();
    Ok((found, unusable))
}

/// Requests `/api` or `/apis`, and the documents of the group versions that it lists.
async fn fetch_root(
    client: &Client,
    path: &str,
    timeout: Option<Duration>,
) -> Result<(Vec<DiscoveredResource>, Vec<UnavailableGroup>, UnusableNames), Error> {
    let request = Request::new(path).accept(ACCEPT).timeout(timeout);
    let root: Root = request_document(client, &request, &AGGREGATED_LIMITS).await?;
    let mut unusable = UnusableNames::default();
    let (found, missing) = match root.read(&mut unusable).map_err(Error::Decode)? {
        DiscoveryDocument::Aggregated(found, missing) => (found, missing),
        DiscoveryDocument::GroupVersions(parts) if parts.len() > MAX_GROUP_VERSIONS => {
            return Err(Error::Decode(format!(
                "the response to {path} names more than {MAX_GROUP_VERSIONS} group versions"
            )));
        }
        DiscoveryDocument::GroupVersions(parts) => {
            fetch_group_versions(client, parts, timeout, &mut unusable).await
        }
    };
    Ok((found, missing, unusable))
}

/// Requests the documents of group versions, several at a time.
async fn fetch_group_versions(
    client: &Client,
    parts: Vec<GroupVersion>,
    timeout: Option<Duration>,
    unusable: &mut UnusableNames,
) -> (Vec<DiscoveredResource>, Vec<UnavailableGroup>) {
    let requests = parts.into_iter().map(|part| async move {
        let response: Result<ResourceList, Error> =
            request_document(client, &Request::new(part.path()).timeout(timeout), &GROUP_VERSION_LIMITS)
                .await;
        (part, response)
    });
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    // In the order of the requests, which is that of preference.
    let mut responses = stream::iter(requests).buffered(CONCURRENCY);
    while let Some((part, response)) = responses.next().await {
        if found.len() > MAX_RESOURCES {
            let reason = format!("the server names more than {MAX_RESOURCES} types: the others are left out");
            missing.push(UnavailableGroup {
                group: String::new(),
                version: String::new(),
                reason,
                is_stale: false,
            });
            break;
        }
        match response {
            Ok(list) => found.extend(list.read(&part, unusable)),
            Err(error) => {
                let (group, version) = part.into_names();
                let reason = error.to_string();
                missing.push(UnavailableGroup { group, version, reason, is_stale: false });
            }
        }
    }
    (found, missing)
}

/// Requests one document, and repeats it while the server refuses it with a time to wait, as kubectl does. All tries
/// together are bounded by the request's timeout.
pub(super) async fn request_document<T: DeserializeOwned>(
    client: &Client,
    request: &Request,
    limits: &Limits,
) -> Result<T, Error> {
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

/// Sends one request. Credentials in an error are masked.
async fn try_once<T: DeserializeOwned>(
    client: &Client,
    request: &Request,
    limits: &Limits,
) -> Result<T, Error> {
    read(client, request, limits).await.map_err(|error| client.redaction().error(error))
}

/// Sends one request and parses the document.
async fn read<T: DeserializeOwned>(client: &Client, request: &Request, limits: &Limits) -> Result<T, Error> {
    let body = client.send(request).await?.body(limits.bytes).await.map_err(|error| match error {
        Error::Decode(why) => Error::Decode(format!("the response to {} can't be read: {why}", request.path)),
        error => error,
    })?;
    if !has_few_parts(&body, limits) {
        return Err(Error::Decode(format!("the response to {} has too many parts", request.path)));
    }
    serde_json::from_slice(&body)
        .map_err(|error| Error::Decode(format!("the response to {} is malformed: {error}", request.path)))
}

/// Returns whether JSON has few enough parts to be kept in memory. Separators within strings count as well: discovery
/// documents have no long ones.
fn has_few_parts(json: &[u8], limits: &Limits) -> bool {
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

    async fn fetch_error(body: String) -> String {
        let server = TestServer::start(move |_| json(200, &body)).await;
        let client = Client::new(&Config::for_server(&server.url).unwrap()).unwrap();
        let error = fetch(&client, None).await.err().unwrap();
        assert!(server.requests().len() <= 3, "no document is requested per group version");
        error.to_string()
    }

    #[tokio::test]
    async fn small_responses_that_need_much_memory_are_rejected() {
        let types = "{},".repeat(AGGREGATED_LIMITS.objects) + "{}";
        let error = fetch_error(format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{types}]}}"#)).await;
        assert_eq!(error, "the response to /api has too many parts");
        let verbs = "0,".repeat(AGGREGATED_LIMITS.members);
        let error = fetch_error(format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{verbs}0]}}"#)).await;
        assert_eq!(error, "the response to /api has too many parts");
        let versions = r#""v1","#.repeat(MAX_GROUP_VERSIONS);
        let error = fetch_error(format!(r#"{{"kind":"APIVersions","versions":[{versions}"v1"]}}"#)).await;
        assert_eq!(error, "the response to /api names more than 2000 group versions");
    }
}
