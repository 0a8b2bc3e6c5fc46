//! Recordings for tests: written by hand, or of what a server has at one moment.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use age::secrecy::ExposeSecret;
use jiff::Timestamp;
use kdelta::api::{Client, Request, ResourceClient};
use kdelta::lines::{Change, ChangeKind, Mark, MarkKind};
use kdelta::listwatch::{ListOptions, ListStream, ListerWatcher, WatchEvent, WatchOptions, WatchStream};
use kdelta::object::{ApiResource, Ingest, Object, Origin, ResourceVersion};
use kdelta::recording::{Author, Writer, WriterOptions};
use kdelta::wire::{IncludeObject, Representation};
use serde_json::Value;

use super::TestEnv;

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// The largest document that is recorded.
const LIMIT: usize = 64 << 20;

/// A reader of encrypted recordings: an identity in a file, and its recipient.
pub(crate) struct Reader {
    pub(crate) file: String,
    pub(crate) recipient: String,
}

impl Reader {
    /// Creates an identity, as `age-keygen` does.
    pub(crate) fn new(env: &TestEnv, name: &str) -> Self {
        let identity = age::x25519::Identity::generate();
        let recipient = identity.to_public().to_string();
        let text = format!("# public key: {recipient}\n{}\n", identity.to_string().expose_secret());
        Self { file: env.file(name, &text).to_str().expect("text").to_owned(), recipient }
    }
}

/// Removes the keys of encrypted recordings that the user has, as on another machine.
pub(crate) fn forget_keys(env: &TestEnv) {
    let keys = env.home().join(".local/state/kdelta/recording-keys");
    assert!(fs::read_dir(&keys).expect("keys").count() > 0);
    fs::remove_dir_all(keys).expect("removed");
}

/// A recording that is being written.
pub(crate) struct Recorder {
    context: String,
    writer: Writer,
}

impl Recorder {
    /// Creates the recording of a context in a directory of recordings.
    pub(crate) fn new(dir: &Path, context: &str, now: Timestamp) -> Self {
        let path = Self::path(dir, context);
        let options = WriterOptions::default().sync(false);
        let writer = Writer::open(&path, context, options, now).expect("a writer");
        Self::of(writer, context)
    }

    /// Continues to write with this writer of the recording of a context.
    pub(crate) fn of(writer: Writer, context: &str) -> Self {
        Self { context: context.to_owned(), writer }
    }

    /// Returns the directory of a context.
    pub(crate) fn path(dir: &Path, context: &str) -> PathBuf {
        Writer::directory(dir, context)
    }

    /// Records an object.
    pub(crate) fn change(
        &mut self,
        kind: ChangeKind,
        resource: &Arc<ApiResource>,
        object: Arc<Object>,
        received: Timestamp,
    ) {
        let change = Change {
            kind,
            object,
            old: None,
            origin: Origin::List,
            final_state_unknown: false,
            resource: Arc::clone(resource),
            context: self.context.as_str().into(),
            received,
        };
        self.writer.change(&change, None).expect("written");
    }

    /// Records an object from its JSON.
    pub(crate) fn json(
        &mut self,
        kind: ChangeKind,
        resource: &Arc<ApiResource>,
        object: &Value,
        received: Timestamp,
    ) {
        let ingest = Ingest::of(resource.type_meta());
        let object = Object::from_json(object.to_string().as_bytes(), &ingest).expect("an object");
        self.change(kind, resource, Arc::new(object), received);
    }

    /// Records a watched object with its author: a manager and a subresource.
    pub(crate) fn watched(
        &mut self,
        kind: ChangeKind,
        resource: &Arc<ApiResource>,
        object: &Value,
        author: Option<(&str, &str)>,
        received: Timestamp,
    ) {
        let ingest = Ingest::of(resource.type_meta());
        let object = Object::from_json(object.to_string().as_bytes(), &ingest).expect("an object");
        let change = self.watched_change(kind, resource, Arc::new(object), received);
        let author = author.map(|(manager, subresource)| Author {
            manager: manager.into(),
            subresource: subresource.into(),
        });
        self.writer.change(&change, author.as_ref()).expect("written");
    }

    /// Records a mark of all namespaces.
    pub(crate) fn mark(&mut self, kind: MarkKind, resource: &Arc<ApiResource>, received: Timestamp) {
        let (context, resource) = (self.context.as_str().into(), Arc::clone(resource));
        let mark = Mark { kind, resource, context, namespace: "".into(), name: None, received };
        self.writer.mark(&mark).expect("written");
    }

    /// Records that everything up to a version was received, in all namespaces.
    pub(crate) fn bookmark(
        &mut self,
        version: &ResourceVersion,
        resource: &Arc<ApiResource>,
        received: Timestamp,
    ) {
        self.writer.bookmark(resource, &"".into(), version, received).expect("written");
    }

    pub(crate) fn document(&mut self, path: &str, body: &[u8], received: Timestamp) {
        self.writer.document(path, body, received).expect("written");
    }

    /// Writes everything recorded so far, so that it can be read.
    pub(crate) fn flush(&mut self, now: Timestamp) {
        self.writer.flush(now).expect("flushed");
    }

    pub(crate) fn finish(self, now: Timestamp) {
        self.writer.finish(now).expect("finished");
    }

    /// Records the discovery and `OpenAPI` documents of a server.
    pub(crate) async fn documents_of(&mut self, client: &Client, received: Timestamp) {
        let index = self.document_of(client, "/openapi/v3", "application/json", received).await;
        let index: Value = serde_json::from_slice(&index).expect("an index");
        for path in index["paths"].as_object().expect("paths").keys() {
            self.document_of(client, &format!("/openapi/v3/{path}"), "application/json", received).await;
        }
        self.document_of(client, "/version", "application/json", received).await;
        for path in ["/api", "/apis"] {
            self.document_of(client, path, AGGREGATED, received).await;
        }
    }

    async fn document_of(
        &mut self,
        client: &Client,
        path: &str,
        accept: &'static str,
        received: Timestamp,
    ) -> Vec<u8> {
        let response = client.send(&Request::new(path).accept(accept)).await.expect(path);
        let body = response.body(LIMIT).await.expect(path);
        self.document(path, &body, received);
        body.to_vec()
    }

    /// Records the list of a collection, and returns its version.
    pub(crate) async fn list_of(
        &mut self,
        client: &Client,
        resource: &Arc<ApiResource>,
        namespace: &str,
    ) -> ResourceVersion {
        let mut list =
            source_of(client, resource, namespace).list(&ListOptions::default()).await.expect("a list");
        while let Some(object) = list.next().await.expect("an object") {
            self.change(ChangeKind::Added, resource, object, Timestamp::now());
        }
        let version = list.meta().resource_version.clone();
        self.mark(MarkKind::Synced { version: version.clone() }, resource, Timestamp::now());
        version
    }

    /// Records that many events of a watch after a version, with the authors of changes.
    pub(crate) async fn events_of(
        &mut self,
        client: &Client,
        resource: &Arc<ApiResource>,
        namespace: &str,
        version: ResourceVersion,
        count: usize,
    ) {
        let options = WatchOptions::default().resource_version(version);
        let mut watch = source_of(client, resource, namespace).watch(&options).await.expect("a watch");
        let mut known: HashMap<_, Arc<Object>> = HashMap::new();
        for _ in 0..count {
            let (kind, object) = match watch.next().await.expect("an event").expect("no error") {
                WatchEvent::Added(object) => (ChangeKind::Added, object),
                WatchEvent::Modified(object) => (ChangeKind::Modified, object),
                WatchEvent::Deleted(object) => (ChangeKind::Deleted, object),
                bookmark @ WatchEvent::Bookmark { .. } => panic!("{bookmark:?}"),
            };
            let old = known.insert(Arc::clone(object.key()), Arc::clone(&object));
            let author = match kind {
                ChangeKind::Added => object.author_since(None),
                ChangeKind::Modified => object.author_since(old.as_deref()),
                _ => None,
            };
            let author = author.map(|(manager, subresource)| Author { manager, subresource });
            let change = self.watched_change(kind, resource, object, Timestamp::now());
            self.writer.change(&change, author.as_ref()).expect("written");
        }
    }

    fn watched_change(
        &self,
        kind: ChangeKind,
        resource: &Arc<ApiResource>,
        object: Arc<Object>,
        received: Timestamp,
    ) -> Change {
        Change {
            kind,
            object,
            old: None,
            origin: Origin::Watch,
            final_state_unknown: false,
            resource: Arc::clone(resource),
            context: self.context.as_str().into(),
            received,
        }
    }

    /// Records the objects of a collection with their rows.
    pub(crate) async fn collection_of(
        &mut self,
        client: &Client,
        resource: &Arc<ApiResource>,
        namespace: Option<&str>,
        received: Timestamp,
    ) {
        let source = ResourceClient::new(client.clone(), (**resource).clone())
            .namespace(namespace.map(str::to_owned))
            .representation(Representation::Table(IncludeObject::Object));
        let mut list = source.list(&ListOptions::default()).await.expect("a list");
        while let Some(object) = list.next().await.expect("an object") {
            self.change(ChangeKind::Added, resource, object, received);
        }
        let version = list.meta().resource_version.clone();
        self.mark(MarkKind::Synced { version }, resource, received);
    }
}

/// Returns a mark for the end of an initial list.
pub(crate) fn synced(version: u64) -> MarkKind {
    MarkKind::Synced { version: ResourceVersion::new(&version.to_string()) }
}

/// Returns the source of a collection that records the managers of its objects.
fn source_of(client: &Client, resource: &ApiResource, namespace: &str) -> ResourceClient {
    ResourceClient::new(client.clone(), resource.clone())
        .namespace(Some(namespace.to_owned()))
        .record_managers(true)
}
