//! The schemas of the built-in resources, completed as by a server.
//!
//! They are generated from the types of k8s-openapi, which take longer to compile than the rest of the demo: `generator`
//! writes them to a file at development time, and the file is part of the program.

#[cfg(test)]
mod generator;

use std::io::Read;

use flate2::read::GzDecoder;

use super::node::Schemas;

/// The definitions by name as JSON, compressed by gzip.
const COMPRESSED: &[u8] = include_bytes!("../built_in.json.gz");

/// Decodes all schemas.
pub(super) fn schemas() -> Schemas {
    let mut json = Vec::new();
    let read = GzDecoder::new(COMPRESSED).read_to_end(&mut json);
    // The file can't be damaged: the tests read every schema in it.
    Schemas(read.ok().and_then(|_| serde_json::from_slice(&json).ok()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::demo::{kinds, schema};

    #[test]
    fn every_built_in_resource_has_a_schema() {
        for kind in kinds::built_in() {
            let node = schema::of(&kind).unwrap_or_else(|| panic!("{kind:?}"));
            assert!(node.member("metadata").is_some(), "{kind:?}");
        }
    }

    #[test]
    fn list_schemas_have_element_keys() {
        let pods = kinds::built_in().nth(kinds::PODS).expect("pods");
        let spec = schema::of(&pods).and_then(|pod| pod.member("spec")).expect("a spec");
        let containers = spec.member("containers").expect("containers");
        assert_eq!(containers.merge_key(), Some("name"));
        let ports = containers.element().and_then(|container| container.member("ports")).expect("ports");
        assert_eq!(
            (ports.merge_key(), ports.list_keys()),
            (Some("containerPort"), vec!["containerPort", "protocol"])
        );
        let tolerations = spec.member("tolerations").expect("tolerations");
        assert_eq!((tolerations.merge_key(), tolerations.list_keys().len()), (None, 0));
        let meta = schema::resources::object_meta().expect("metadata");
        assert!(meta.member("finalizers").expect("finalizers").is_set());
        assert_eq!(
            meta.member("labels").and_then(|labels| labels.member("any")).expect("a label").word("type"),
            "string"
        );
    }
}
