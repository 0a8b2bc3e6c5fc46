//! The recorded resources.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::catalog::Catalog;
use crate::object::ApiResource;
use crate::recording::files::FileError;

impl Catalog {
    /// Returns every resource of all files.
    pub(super) fn resources(&self) -> Result<Vec<Arc<ApiResource>>, FileError> {
        let mut all = Vec::new();
        for file in &self.segments {
            all.extend(file.open()?.tables().resources.iter().cloned());
        }
        for number in &self.keyframes {
            all.extend(self.open_keyframe(*number)?.footer().tables.resources.iter().cloned());
        }
        Ok(sorted_resources(all.iter()))
    }
}

/// Returns resources without duplicates, sorted by group, name and version.
pub(super) fn sorted_resources<'a>(all: impl Iterator<Item = &'a Arc<ApiResource>>) -> Vec<Arc<ApiResource>> {
    let mut seen = BTreeSet::new();
    let mut resources: Vec<Arc<ApiResource>> = Vec::new();
    for resource in all {
        let ApiResource { group, version, resource: name, kind, namespaced } = &**resource;
        if seen.insert((group, name, version, kind, namespaced)) {
            resources.push(Arc::clone(resource));
        }
    }
    resources.sort_by(|one, other| {
        (&one.group, &one.resource, &one.version).cmp(&(&other.group, &other.resource, &other.version))
    });
    resources
}
