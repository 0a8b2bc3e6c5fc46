//! One recorded resource: its objects, read when they are first requested.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use super::stored::{Rows, rows_only, shared_columns, stored};
use crate::listwatch::DirectContents;
use crate::object::{ApiResource, Ingest, Object, Row};
use crate::recording::error::RecordingError;
use crate::recording::payload::ingest;
use crate::recording::reader::State;
use crate::server::source::{Kind, ObjectData, StoredObject, Unreadable};

/// The objects of a collection or of one of its namespaces, sorted by namespace and name.
pub(super) type Items = Arc<[Arc<StoredObject>]>;

/// One resource at one moment.
pub(super) struct Collection {
    resource: Arc<ApiResource>,
    kind: Arc<Kind>,
    rows: Rows,
    /// The kind with the columns and the schema of its definition.
    defined: OnceLock<Arc<Kind>>,
    /// A std mutex, held while the objects are read, so that concurrent requests read them once.
    cache: Mutex<Cache>,
}

/// The objects that were read, by namespace; `None` for all. They are at most twice the collection: each object is
/// in one namespace.
#[derive(Default)]
struct Cache {
    /// Objects, and whether they have their recorded rows.
    objects: HashMap<Option<Box<str>>, (Items, bool)>,
    /// Objects without bodies, with their rows. `None` if an object has no recorded row, or one that needs its body or has
    /// other columns.
    rows: HashMap<Option<Box<str>>, Option<Items>>,
}

impl Collection {
    pub(super) fn new(resource: Arc<ApiResource>, kind: Arc<Kind>, rows: Rows) -> Self {
        Self { resource, kind, rows, defined: OnceLock::new(), cache: Mutex::default() }
    }

    pub(super) fn is(&self, group: &str, version: &str, plural: &str) -> bool {
        let ApiResource { group: own, version: of, resource, .. } = &*self.resource;
        own == group && of == version && resource == plural
    }

    /// Returns whether this is the collection of a resource.
    pub(super) fn is_of(&self, resource: &ApiResource) -> bool {
        *self.resource == *resource
    }

    pub(super) fn resource(&self) -> &ApiResource {
        &self.resource
    }

    /// Returns the group, the version and the plural.
    pub(super) fn names(&self) -> [String; 3] {
        let ApiResource { group, version, resource, .. } = &*self.resource;
        [group, version, resource].map(Clone::clone)
    }

    /// Returns the kind. A custom one gets the columns, the schema and the selectable fields of its definition, if that
    /// was recorded too: `definitions` is its resource.
    pub(super) fn kind(&self, state: &State, definitions: Option<&ApiResource>) -> Arc<Kind> {
        let (true, Some(definitions)) = (self.kind.is_custom(), definitions) else {
            return Arc::clone(&self.kind);
        };
        let defined = self.defined.get_or_init(|| {
            let name = self.resource.group_resource();
            let definition = state.object(definitions, "", &name).unwrap_or_else(|error| {
                tracing::warn!(%error, "the definition of {name} can't be read");
                None
            });
            let custom = definition.and_then(|definition| {
                let definition: Value = definition.parse().ok()?;
                let versions = definition["spec"]["versions"].as_array()?;
                let version =
                    versions.iter().find(|version| version["name"] == self.kind.version.as_str())?;
                Kind::of_definition_version(&definition, version)?.custom
            });
            match custom {
                Some(custom) => Arc::new(Kind { custom: Some(custom), ..(*self.kind).clone() }),
                None => Arc::clone(&self.kind),
            }
        });
        Arc::clone(defined)
    }

    /// Returns the objects of a namespace, or of all, with at least this data. The result may include other namespaces.
    ///
    /// # Errors
    /// The recording can't be read.
    pub(super) fn items(
        &self,
        state: &State,
        kind: &Kind,
        namespace: Option<&str>,
        data: ObjectData,
    ) -> Result<Items, Unreadable> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let key = namespace.map(Box::from);
        let needs_rows = data.has_rows() && self.rows == Rows::Recorded;
        let known = [&None, &key].map(|key| cache.objects.get(key));
        if let Some((items, _)) = known.into_iter().flatten().find(|(_, have_rows)| *have_rows || !needs_rows)
        {
            return Ok(Arc::clone(items));
        }
        if needs_rows && !data.has_json() {
            let known = cache.rows.get(&None).or_else(|| cache.rows.get(&key)).cloned();
            let rows = if let Some(rows) = known {
                rows
            } else {
                let rows = state.template_rows(&self.resource, namespace).map_err(unreadable)?;
                let rows = rows.and_then(|rows| rows_only(kind, rows, state.now())).map(Items::from);
                cache.rows.entry(key.clone()).or_insert(rows).clone()
            };
            if let Some(rows) = rows {
                return Ok(rows);
            }
        }
        let ingest = ingest(self.resource.type_meta());
        let objects =
            state.objects_with(&self.resource, namespace, needs_rows, &ingest).map_err(unreadable)?;
        let rows = if needs_rows { Rows::Recorded } else { Rows::Computed };
        let items = Items::from(stored(kind, objects, rows));
        cache.objects.insert(key, (Arc::clone(&items), needs_rows));
        Ok(items)
    }

    /// Returns the objects of a namespace, or of all, as they are recorded. `None` if the server would send them in another
    /// form: the contents of one are not recorded, its body names another type, or the rows can't share a table.
    ///
    /// # Errors
    /// The recording can't be read.
    pub(super) fn recorded(
        &self,
        state: &State,
        namespace: Option<&str>,
        contents: DirectContents,
        ingest: &Ingest,
    ) -> Result<Option<Vec<Arc<Object>>>, Unreadable> {
        let resource = &*self.resource;
        let needs_rows = matches!(contents, DirectContents::Rows | DirectContents::RowsAndObjects);
        if needs_rows && self.rows == Rows::Computed {
            return Ok(None);
        }
        let share_columns = |objects: &Vec<Arc<Object>>| {
            objects.is_empty()
                || shared_columns(objects.iter().map(|object| object.row().map(Row::columns))).is_some()
        };
        let have_bodies = |objects: &Vec<Arc<Object>>| {
            let is_sent =
                |object: &Arc<Object>| object.json_len() > 0 && **object.type_meta() == *ingest.type_meta;
            objects.iter().all(is_sent)
        };
        let objects = match contents {
            DirectContents::Names => state.named_objects(resource, namespace),
            DirectContents::Rows => state.rows(resource, namespace).map(|rows| rows.filter(share_columns)),
            DirectContents::Objects => {
                let objects = state.objects_with(resource, namespace, false, ingest);
                objects.map(|objects| Some(objects).filter(have_bodies))
            }
            DirectContents::RowsAndObjects => {
                let objects = state.objects_with_rows(resource, namespace, ingest);
                objects.map(|objects| objects.filter(have_bodies).filter(share_columns))
            }
        };
        let objects = objects.map_err(unreadable)?;
        if objects.is_none() && contents == DirectContents::Rows {
            // The request that follows need not read the rows again.
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            cache.rows.insert(namespace.map(Box::from), None);
        }
        Ok(objects)
    }

    /// Returns one object.
    ///
    /// # Errors
    /// The recording can't be read.
    pub(super) fn item(
        &self,
        state: &State,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredObject>>, Unreadable> {
        let object = state.object(&self.resource, namespace, name).map_err(unreadable)?;
        Ok(object.and_then(|object| stored(kind, vec![object], self.rows).pop()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn unreadable(error: RecordingError) -> Unreadable {
    Unreadable(error.to_string())
}
