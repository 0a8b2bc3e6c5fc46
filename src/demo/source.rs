//! The demo's cluster as the source of a server.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::cluster::Cluster;
use super::{access_reviews, alternate_versions, schema};
use crate::server::clock::Clock;
use crate::server::source::{
    Change, CollectionRange, Compacted, Kind, KindId, ReadError, Snapshot, Source, StoredObject, Unreadable,
};

impl Source for Cluster {
    fn kinds(&self) -> Vec<Arc<Kind>> {
        let stored = self.store.kinds().into_iter().map(|(_, kind)| kind).collect();
        let mut kinds = alternate_versions::insert_into(stored);
        kinds.extend(access_reviews::kinds().map(Arc::new));
        kinds
    }

    fn find(&self, group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
        alternate_versions::find(group, version, plural).or_else(|| self.store.find(group, version, plural))
    }

    fn serves(&self, kind: KindId) -> bool {
        self.store.serves(kind)
    }

    fn version(&self, _: KindId) -> u64 {
        self.store.version()
    }

    fn subscribe(&self) -> watch::Receiver<u64> {
        self.store.subscribe()
    }

    fn get(
        &self,
        kind: KindId,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredObject>>, Unreadable> {
        Ok(self.store.get(kind, namespace, name))
    }

    fn now(&self, range: &CollectionRange<'_>) -> Result<Snapshot, Unreadable> {
        Ok(self.store.now(range))
    }

    fn at(&self, range: &CollectionRange<'_>, version: u64) -> Result<Snapshot, ReadError> {
        Ok(self.store.at(range, version)?)
    }

    fn changes(&self, kind: KindId, after: u64, limit: usize) -> Result<(Vec<Change>, u64), Compacted> {
        self.store.changes(kind, after, limit)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn schemas(&self) -> &Map<String, Value> {
        &schema::built_in_schemas().0
    }

    fn server_version(&self) -> Value {
        json!({
            "major": "1", "minor": "36", "gitVersion": concat!("v1.36.0+kdelta-demo.", env!("CARGO_PKG_VERSION")),
            "gitCommit": "", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "",
            "compiler": "rustc", "platform": "linux/amd64",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;

    use super::*;
    use crate::demo::kinds;
    use crate::server::openapi;
    use crate::server::representations::columns::Columns;
    use crate::server::source::Custom;

    #[test]
    fn every_row_has_one_cell_per_column() {
        let mut kinds: Vec<Kind> = kinds::built_in().collect();
        let size = json!([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]);
        for columns in [size, json!([])] {
            let custom = Some(Arc::new(Custom { columns, ..Custom::default() }));
            kinds.push(Kind { custom, ..kinds[0].clone() });
        }
        let object = json!({"metadata": {"name": "a"}, "spec": {"size": 3}});
        for kind in kinds {
            let columns = Columns::of(&kind);
            let count = columns.definitions().as_array().map(Vec::len);
            assert_eq!(Some(columns.cells(&object, Timestamp::UNIX_EPOCH).len()), count, "{kind:?}");
        }
    }

    #[test]
    fn documents_contain_every_referenced_schema() {
        let kinds: Vec<_> = kinds::built_in().map(Arc::new).collect();
        let schemas = &schema::built_in_schemas().0;
        let apps = openapi::document(&kinds, schemas, "apps", "v1").expect("apps");
        let own = apps["components"]["schemas"].as_object().expect("schemas");
        let mut found = BTreeSet::new();
        openapi::references(&apps, &mut found);
        assert!(found.len() > 50 && found.iter().all(|name| own.contains_key(name)), "{found:?}");
        assert!(own.contains_key("io.k8s.api.apps.v1.Deployment"));
        assert!(!own.contains_key("io.k8s.api.batch.v1.Job"));
        assert!(openapi::document(&kinds, schemas, "apps", "v9").is_none());
    }
}
