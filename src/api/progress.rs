//! The current resource version of a server, requested at the lowest cost.
//!
//! A server returns its most recent state only after asking its storage and waiting for its watch cache to catch up:
//! on a busy server, seconds after it has sent the events of a watch. The version of its cache it returns at once
//! (Kubernetes API concepts, "The resourceVersion parameter": version 0 is any), and the cache contains everything
//! that its watches have sent. So for a caller with a recent event the cache is sufficient if it has reached that
//! version. It may be behind when another server of the cluster responds, or when the server was restored from a
//! backup; then the most recent state decides. A caller that lost its connection requests that from the start: the
//! cache of another server may still be from before the backup.

use std::cmp::Ordering;

use super::collection::Collection;
use crate::listwatch::{Error, ListOptions};
use crate::object::ResourceVersion;
use crate::wire::decode::Naming;

/// An object of this name need not exist, and one does no harm: looking up one name is cheap however many objects
/// there are.
const ANY_NAME: &str = "metadata.name=kdelta";
/// A caller that may list all namespaces may list this one; a lookup by name is cheap only within a namespace.
const ANY_NAMESPACE: &str = "default";

/// Returns the version of the server's cache, unless that is older than `seen` or unavailable; then that of the
/// most recent state.
pub(super) async fn since(collection: &Collection, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
    // A version without an order can't be compared.
    if seen.compare(seen).is_err() {
        return latest_version(collection).await;
    }
    match cached_version(collection).await {
        Ok(version) if matches!(version.compare(seen), Ok(Ordering::Equal | Ordering::Greater)) => {
            Ok(version)
        }
        Err(error) if is_about_the_server(&error) => Err(error),
        Ok(_) | Err(_) => latest_version(collection).await,
    }
}

/// Returns the version of the server's cache, which may be old. The limit is for servers without a cache.
async fn cached_version(collection: &Collection) -> Result<ResourceVersion, Error> {
    let any = ListOptions { resource_version: ResourceVersion::ANY, limit: 1, ..ListOptions::default() };
    let mut one = Collection { label_selector: String::new(), ..collection.clone() };
    if one.scope().is_empty() {
        one.namespace = Some(ANY_NAMESPACE.to_owned());
    }
    if !one.is_by_name() {
        ANY_NAME.clone_into(&mut one.field_selector);
    }
    version_of(&one, &any).await
}

/// Returns the version of the most recent state. Without selectors, since the version does not depend on them,
/// and a server that searches for the first matching object may have to read all objects. One object by its name
/// is cheap, and the user may be allowed to list nothing else.
async fn latest_version(collection: &Collection) -> Result<ResourceVersion, Error> {
    let mut any = Collection { label_selector: String::new(), ..collection.clone() };
    if !collection.is_by_name() {
        any.field_selector = String::new();
    }
    version_of(&any, &ListOptions { limit: 1, ..ListOptions::default() }).await
}

/// Returns the version of a list.
async fn version_of(collection: &Collection, options: &ListOptions) -> Result<ResourceVersion, Error> {
    let form = collection.representation.for_single_request();
    let mut page = collection.items(form, Naming::RequestedNamespace, options).await?;
    while page.next().await?.is_some() {}
    Ok(page.meta().resource_version.clone())
}

/// Returns whether another request should not be sent at once: the server is unreachable or overloaded, or does not
/// accept the credentials.
fn is_about_the_server(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(_)
            | Error::Tls(_)
            | Error::TlsAlert(_)
            | Error::Transport(_)
            | Error::Timeout(_)
            | Error::Unauthorized(_)
            | Error::TooManyRequests { .. }
            | Error::Unavailable { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Client, ResourceClient};
    use crate::client::test_server::{TestServer, json};
    use crate::kubeconfig::Config;
    use crate::listwatch::ListerWatcher;
    use crate::object::ApiResource;
    use crate::wire::{IncludeObject, Representation};

    fn resource(server: &TestServer, plural: &str, kind: &str, namespaced: bool) -> ResourceClient {
        let client = Client::new(&Config::for_server(&server.url).expect("a config")).expect("a client");
        let [group, version] = ["", "v1"].map(Into::into);
        ResourceClient::new(
            client,
            ApiResource { group, version, resource: plural.into(), kind: kind.into(), namespaced },
        )
    }

    fn pods(server: &TestServer) -> ResourceClient {
        resource(server, "pods", "Pod", true)
    }

    /// A server whose cache has version 8 and whose storage has version 9, or which sends `response` for its cache.
    async fn server(response: Option<(u16, &'static str)>) -> TestServer {
        let list = |version: u8| {
            json(200, &format!(r#"{{"metadata":{{"resourceVersion":"{version}"}},"items":[]}}"#))
        };
        TestServer::start(move |head| match (head.contains("resourceVersion=0"), response) {
            (true, Some((code, reason))) => json(
                code,
                &format!(r#"{{"kind":"Status","reason":"{reason}","message":"no","code":{code}}}"#),
            ),
            (true, None) => list(8),
            (false, _) => list(9),
        })
        .await
    }

    fn targets(server: &TestServer) -> Vec<String> {
        let target = |head: String| head.split(' ').nth(1).expect("a target").to_owned();
        server.requests().into_iter().map(target).collect()
    }

    #[tokio::test]
    async fn cached_version_suffices_if_it_is_recent_enough() {
        let by_default = "?fieldSelector=metadata.name%3Dkdelta&limit=1&resourceVersion=0";
        let server = server(None).await;
        for (resource, target) in [
            (pods(&server).label_selector("app=a"), format!("/api/v1/namespaces/default/pods{by_default}")),
            (
                pods(&server).namespace(Some("shop".into())).field_selector("status.phase=x"),
                format!("/api/v1/namespaces/shop/pods{by_default}"),
            ),
            (
                resource(&server, "nodes", "Node", false).representation(Representation::Rows),
                format!("/api/v1/nodes{by_default}"),
            ),
            (
                pods(&server).representation(Representation::Table(IncludeObject::None)),
                format!("/api/v1/namespaces/default/pods?includeObject=None&{}", &by_default[1..]),
            ),
            // The user may be allowed to list nothing else.
            (
                pods(&server).field_selector("metadata.name=a"),
                "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Da&limit=1&resourceVersion=0"
                    .to_owned(),
            ),
        ] {
            for seen in ["7", "8"] {
                assert_eq!(resource.progress(&seen.into()).await.expect("a version"), "8".into());
                assert_eq!(targets(&server).pop(), Some(target.clone()));
            }
        }
        assert_eq!(targets(&server).len(), 10);
    }

    #[tokio::test]
    async fn latest_state_is_requested_if_the_cache_is_behind_or_unavailable() {
        for (response, seen) in [
            (None, "9"),
            (None, "10"),
            (Some((400, "BadRequest")), "8"),
            (Some((403, "Forbidden")), "8"),
            (Some((404, "NotFound")), "8"),
            (Some((500, "InternalError")), "8"),
        ] {
            let server = server(response).await;
            let pods = pods(&server).namespace(Some("shop".into())).field_selector("status.phase=x");
            assert_eq!(pods.progress(&seen.into()).await.expect("a version"), "9".into());
            let targets = targets(&server);
            assert_eq!((targets.len(), &*targets[1]), (2, "/api/v1/namespaces/shop/pods?limit=1"));
        }
    }

    #[tokio::test]
    async fn version_without_order_yields_the_latest_state() {
        for seen in [ResourceVersion::UNSET, ResourceVersion::ANY, "not a number".into()] {
            let server = server(None).await;
            let by_name = pods(&server).field_selector("metadata.name=a");
            assert_eq!(by_name.progress(&seen).await.expect("a version"), "9".into());
            assert_eq!(targets(&server), ["/api/v1/pods?fieldSelector=metadata.name%3Da&limit=1"]);
        }
    }

    #[tokio::test]
    async fn unavailable_server_gets_no_second_request() {
        let server = server(Some((401, "Unauthorized"))).await;
        let refused = pods(&server).progress(&"8".into()).await;
        assert!(matches!(refused, Err(Error::Unauthorized(_))), "{refused:?}");
        assert!(targets(&server).iter().all(|target| target.contains("resourceVersion=0")));
    }

    #[test]
    fn errors_about_the_request_are_not_about_the_server() {
        let (status, text) = (crate::listwatch::Status::default, String::new);
        let retry_after = None;
        for error in [
            Error::Refused(text()),
            Error::Tls(text()),
            Error::Transport(text().into()),
            Error::Timeout(text().into()),
            Error::Unauthorized(status()),
            Error::TooManyRequests { status: status(), retry_after },
            Error::Unavailable { status: status(), retry_after },
        ] {
            assert!(is_about_the_server(&error), "{error:?}");
        }
        for error in [
            Error::Expired(status()),
            Error::TooLargeResourceVersion(status()),
            Error::Internal(status()),
            Error::Forbidden(status()),
            Error::NotFound(status()),
            Error::NotSupported(status()),
            Error::Invalid(status()),
            Error::Decode(text()),
        ] {
            assert!(!is_about_the_server(&error), "{error:?}");
        }
    }
}
