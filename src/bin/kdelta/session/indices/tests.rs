//! Tests of the index functions.

use std::collections::{BTreeMap, BTreeSet};

use kdelta::object::{Ingest, Object, TypeMeta};
use kdelta::store::{Index, ThreadSafeStore};
use proptest::prelude::*;

use super::*;

#[test]
fn indices_of_metadata_need_no_body() {
    for (index, expected) in [
        ("owner", false),
        ("label:app", false),
        ("namespace", false),
        ("field:metadata.labels['a.b/c']", false),
        ("field:{.metadata.ownerReferences[*].name}", false),
        ("node", true),
        ("field:status.phase", true),
        ("field:kind", true),
        ("field:*.name", true),
    ] {
        assert_eq!(needs_body(&IndexName::parse(index).expect(index)), expected, "{index}");
    }
}

#[test]
fn expressions_need_what_they_read() {
    for (index, expected) in [
        ("cel:object.metadata.name.split('-')[0]", false),
        ("cel:object.metadata.labels.?app", false),
        ("cel:'constant'", false),
        ("cel:object.metadata.name + object.spec.nodeName", true),
        ("cel:object", true),
        ("cel:object[object.metadata.name]", true),
    ] {
        assert_eq!(needs_body(&IndexName::parse(index).expect(index)), expected, "{index}");
    }
}

/// The expressions of the property test.
const EXPRESSIONS: [&str; 4] = [
    "object.metadata.name.split('-')[0]",
    "object.spec.replicas > 2",
    "object.metadata.labels.?app",
    "object.spec.images.map(image, image.split(':')[0])",
];

/// The drawn state of an object.
#[derive(Debug, Clone)]
struct State {
    replicas: Option<u8>,
    app: Option<String>,
    images: Option<Vec<String>>,
}

impl State {
    fn object(&self, name: &str) -> Arc<Object> {
        let mut object = serde_json::json!({"metadata": {"name": name, "labels": {}}, "spec": {}});
        if let Some(replicas) = self.replicas {
            object["spec"]["replicas"] = replicas.into();
        }
        if let Some(app) = &self.app {
            object["metadata"]["labels"]["app"] = app.as_str().into();
        }
        if let Some(images) = &self.images {
            object["spec"]["images"] = images.iter().map(|image| format!("{image}:1")).collect();
        }
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Arc::new(Object::from_json(object.to_string().as_bytes(), &ingest).expect("an object"))
    }

    /// Computes the values of each expression without CEL; `None` if there is no result.
    fn values(&self, name: &str) -> [Option<Vec<String>>; 4] {
        [
            Some(vec![name.split('-').next().unwrap_or_default().to_owned()]),
            self.replicas.map(|replicas| vec![(replicas > 2).to_string()]),
            Some(self.app.iter().cloned().collect()),
            self.images.clone(),
        ]
    }
}

fn state() -> impl Strategy<Value = State> {
    let images = prop::option::weighted(0.8, prop::collection::vec("[a-c]", 0..4));
    let parts = (prop::option::weighted(0.8, 0..5_u8), prop::option::of("[a-c]?"), images);
    parts.prop_map(|(replicas, app, images)| State { replicas, app, images })
}

proptest! {
    #[test]
    fn indices_of_expressions_equal_recomputed_ones(
        changes in prop::collection::vec(("[ab]-[0-3]", prop::option::weighted(0.8, state())), 0..40),
    ) {
        let by = EXPRESSIONS.map(|text| By::parse(&format!("cel:{text}")).expect(text));
        let errors = Arc::default();
        let store = ThreadSafeStore::new(indexers(&by, &errors).expect("indices"));
        let (mut states, mut rejected) = (BTreeMap::<String, State>::new(), BTreeSet::new());
        for (name, state) in changes {
            let Some(state) = state else {
                store.delete(&name);
                states.remove(&name);
                continue;
            };
            store.add(name.as_str().into(), state.object(&name)).expect("added");
            if state.replicas.is_none() {
                rejected.insert(("replicas", name.clone()));
            }
            if state.images.is_none() {
                rejected.insert(("images", name.clone()));
            }
            states.insert(name, state);
        }
        let indices = store.indices();
        for (at, by) in by.iter().enumerate() {
            let mut expected = Index::new();
            for (name, state) in &states {
                for value in state.values(name)[at].iter().flatten() {
                    expected.entry(value.clone()).or_default().insert(name.as_str().into());
                }
            }
            prop_assert_eq!(&indices[&by.index.to_string()], &expected, "{}", by);
            prop_assert_eq!(store.index_errors(&by.index.to_string()), 0);
        }
        let count = |field: &str| rejected.iter().filter(|(of, _)| *of == field).count();
        let report = |field: &str| match count(field) {
            0 => None,
            1 => Some(format!("--by cel: 1 object has no field spec.{field}")),
            count => Some(format!("--by cel: {count} objects have no field spec.{field}")),
        };
        prop_assert_eq!(errors.take(), ["images", "replicas"].into_iter().filter_map(report).collect::<Vec<_>>());
    }
}
