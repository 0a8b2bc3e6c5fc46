//! Look-ups of an index in stores of different sizes: the cost is that of the result, not of the store.

use std::hint::black_box;
use std::sync::Arc;

use kdelta::object::Object;
use kdelta::store::{Cache, Indexer, Store, index_funcs};

use crate::Bench;
use crate::synthetic::Workload;

/// Looks up the same number of values, each with the same number of objects, in stores with these numbers of workloads.
pub(crate) fn run(bench: &Bench, read: &dyn Fn(&String) -> Arc<Object>) {
    for count in [50, 400] {
        let workloads: Vec<Workload> = (0..count).map(Workload::new).collect();
        let objects: Vec<_> = crate::pods(&workloads, 1).iter().map(read).collect();
        let name = format!("objects of an owner, of {} in all", objects.len());
        let store = Cache::with_indexers([("owner".to_owned(), index_funcs::owner())].into());
        store.replace(objects, &"1".into()).expect("keys");
        let owners: Vec<String> = store.list_index_func_values("owner").into_iter().take(50).collect();
        bench.run(
            &name,
            || (),
            |()| {
                for owner in &owners {
                    black_box(store.by_index("owner", owner).expect("an index"));
                }
            },
        );
    }
}
