//! Names, row templates and complete sets of rows of a state, and the first lists of types, for servers of recordings.

use std::sync::Arc;

use super::catalog::Catalog;
use super::chains::{Chain, Chains};
use super::order::{HasNames, WithPrefix, sorted};
use super::parallel;
use super::recording::Recording;
use super::rows::named;
use super::state::{State, in_namespace};
use crate::lines::{Mark, MarkKind};
use crate::object::{ApiResource, Column, Ingest, Object};
use crate::recording::entry::Item;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::payload::Identity;
use crate::recording::row_template::is_writable;

/// The row of an object, as a template that needs no body.
#[derive(Debug)]
pub(in crate::recording) struct TemplateRow {
    key: Arc<str>,
    namespace_len: u16,
    version: u64,
    pub(in crate::recording) columns: Arc<[Column]>,
    /// A copy: a part of its block would keep the whole block in memory.
    pub(in crate::recording) template: Box<[u8]>,
}

impl TemplateRow {
    fn new(chain: &Chain, columns: &Arc<[Column]>, template: &[u8]) -> Self {
        let Chain { key, namespace_len, version, .. } = chain;
        let (key, columns) = (Arc::clone(key), Arc::clone(columns));
        Self { key, namespace_len: *namespace_len, version: *version, columns, template: template.into() }
    }

    /// Returns the names and the version of the object.
    pub(in crate::recording) fn identity(&self) -> Identity<'_> {
        let Self { key, namespace_len, version, .. } = self;
        Identity { key, namespace_len: *namespace_len, version: *version, own_version: None }
    }
}

impl HasNames for TemplateRow {
    fn names(&self) -> (&str, &str) {
        let identity = self.identity();
        (identity.namespace(), identity.name())
    }
}

impl Recording {
    /// Returns the mark that the first list of a resource was complete, in the parts without damage.
    pub(in crate::recording) fn first_list(
        &self,
        group: &str,
        plural: &str,
    ) -> Result<Option<Mark>, RecordingError> {
        self.read(|catalog| catalog.first_list(group, plural).map_err(|error| catalog.error(error)))
    }
}

impl Catalog {
    /// Returns the mark that the first list of a resource was complete. Damaged segments are skipped.
    fn first_list(&self, group: &str, plural: &str) -> Result<Option<Mark>, FileError> {
        let is_of_resource = |own: &ApiResource| own.group == group && own.resource == plural;
        for file in &self.segments {
            let segment = match file.open() {
                Err(FileError::Damaged(..)) => continue,
                segment => segment?,
            };
            if !segment.tables().resources.iter().any(|own| is_of_resource(own)) {
                continue;
            }
            let items = segment.items(&self.context, false)?.into_iter();
            let mut synced = items.filter_map(|(_, item)| match item {
                Item::Mark(mark) if matches!(mark.kind, MarkKind::Synced { .. }) => Some(mark),
                _ => None,
            });
            if let Some(first) = synced.find(|mark| is_of_resource(&mark.resource)) {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }
}

impl State {
    /// Returns the objects of a resource with only their names and versions, or `None` if a version is stored in a body.
    ///
    /// # Errors
    /// [`RecordingError`] when the files can't be read or are damaged.
    pub(in crate::recording) fn named_objects(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
    ) -> Result<Option<Vec<Arc<Object>>>, RecordingError> {
        let chains = Chains::collect_latest(self.files(), resource, |key, length| {
            in_namespace(key, length, namespace)
        });
        let chains = chains.map_err(|error| self.catalog().error(error))?.objects;
        if chains.iter().any(|chain| chain.has_own_version) {
            return Ok(None);
        }
        let type_meta = resource.type_meta();
        let objects =
            parallel::map_many(chains, |chain| WithPrefix::new(Arc::new(named(&chain, &type_meta))));
        Ok(Some(sorted(objects)))
    }

    /// Returns the objects of a resource with their rows, or `None` if an object has none.
    ///
    /// # Errors
    /// The same.
    pub(in crate::recording) fn objects_with_rows(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
        ingest: &Ingest,
    ) -> Result<Option<Vec<Arc<Object>>>, RecordingError> {
        let read = || {
            let wanted = |key: &str, length| in_namespace(key, length, namespace);
            let chains = Chains::collect(self.files(), resource, wanted)?;
            if chains.objects.iter().any(|chain| chain.row.is_none()) {
                return Ok(None);
            }
            self.read(resource, &chains, true, ingest).map(Some)
        };
        let objects: Result<_, FileError> = read();
        objects.map_err(|error| self.catalog().error(error))
    }

    /// Returns the rows of [`State::rows`] as templates.
    ///
    /// # Errors
    /// The same.
    pub(in crate::recording) fn template_rows(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
    ) -> Result<Option<Vec<TemplateRow>>, RecordingError> {
        let read = || match self.chains_of_rows(resource, namespace)? {
            Some(chains) => {
                chains.rows_without_bodies(self.files(), resource, &|chain, columns, template| {
                    is_writable(template).then(|| TemplateRow::new(chain, columns, template))
                })
            }
            None => Ok(None),
        };
        let rows: Result<_, FileError> = read();
        rows.map_err(|error| self.catalog().error(error))
    }
}
