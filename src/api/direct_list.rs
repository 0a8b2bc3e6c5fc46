//! Lists of a server inside this process, whose objects need not be written and parsed.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::vec;

use tracing::debug;

use super::collection::Collection;
use crate::clock::{TokioClock, within};
use crate::listwatch::{DirectContents, DirectList, Error, ListMeta, ListOptions, ListStream};
use crate::object::{LabelSelector, Object};
use crate::wire::representation::{IncludeObject, Representation};

/// The number of objects between two yields to the runtime: the stream itself never waits.
const BATCH: usize = 2048;

/// A list that was read without a request.
pub(super) struct DirectObjects {
    objects: vec::IntoIter<Arc<Object>>,
    /// `None` selects all.
    labels: Option<LabelSelector>,
    meta: ListMeta,
}

impl DirectObjects {
    /// Reads a list without a request. Returns `None` if the server or the options require one. The time limit of requests
    /// applies.
    ///
    /// # Errors
    /// The error of the request.
    pub(super) async fn list(collection: &Collection, options: &ListOptions) -> Result<Option<Self>, Error> {
        let (Some(lists), Some((contents, labels))) =
            (collection.client.direct_lists(), selected(collection, options))
        else {
            return Ok(None);
        };
        // An invalid name is the same error as in a request.
        collection.list_request(collection.representation.for_single_request(), options)?;
        let (lists, resource) = (Arc::clone(lists), collection.resource.clone());
        let (ingest, namespace) = (collection.ingest.clone(), collection.scope().to_owned());
        // On a thread for blocking tasks, bounded by the runtime: the list reads files.
        let read = tokio::task::spawn_blocking(move || {
            let namespace = Some(&*namespace).filter(|namespace| !namespace.is_empty());
            lists.list(&resource, namespace, contents, &ingest)
        });
        let read = match collection.request_timeout {
            None => read.await,
            Some(limit) => {
                let read = within(&TokioClock, limit, read).await;
                read.ok_or_else(|| collection.client.no_response())?
            }
        };
        let list = match read {
            Ok(list) => list?,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime ends.
            Err(error) => return Err(Error::Transport(error.to_string().into())),
        };
        Ok(list.map(|DirectList { objects, version }| {
            debug!(
                resource = collection.resource.group_resource(),
                count = objects.len(),
                "list read without a request"
            );
            let meta = ListMeta { resource_version: version, ..ListMeta::default() };
            Self { objects: objects.into_iter(), labels, meta }
        }))
    }

    /// Returns whether lists of the latest version need no request, unless the server has the objects in another form.
    pub(super) fn are_read_of(collection: &Collection) -> bool {
        collection.client.direct_lists().is_some() && selected(collection, &ListOptions::default()).is_some()
    }
}

/// Returns the contents and the labels of the requested objects, or `None` if a name, a field selector or a version is
/// requested.
fn selected(
    collection: &Collection,
    options: &ListOptions,
) -> Option<(DirectContents, Option<LabelSelector>)> {
    let is_latest = options.continue_token.is_empty()
        && options.version_match.is_none()
        && (options.resource_version.is_unset() || options.resource_version.is_any());
    if !is_latest || collection.name.is_some() || !collection.field_selector.is_empty() {
        return None;
    }
    // An invalid selector is left to the server, which returns its error.
    let labels = LabelSelector::parse(&collection.label_selector).ok()?;
    let labels = Some(labels).filter(|labels| !labels.is_everything());
    let contents = match collection.representation {
        Representation::Names if labels.is_none() => DirectContents::Names,
        Representation::Names | Representation::Objects => DirectContents::Objects,
        Representation::Rows | Representation::Table(IncludeObject::None | IncludeObject::Identity)
            if labels.is_none() =>
        {
            DirectContents::Rows
        }
        Representation::Rows
        | Representation::RowsAndObjects
        | Representation::Table(IncludeObject::None | IncludeObject::Identity | IncludeObject::Object) => {
            DirectContents::RowsAndObjects
        }
        // Bodies of metadata are written by the server.
        Representation::Metadata | Representation::Table(IncludeObject::Metadata) => return None,
    };
    Some((contents, labels))
}

impl ListStream for DirectObjects {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            if self.objects.len().is_multiple_of(BATCH) {
                tokio::task::yield_now().await;
            }
            let Some(object) = self.objects.next() else { return Ok(None) };
            if self.labels.as_ref().is_none_or(|labels| labels.matches_json(&object.json())) {
                return Ok(Some(object));
            }
        }
    }

    fn meta(&self) -> &ListMeta {
        &self.meta
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;
    use crate::api::{Client, ClientOptions, ResourceClient};
    use crate::kubeconfig::Config;
    use crate::listwatch::{DirectLists, ListerWatcher, ResourceVersionMatch};
    use crate::object::{ApiResource, Ingest, ResourceVersion, TypeMeta};

    /// Two pods, whose lists wait for `gate` if there is one.
    #[derive(Default)]
    struct Pods {
        contents: Mutex<Vec<DirectContents>>,
        gate: Option<Mutex<Receiver<()>>>,
    }

    impl DirectLists for Pods {
        fn list(
            &self,
            resource: &ApiResource,
            namespace: Option<&str>,
            contents: DirectContents,
            ingest: &Ingest,
        ) -> Result<Option<DirectList>, Error> {
            if let Some(gate) = &self.gate {
                // Fails when the test ends.
                let _ended = gate.lock().expect("no panic").recv();
            }
            self.contents.lock().expect("no panic").push(contents);
            let pod = |name: &str| {
                let json = format!(
                    r#"{{"metadata":{{"namespace":"a","name":"{name}","labels":{{"app":"{name}"}}}}}}"#
                );
                Arc::new(Object::from_json(json.as_bytes(), ingest).expect("a pod"))
            };
            let is_known = resource.resource == "pods" && namespace.is_none_or(|namespace| namespace == "a");
            let list = || DirectList { objects: vec![pod("db"), pod("web")], version: "7".into() };
            Ok(is_known.then(list))
        }
    }

    fn pods_of(lists: Arc<Pods>) -> ResourceClient {
        // Port 1 refuses connections: a list that is requested fails.
        let config = Config::for_server("http://127.0.0.1:1").expect("a config");
        let client = Client::with_options(&config, ClientOptions::default().direct_lists(Some(lists)));
        let type_meta = TypeMeta { api_version: "v1".into(), kind: "Pod".into() };
        let resource = ApiResource {
            group: String::new(),
            version: type_meta.api_version,
            resource: "pods".into(),
            kind: type_meta.kind,
            namespaced: true,
        };
        ResourceClient::new(client.expect("a client"), resource)
    }

    /// Returns the names of a list, or its error.
    async fn names(client: &ResourceClient, options: &ListOptions) -> Result<Vec<String>, Error> {
        let mut list = client.list(options).await?;
        let mut names = Vec::new();
        while let Some(object) = list.next().await? {
            names.push(object.name().to_owned());
        }
        assert_eq!(list.meta(), &ListMeta { resource_version: "7".into(), ..ListMeta::default() });
        Ok(names)
    }

    #[tokio::test]
    async fn representation_determines_the_contents() {
        use DirectContents::{Names, Objects, Rows, RowsAndObjects};
        use Representation::Table;
        let table = [
            (Representation::Objects, Some(Objects), Some(Objects)),
            (Representation::Names, Some(Names), Some(Objects)),
            (Representation::Rows, Some(Rows), Some(RowsAndObjects)),
            (Table(IncludeObject::None), Some(Rows), Some(RowsAndObjects)),
            (Table(IncludeObject::Identity), Some(Rows), Some(RowsAndObjects)),
            (Table(IncludeObject::Object), Some(RowsAndObjects), Some(RowsAndObjects)),
            (Representation::RowsAndObjects, Some(RowsAndObjects), Some(RowsAndObjects)),
            (Representation::Metadata, None, None),
            (Table(IncludeObject::Metadata), None, None),
        ];
        for (representation, whole, labelled) in table {
            for (labels, expected) in [("", whole), ("app=web", labelled)] {
                let lists = Arc::new(Pods::default());
                let client =
                    pods_of(Arc::clone(&lists)).representation(representation).label_selector(labels);
                assert_eq!(client.lists_directly(), expected.is_some(), "{representation:?}");
                let found = names(&client, &ListOptions::default().limit(1)).await.ok();
                let selected: &[&str] = if labels.is_empty() { &["db", "web"] } else { &["web"] };
                let selected: Vec<_> = selected.iter().map(|name| (*name).to_owned()).collect();
                assert_eq!(found, expected.map(|_| selected), "{representation:?} {labels}");
                assert_eq!(
                    *lists.contents.lock().expect("no panic"),
                    expected.into_iter().collect::<Vec<_>>()
                );
            }
        }
    }

    #[tokio::test]
    async fn names_fields_versions_and_unknown_objects_are_requested() {
        let client = pods_of(Arc::default());
        let version = |version: &str| ListOptions::default().resource_version(ResourceVersion::new(version));
        for options in [ListOptions::default(), version("0")] {
            assert_eq!(names(&client, &options).await.expect("a list"), ["db", "web"]);
        }
        let exact = version("0").version_match(Some(ResourceVersionMatch::Exact));
        for options in [version("5"), exact, ListOptions::default().continue_token("x".to_owned())] {
            let error = names(&client, &options).await.expect_err("a refused connection");
            assert!(matches!(error, Error::Refused(_)), "{error}");
        }
        for client in [
            client.clone().named(Some("web".into())),
            client.clone().field_selector("spec.nodeName=n1"),
            client.clone().label_selector("a b"),
            client.clone().namespace(Some("other".into())),
        ] {
            let error = names(&client, &ListOptions::default()).await.expect_err("a refused connection");
            assert!(matches!(error, Error::Refused(_)), "{client:?}: {error}");
        }
        let invalid = client.namespace(Some("a/b".into()));
        let error = names(&invalid, &ListOptions::default()).await.expect_err("an invalid namespace");
        assert!(matches!(error, Error::Invalid(_)), "{error}");
    }

    #[tokio::test]
    async fn time_limit_of_requests_applies() {
        let (opener, gate) = channel();
        let lists = Pods { gate: Some(Mutex::new(gate)), ..Pods::default() };
        let client = pods_of(Arc::new(lists)).request_timeout(Some(Duration::from_millis(1)));
        let error = names(&client, &ListOptions::default()).await.expect_err("a time-out");
        assert!(matches!(&error, Error::Timeout(failure) if failure.is_before_response), "{error}");
        drop(opener);
    }
}
