//! How far a server has come, asked in a way that costs it next to nothing.
//!
//! The most recent state is said only after a server has asked its storage and its memory has caught up with that: on one
//! that is busy, seconds later than it tells the events of a watch. What it has in its memory it says at once (Kubernetes
//! API concepts, "The resourceVersion parameter": version 0 is any), and it had told nothing that is not there. So for who
//! was told something a moment ago the memory is enough where it goes as far, and what the storage has need not be known.
//! It may be behind where another server of the cluster answers, or where the server was restored from a backup; then the
//! most recent state says which. Who lost sight of the server wants that from the beginning: the memory of another server
//! of a cluster may still be of before the backup.

use std::cmp::Ordering;

use super::ResourceClient;
use crate::listwatch::{Error, ListOptions};
use crate::object::ResourceVersion;
use crate::wire::decode::Naming;

/// No object by this name is needed, and one does no harm: one object is found by its name, however many there are.
const ANY_NAME: &str = "metadata.name=kdelta";
/// Whoever may list all namespaces may list this one; one object by its name is found at once only within a namespace.
const ANY_NAMESPACE: &str = "default";

impl ResourceClient {
    /// What the memory of the server says, unless that is before this version or can't be had; then the most recent state.
    pub(super) async fn progress_since(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        // Nothing is after what has no order.
        if seen.compare(seen).is_err() {
            return self.most_recent().await;
        }
        match self.remembered().await {
            Ok(version) if matches!(version.compare(seen), Ok(Ordering::Equal | Ordering::Greater)) => {
                Ok(version)
            }
            Err(error) if is_about_who_answers(&error) => Err(error),
            Ok(_) | Err(_) => self.most_recent().await,
        }
    }

    /// Up to where the server's memory goes, which may be anything behind. The limit is for who has no memory.
    async fn remembered(&self) -> Result<ResourceVersion, Error> {
        let any = ListOptions { resource_version: ResourceVersion::ANY, limit: 1, ..ListOptions::default() };
        let mut one = self.clone().label_selector("");
        if one.scope().is_empty() {
            one = one.namespace(Some(ANY_NAMESPACE.to_owned()));
        }
        if !one.is_by_name() {
            one = one.field_selector(ANY_NAME);
        }
        one.version_of(&any).await
    }

    /// The version of the most recent state. Without selectors, of which the version is none: a server that looks for the
    /// first object that matches may have to read them all. One object by its name is found at once, and somebody may be
    /// allowed to list nothing else.
    async fn most_recent(&self) -> Result<ResourceVersion, Error> {
        let mut any = self.clone().label_selector("");
        if !self.is_by_name() {
            any = any.field_selector("");
        }
        any.version_of(&ListOptions { limit: 1, ..ListOptions::default() }).await
    }

    /// The version of a list.
    async fn version_of(&self, options: &ListOptions) -> Result<ResourceVersion, Error> {
        let mut page = self.items(self.wanted().whole(), Naming::RequestedNamespace, options).await?;
        while page.next().await?.is_some() {}
        Ok(page.meta().resource_version.clone())
    }
}

/// Whether another question is better not asked at once: nobody is there, is able to answer, or knows who asks.
fn is_about_who_answers(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(_)
            | Error::Tls(_)
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
    use crate::api::Client;
    use crate::client::test_server::{TestServer, json};
    use crate::kubeconfig::Config;
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

    /// A server whose memory goes up to version 8, and which has come to version 9; or which answers that instead of what
    /// is in its memory.
    async fn server(instead: Option<(u16, &'static str)>) -> TestServer {
        let list = |version: u8| {
            json(200, &format!(r#"{{"metadata":{{"resourceVersion":"{version}"}},"items":[]}}"#))
        };
        TestServer::start(move |head| match (head.contains("resourceVersion=0"), instead) {
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
    async fn what_the_servers_memory_says_is_enough_where_it_goes_as_far() {
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
            // Somebody may be allowed to list nothing else.
            (
                pods(&server).field_selector("metadata.name=a"),
                "/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Da&limit=1&resourceVersion=0"
                    .to_owned(),
            ),
        ] {
            for seen in ["7", "8"] {
                assert_eq!(resource.progress_since(&seen.into()).await.expect("a version"), "8".into());
                assert_eq!(targets(&server).pop(), Some(target.clone()));
            }
        }
        assert_eq!(targets(&server).len(), 10);
    }

    #[tokio::test]
    async fn the_most_recent_state_is_asked_for_where_the_memory_is_behind_or_was_not_to_be_had() {
        for (instead, seen) in [
            (None, "9"),
            (None, "10"),
            (Some((400, "BadRequest")), "8"),
            (Some((403, "Forbidden")), "8"),
            (Some((404, "NotFound")), "8"),
            (Some((500, "InternalError")), "8"),
        ] {
            let server = server(instead).await;
            let pods = pods(&server).namespace(Some("shop".into())).field_selector("status.phase=x");
            assert_eq!(pods.progress_since(&seen.into()).await.expect("a version"), "9".into());
            let targets = targets(&server);
            assert_eq!((targets.len(), &*targets[1]), (2, "/api/v1/namespaces/shop/pods?limit=1"));
        }
    }

    #[tokio::test]
    async fn who_has_seen_nothing_that_has_an_order_is_told_of_the_most_recent_state() {
        for seen in [ResourceVersion::UNSET, ResourceVersion::ANY, "not a number".into()] {
            let server = server(None).await;
            let by_name = pods(&server).field_selector("metadata.name=a");
            assert_eq!(by_name.progress_since(&seen).await.expect("a version"), "9".into());
            assert_eq!(targets(&server), ["/api/v1/pods?fieldSelector=metadata.name%3Da&limit=1"]);
        }
    }

    #[tokio::test]
    async fn who_can_not_answer_is_not_asked_another_question() {
        let server = server(Some((401, "Unauthorized"))).await;
        let refused = pods(&server).progress_since(&"8".into()).await;
        assert!(matches!(refused, Err(Error::Unauthorized(_))), "{refused:?}");
        assert!(targets(&server).iter().all(|target| target.contains("resourceVersion=0")));
    }

    #[test]
    fn what_is_said_of_the_question_is_no_word_about_who_answers() {
        let (status, text) = (crate::listwatch::Status::default, String::new);
        let retry_after = None;
        for error in [
            Error::Refused(text()),
            Error::Tls(text()),
            Error::Transport(text()),
            Error::Timeout(text()),
            Error::Unauthorized(status()),
            Error::TooManyRequests { status: status(), retry_after },
            Error::Unavailable { status: status(), retry_after },
        ] {
            assert!(is_about_who_answers(&error), "{error:?}");
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
            assert!(!is_about_who_answers(&error), "{error:?}");
        }
    }
}
