//! A source that begins with a known state instead of a list, so that its informer continues from the version of that state.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::vec;

use jiff::Timestamp;
use kdelta::listwatch::{Error, ListMeta, ListOptions, ListStream, ListerWatcher, WatchOptions};
use kdelta::object::{Object, ResourceVersion, TypeMeta};

/// The objects that a consumer of a source knows, complete up to a version.
#[derive(Debug, Clone)]
pub(crate) struct KnownState {
    pub(crate) version: ResourceVersion,
    /// The version to continue from: the one before, if others may have been deleted in that version.
    pub(crate) watched_from: ResourceVersion,
    /// The objects, which may have no more than names, uids and versions.
    pub(crate) objects: Vec<Arc<Object>>,
    /// The time at which the source first accepts a watch from that version on.
    pub(crate) continued: ContinuedTime,
}

/// The time at which a source first accepted the watch that continues a known state; none before. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContinuedTime(Arc<OnceLock<Timestamp>>);

impl ContinuedTime {
    pub(crate) fn get(&self) -> Option<Timestamp> {
        self.0.get().copied()
    }

    pub(crate) fn set(&self, time: Timestamp) {
        // Only the first time counts.
        let _is_known = self.0.set(time);
    }
}

/// A source whose first list is a known state. The watch then begins at the version of that state, and a server that no longer
/// has that version leads to a new list, which is compared with the known state like any relist.
pub(crate) struct ContinuedSource<S> {
    source: S,
    /// A std mutex: held to take the state, once.
    known: Mutex<Option<KnownState>>,
    /// The version of the known state, and the one to continue from.
    versions: (ResourceVersion, ResourceVersion),
    continued: ContinuedTime,
}

impl<S> ContinuedSource<S> {
    pub(crate) fn new(source: S, known: KnownState) -> Self {
        let continued = known.continued.clone();
        let versions = (known.version.clone(), known.watched_from.clone());
        Self { source, known: Mutex::new(Some(known)), versions, continued }
    }

    fn take_known(&self) -> Option<KnownState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn has_known(&self) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// A known state, or a list of the source.
pub(crate) enum ContinuedList<L> {
    Known { objects: vec::IntoIter<Arc<Object>>, meta: ListMeta },
    Listed(L),
}

impl<L: ListStream> ListStream for ContinuedList<L> {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        match self {
            Self::Known { objects, .. } => Ok(objects.next()),
            Self::Listed(list) => list.next().await,
        }
    }

    fn meta(&self) -> &ListMeta {
        match self {
            Self::Known { meta, .. } => meta,
            Self::Listed(list) => list.meta(),
        }
    }
}

impl<S: ListerWatcher> ListerWatcher for ContinuedSource<S> {
    type List = ContinuedList<S::List>;
    type Watch = S::Watch;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        if let Some(KnownState { version, objects, .. }) = self.take_known() {
            let meta = ListMeta { resource_version: version, ..ListMeta::default() };
            return Ok(ContinuedList::Known { objects: objects.into_iter(), meta });
        }
        self.source.list(options).await.map(ContinuedList::Listed)
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        let (known, watched_from) = &self.versions;
        let mut options = options.clone();
        if options.resource_version == *known {
            options.resource_version = watched_from.clone();
        }
        let watch = self.source.watch(&options).await?;
        self.continued.set(Timestamp::now());
        Ok(watch)
    }

    async fn progress(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        self.source.progress(seen).await
    }

    /// The known state is a list.
    fn supports_watch_list(&self) -> bool {
        !self.has_known() && self.source.supports_watch_list()
    }

    fn expected_type(&self) -> Option<Arc<TypeMeta>> {
        self.source.expected_type()
    }

    fn external_wait(&self) -> Duration {
        self.source.external_wait()
    }

    fn objects_read(&self) -> u64 {
        self.source.objects_read()
    }

    fn disable_watch_list(&self) {
        self.source.disable_watch_list();
    }
}
