//! A source that generates its pods as they are read.

use std::sync::Arc;

use kdelta::listwatch::{
    Error, ListMeta, ListOptions, ListStream, ListerWatcher, Status, WatchEvent, WatchOptions, WatchStream,
};
use kdelta::object::{Ingest, Object, TypeMeta};

use crate::synthetic::Workload;

/// The number of workloads of the pods.
const WORKLOADS: u32 = 300;

/// A source of this many pods with a streaming initial list.
#[derive(Clone)]
pub(crate) struct Source {
    objects: u32,
    workloads: Arc<[Workload]>,
    ingest: Ingest,
    /// Ends the open watch.
    expired: Arc<tokio::sync::Notify>,
}

/// The pods of a source as an initial list, then a watch that can be expired.
pub(crate) struct PodStream {
    source: Source,
    next: u32,
    buffer: String,
}

impl Source {
    pub(crate) fn new(objects: u32) -> Self {
        Self {
            objects,
            workloads: (0..WORKLOADS).map(Workload::new).collect(),
            ingest: Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() })),
            expired: Arc::default(),
        }
    }

    /// Ends the open watch as a server that no longer has its version.
    pub(crate) fn expire(&self) {
        self.expired.notify_one();
    }

    /// Writes the pod of this number.
    pub(crate) fn write_pod(&self, number: u32, out: &mut String) {
        let each = self.objects.div_ceil(WORKLOADS);
        self.workloads[(number / each) as usize].pod(number % each, number + 1000, out);
    }

    /// Returns the key of the pod of this number.
    pub(crate) fn key(&self, number: u32) -> String {
        let each = self.objects.div_ceil(WORKLOADS);
        self.workloads[(number / each) as usize].key(number % each)
    }
}

impl ListerWatcher for Source {
    type List = PodStream;
    type Watch = PodStream;

    async fn list(&self, _: &ListOptions) -> Result<PodStream, Error> {
        Err(Error::NotSupported(Status::default()))
    }

    async fn watch(&self, options: &WatchOptions) -> Result<PodStream, Error> {
        let next = if options.send_initial_events { 0 } else { self.objects + 1 };
        Ok(PodStream { source: self.clone(), next, buffer: String::new() })
    }
}

impl ListStream for PodStream {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        Err(Error::NotSupported(Status::default()))
    }

    fn meta(&self) -> &ListMeta {
        unreachable!("nothing is listed")
    }
}

impl WatchStream for PodStream {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        let source = &self.source;
        let number = self.next;
        self.next += 1;
        if number < source.objects {
            self.buffer.clear();
            source.write_pod(number, &mut self.buffer);
            let object = Object::from_json(self.buffer.as_bytes(), &source.ingest).expect("a pod");
            return Some(Ok(WatchEvent::Added(Arc::new(object))));
        }
        if number == source.objects {
            let resource_version = (source.objects + 1000).to_string().as_str().into();
            return Some(Ok(WatchEvent::Bookmark { resource_version, initial_events_end: true }));
        }
        source.expired.notified().await;
        Some(Err(Error::Expired(Status::default())))
    }
}
