//! The current states of the objects in a writer, against which the next changes are encoded.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::object_table::ObjectTable;
use crate::lines::{Change, ChangeKind};
use crate::object::{ApiResource, Column, Compressor, Object};
use crate::recording::bytes::{put_number, put_text};
use crate::recording::document::Document;
use crate::recording::flags::Flags;
use crate::recording::frame::{FrameContext, FrameWriter};
use crate::recording::keyframe::Snapshot;
use crate::recording::last_state::{CurrentState, LastState};
use crate::recording::payload::split_row;
use crate::recording::position::Position;
use crate::recording::row_template::{render, to_template};
use crate::recording::tables::Tables;

/// The objects of one type.
#[derive(Default)]
struct TypeStates {
    objects: ObjectTable,
    compressor: Compressor,
    /// The last row. Equal rows that follow it, such as those of events, share its allocation.
    last_row: Option<Arc<[u8]>>,
}

/// The current states and documents.
#[derive(Default)]
pub(super) struct States {
    types: HashMap<Arc<ApiResource>, TypeStates>,
    /// The columns of all rows.
    tables: Tables,
    pub(super) documents: BTreeMap<Arc<str>, Document>,
    frames: FrameWriter,
}

/// A change as the journal stores it.
pub(super) struct EncodedChange {
    pub(super) flags: Flags,
    pub(super) body: Vec<u8>,
    /// The row after the change.
    row: Option<Arc<[u8]>>,
}

impl States {
    /// Adds a state of a recording that is continued.
    pub(super) fn insert(&mut self, resource: &Arc<ApiResource>, state: LastState) {
        let LastState { object, version, row } = state;
        let of_type = self.types.entry(Arc::clone(resource)).or_default();
        let object = of_type.compressor.compress(object);
        let row = row.map(|(columns, template)| {
            let mut row = start_of_row(&mut self.tables, &columns);
            row.extend_from_slice(&template);
            let known = of_type.last_row.as_ref().filter(|known| ***known == *row).cloned();
            known.unwrap_or_else(|| row.into())
        });
        of_type.last_row.clone_from(&row);
        of_type.objects.insert(CurrentState { object, version, row });
    }

    /// Removes a state of a recording that is continued.
    pub(super) fn remove(&mut self, resource: &ApiResource, key: &str) {
        if let Some(states) = self.types.get_mut(resource) {
            states.objects.remove(key);
        }
    }

    /// Returns the state of an object.
    pub(super) fn last_state(&self, resource: &ApiResource, key: &str) -> Option<LastState> {
        let CurrentState { object, version, row } = self.types.get(resource)?.objects.get(key)?;
        let row = row.as_ref().and_then(|row| split_row(row, &self.tables.columns));
        let row = row.map(|(columns, template)| (Arc::clone(columns), template.into()));
        Some(LastState { object: Arc::clone(object), version: *version, row })
    }

    /// Returns the number of objects.
    pub(super) fn len(&self) -> u64 {
        self.types.values().map(|states| states.objects.len() as u64).sum()
    }

    /// Returns an object, with the ages in its row as of a time.
    pub(super) fn object(&self, resource: &ApiResource, key: &str, now: Timestamp) -> Option<Arc<Object>> {
        self.types.get(resource)?.objects.get(key).map(|current| with_row(&self.tables.columns, current, now))
    }

    /// Returns the objects of a resource, with the ages in their rows as of a time.
    pub(super) fn objects(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
        now: Timestamp,
    ) -> Vec<Arc<Object>> {
        let all = self.types.get(resource).into_iter().flat_map(|states| states.objects.iter());
        let own = |current: &&CurrentState| {
            namespace.is_none_or(|namespace| current.object.namespace() == namespace)
        };
        let mut objects: Vec<_> =
            all.filter(own).map(|current| with_row(&self.tables.columns, current, now)).collect();
        objects.sort_by(|one, other| (one.namespace(), one.name()).cmp(&(other.namespace(), other.name())));
        objects
    }

    /// Returns the objects as [`States::objects`] does, and keeps the returned ones with their rows, as after a list: the
    /// store of an informer that continues with them shares them.
    pub(super) fn share_objects(
        &mut self,
        resource: &ApiResource,
        namespace: Option<&str>,
        now: Timestamp,
    ) -> Vec<Arc<Object>> {
        let columns = &self.tables.columns;
        let all = self.types.get_mut(resource).into_iter().flat_map(|states| states.objects.iter_mut());
        let own = |current: &&mut CurrentState| {
            namespace.is_none_or(|namespace| current.object.namespace() == namespace)
        };
        let mut objects: Vec<_> = all
            .filter(own)
            .map(|current| {
                if current.object.row().is_none() {
                    current.object = with_row(columns, current, now);
                }
                Arc::clone(&current.object)
            })
            .collect();
        objects.sort_by(|one, other| (one.namespace(), one.name()).cmp(&(other.namespace(), other.name())));
        objects
    }

    /// Keeps this object in place of the one with the same content.
    pub(super) fn share_unchanged(&mut self, resource: &ApiResource, object: &Arc<Object>) {
        let known = self.types.get_mut(resource).and_then(|states| states.objects.get_mut(object.key()));
        if let Some(known) =
            known.filter(|known| known.object.resource_version() == object.resource_version())
        {
            known.object = Arc::clone(object);
        }
    }

    /// Returns the form of a change in the journal: a difference from the object's state, or the whole text of a
    /// new one.
    pub(super) fn encode(
        &mut self,
        change: &Change,
        flags: Flags,
        version: u64,
        received: Timestamp,
    ) -> EncodedChange {
        let object = &change.object;
        let states = self.types.get(&change.resource);
        let known = states.and_then(|states| states.objects.get(object.key()));
        let base = known.filter(|_| change.kind != ChangeKind::Added);
        let mut flags = if base.is_none() { flags.with(Flags::WHOLE) } else { flags };
        let mut body = Vec::new();
        if object.resource_version().number() != Some(version) {
            flags = flags.with(Flags::OWN_VERSION);
            put_text(&mut body, object.resource_version().to_string().as_bytes());
        }
        let text = object.json();
        match base {
            Some(base) => {
                let context = FrameContext::new(version, received.as_millisecond());
                self.frames.write(&text, &base.object.json(), base.version, &context, &mut body);
            }
            None => body.extend_from_slice(&text),
        }
        let row = object.row().map(|row| {
            let mut bytes = start_of_row(&mut self.tables, row.columns());
            bytes.extend_from_slice(&to_template(row, object, &text, received));
            let is_equal = |known: &&Arc<[u8]>| ***known == *bytes;
            let of_base = base.and_then(|base| base.row.as_ref()).filter(is_equal);
            let known = of_base.or_else(|| states?.last_row.as_ref().filter(is_equal)).cloned();
            known.unwrap_or_else(|| bytes.into())
        });
        if base.is_none_or(|base| base.row != row) {
            flags = flags.with(if row.is_some() { Flags::NEW_ROW } else { Flags::NO_ROW });
        }
        EncodedChange { flags, body, row }
    }

    /// Returns the columns and the template of the row that is stored with a change.
    pub(super) fn new_row<'a>(&'a self, encoded: &'a EncodedChange) -> Option<(&'a Arc<[Column]>, &'a [u8])> {
        let row = encoded.row.as_ref().filter(|_| encoded.flags.has(Flags::NEW_ROW))?;
        split_row(row, &self.tables.columns)
    }

    /// Applies a change after it was appended.
    pub(super) fn apply(&mut self, change: &Change, version: u64, encoded: EncodedChange) {
        let states = self.types.entry(Arc::clone(&change.resource)).or_default();
        if change.kind == ChangeKind::Deleted {
            states.objects.remove(change.object.key());
            return;
        }
        let object = if change.object.is_compressed() {
            // Shared with the store of the informer, row included.
            Arc::clone(&change.object)
        } else {
            // Without the row, which is rendered from its smaller template.
            states.compressor.compress(Arc::new(change.object.copy_with_row(None)))
        };
        states.last_row.clone_from(&encoded.row);
        states.objects.insert(CurrentState { object, version, row: encoded.row });
    }

    /// Returns all states for a keyframe. The objects are shared.
    pub(super) fn snapshot(
        &self,
        context: &str,
        next: u64,
        time: i64,
        max_version: u64,
        positions: Vec<Position>,
    ) -> Snapshot {
        let types = self
            .types
            .iter()
            .map(|(resource, states)| (Arc::clone(resource), states.objects.iter().cloned().collect()));
        let mut types: Vec<_> = types.collect();
        types.sort_by(|(one, _), (other, _)| {
            (&one.group, &one.resource, &one.version).cmp(&(&other.group, &other.resource, &other.version))
        });
        let (columns, documents) = (self.tables.columns.clone(), self.documents.clone());
        Snapshot {
            context: context.to_owned(),
            next,
            time,
            max_version,
            types,
            columns,
            documents,
            positions,
        }
    }
}

/// Returns the object with its row as of a time.
fn with_row(columns: &[Arc<[Column]>], current: &CurrentState, now: Timestamp) -> Arc<Object> {
    let CurrentState { object, row, .. } = current;
    match row {
        Some(row) => {
            let row = split_row(row, columns);
            let row = row.and_then(|(columns, template)| render(template, columns, object, now));
            Arc::new(object.copy_with_row(row))
        }
        None => Arc::clone(object),
    }
}

/// Returns the bytes of a row before its template.
fn start_of_row(tables: &mut Tables, columns: &Arc<[Column]>) -> Vec<u8> {
    let mut row = Vec::new();
    put_number(&mut row, tables.add_columns(columns).0 as u64);
    row
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").field("objects", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Ingest, Origin, Row, TypeMeta};

    #[test]
    fn a_compressed_object_is_shared_and_its_row_is_rendered_from_the_template() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "ConfigMap".into() });
        let resource = Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "configmaps".into(),
            kind: "ConfigMap".into(),
            namespaced: true,
        });
        let json = format!(
            r#"{{"metadata":{{"name":"x","resourceVersion":"7"}},"data":{{"k":"{}"}}}}"#,
            "value".repeat(200)
        );
        let object = Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an object");
        let object = object.with_row(Row::new(Arc::from([]), ["x", "1"]));
        let object = Compressor::new().compress(Arc::new(object));
        assert!(object.is_compressed());
        let change = Change {
            kind: ChangeKind::Added,
            object: Arc::clone(&object),
            old: None,
            origin: Origin::Watch,
            final_state_unknown: false,
            resource: Arc::clone(&resource),
            context: "test".into(),
            received: Timestamp::UNIX_EPOCH,
        };
        let mut states = States::default();
        let flags = Flags::of(&change).expect("a change of an object");
        let encoded = states.encode(&change, flags, 7, Timestamp::UNIX_EPOCH);
        assert_eq!(encoded.body, object.json().as_ref());
        states.apply(&change, 7, encoded);
        let last = states.types[&resource].objects.get("x").expect("a state");
        assert!(Arc::ptr_eq(&last.object, &object));
        let shown = states.object(&resource, "x", Timestamp::UNIX_EPOCH).expect("the object");
        assert_eq!(shown.row().expect("a row").cells().collect::<Vec<_>>(), ["x", "1"]);
    }
}
