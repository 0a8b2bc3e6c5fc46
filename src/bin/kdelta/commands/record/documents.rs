//! The documents of the servers that describe their types: requested at the start and from time to time.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use kdelta::listwatch::Error;
use kdelta::object::ApiResource;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::commands::Reporter;
use crate::commands::watch::deadline;
use crate::session::{Cluster, Part, Session};

/// The interval of requests. The documents themselves are requested only if their hash has changed.
const INTERVAL: Duration = Duration::from_mins(1);

/// The time in which added types are collected before their documents are requested.
const COLLECTING: Duration = Duration::from_millis(200);

/// The documents of the server as a whole.
const OF_SERVER: [&str; 3] = ["/version", "/api", "/apis"];

/// The list of the `OpenAPI` documents, one for each group and version.
const OPENAPI: &str = "/openapi/v3";

/// The definitions of custom types.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The types whose documents are requested.
#[derive(Default)]
pub(in crate::commands) struct Documents {
    /// The types, with the position of their cluster.
    types: BTreeSet<(usize, DescribedType)>,
    /// The number of types at the last request of all documents, successful or not.
    requested: Option<usize>,
    /// The URL under which each `OpenAPI` document was requested last. It changes with the document.
    urls: HashMap<(usize, String), String>,
    /// The names of types that have no definition.
    undefined: BTreeSet<(usize, String)>,
    /// The list of `OpenAPI` documents and the names of definitions at the last request for the definitions of a cluster.
    defined: HashMap<usize, (Bytes, BTreeSet<String>)>,
    /// The clusters whose definitions are watched as objects.
    as_objects: BTreeSet<usize>,
    /// The clusters whose failure was reported.
    failed: BTreeSet<usize>,
    /// Notified when a type is added.
    added: Rc<Notify>,
    /// Notified when all documents were requested.
    done: Rc<Notify>,
}

/// Receives the documents of clusters, whether or not they have changed.
pub(in crate::commands) trait DocumentSink {
    /// Receives the document at a path of the cluster at this position.
    fn document(&self, cluster: usize, path: &str, body: &Bytes);
}

/// A type that documents describe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct DescribedType {
    /// The path of its group version, such as `apis/apps/v1`.
    path: String,
    /// The name of its definition, if it is a custom type.
    name: String,
}

impl Documents {
    /// Adds the type of a part.
    pub(in crate::commands) fn add_type(&mut self, part: &Part) {
        let ApiResource { group, version, resource, .. } = &*part.resource;
        let path =
            if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
        let name = format!("{resource}.{group}");
        if group == "apiextensions.k8s.io" && part.name.is_none() {
            self.as_objects.insert(part.cluster);
        }
        if self.types.insert((part.cluster, DescribedType { path, name })) {
            self.added.notify_one();
        }
    }

    /// Returns the paths of the group versions of a cluster's types.
    fn paths(&self, cluster: usize) -> BTreeSet<String> {
        self.types_of(cluster).map(|described| described.path.clone()).collect()
    }

    /// Returns the names of the definitions to request, if a type was added or the types of the server have changed. The
    /// groups of custom types have a dot.
    fn definitions(&mut self, cluster: usize, index: &Bytes) -> BTreeSet<String> {
        let is_custom = |name: &String| {
            name.split_once('.').is_some_and(|(_, group)| group.contains('.'))
                && !self.undefined.contains(&(cluster, name.clone()))
        };
        let names: BTreeSet<String> =
            self.types_of(cluster).map(|described| described.name.clone()).filter(is_custom).collect();
        let requested = (index.clone(), names.clone());
        let is_same = self.defined.get(&cluster) == Some(&requested);
        self.defined.insert(cluster, requested);
        if is_same || self.as_objects.contains(&cluster) { BTreeSet::new() } else { names }
    }

    fn types_of(&self, cluster: usize) -> impl Iterator<Item = &DescribedType> {
        self.types.iter().filter(move |(of, _)| *of == cluster).map(|(_, described)| described)
    }
}

/// Returns whether the documents of all types were requested.
pub(in crate::commands) fn are_complete(documents: &RefCell<Documents>) -> bool {
    let documents = documents.borrow();
    documents.requested == Some(documents.types.len())
}

/// Waits until the documents of all types were requested.
pub(in crate::commands) async fn complete(documents: &RefCell<Documents>) {
    let done = Rc::clone(&documents.borrow().done);
    while !are_complete(documents) {
        done.notified().await;
    }
}

/// Requests the documents at the start, after a type is added, and at each [`INTERVAL`]. Never returns.
pub(in crate::commands) async fn follow(
    session: &Session,
    sink: &impl DocumentSink,
    documents: &RefCell<Documents>,
    reporter: &Reporter,
) {
    let (added, done) = {
        let documents = documents.borrow();
        (Rc::clone(&documents.added), Rc::clone(&documents.done))
    };
    loop {
        let count = documents.borrow().types.len();
        for cluster in session.clusters() {
            if let Err(error) = request(cluster, sink, documents).await
                && documents.borrow_mut().failed.insert(cluster.index())
            {
                let prefix = cluster.prefix();
                reporter
                    .messages()
                    .warning(&format!("{prefix}the documents of the server can't be read: {error}"));
            }
        }
        documents.borrow_mut().requested = Some(count);
        done.notify_one();
        if are_complete(documents) {
            // A new type and the end of the interval both lead to another request.
            tokio::select! {
                () = added.notified() => {}
                () = deadline::reached(Some(Instant::now() + INTERVAL)) => {}
            }
            deadline::reached(Some(Instant::now() + COLLECTING)).await;
        }
    }
}

/// Requests the documents of a server.
async fn request(
    cluster: &Cluster,
    sink: &impl DocumentSink,
    documents: &RefCell<Documents>,
) -> Result<(), Error> {
    let receive = |path: &str, body: &Bytes| sink.document(cluster.index(), path, body);
    for path in OF_SERVER {
        receive(path, &cluster.document(path, None).await?);
    }
    let index = match cluster.document(OPENAPI, None).await {
        Ok(index) => index,
        Err(Error::NotFound(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    receive(OPENAPI, &index);
    let definitions = documents.borrow_mut().definitions(cluster.index(), &index);
    let index: Value = serde_json::from_slice(&index).unwrap_or_default();
    let paths = documents.borrow().paths(cluster.index());
    for path in paths {
        let Some(url) = index["paths"][&path]["serverRelativeURL"].as_str() else { continue };
        let of_path = (cluster.index(), path);
        if documents.borrow().urls.get(&of_path).is_some_and(|known| known == url) {
            continue;
        }
        let document = format!("{OPENAPI}/{}", of_path.1);
        let hash = url.split_once("?hash=").map(|(_, hash)| hash);
        receive(&document, &cluster.document(&document, hash).await?);
        documents.borrow_mut().urls.insert(of_path, url.to_owned());
    }
    for name in definitions {
        let path = format!("{DEFINITIONS}/{name}");
        match cluster.document(&path, None).await {
            Ok(definition) => receive(&path, &definition),
            // It is no custom type, or the user may not read definitions.
            Err(Error::NotFound(_) | Error::Forbidden(_)) => {
                documents.borrow_mut().undefined.insert((cluster.index(), name));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::part_fixtures::{resource, template};

    fn part(text: &str) -> Part {
        Part { resource: resource(text), ..template("") }
    }

    #[test]
    fn definitions_are_requested_when_types_change() {
        let mut documents = Documents::default();
        for text in ["pods", "deployments.apps", "backups.demo.kdelta.dev"] {
            documents.add_type(&part(text));
        }
        assert_eq!(
            documents.paths(0).into_iter().collect::<Vec<_>>(),
            ["api/v1", "apis/apps/v1", "apis/demo.kdelta.dev/v1"]
        );
        let requested = |documents: &mut Documents, index: &'static str| {
            documents.definitions(0, &Bytes::from_static(index.as_bytes())).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(requested(&mut documents, "a"), ["backups.demo.kdelta.dev"]);
        assert_eq!(requested(&mut documents, "a"), [""; 0], "nothing has changed");
        assert_eq!(requested(&mut documents, "b"), ["backups.demo.kdelta.dev"]);
        documents.undefined.insert((0, "backups.demo.kdelta.dev".to_owned()));
        assert_eq!(requested(&mut documents, "c"), [""; 0], "it is no custom type");
        documents.add_type(&part("sites.demo.kdelta.dev"));
        assert_eq!(requested(&mut documents, "c"), ["sites.demo.kdelta.dev"]);
        documents.add_type(&part("!customresourcedefinitions.apiextensions.k8s.io"));
        assert_eq!(requested(&mut documents, "d"), [""; 0], "they are recorded as objects");
    }
}
