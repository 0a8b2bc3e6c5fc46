//! The recorded resources.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::catalog::Catalog;
use crate::object::ApiResource;
use crate::recording::files::FileError;

impl Catalog {
    /// Returns every resource of all readable files.
    pub(super) fn resources(&self) -> Result<Vec<Arc<ApiResource>>, FileError> {
        let mut all = Vec::new();
        // The segments name all resources, unless some can't be read or are missing.
        let (mut next, mut is_incomplete) = (0, false);
        for file in &self.segments {
            let read = unless_damaged(file.resources().and_then(|read| Ok((read, file.count()?))))?;
            is_incomplete |= read.is_none() || file.first() != next;
            let (resources, count) = read.unwrap_or_default();
            all.extend(resources);
            next = file.first() + count;
        }
        is_incomplete |= self.keyframes.last().is_some_and(|last| *last > next);
        for number in self.keyframes.iter().filter(|_| is_incomplete) {
            if let Some(keyframe) = unless_damaged(self.open_keyframe(*number))? {
                all.extend(keyframe.footer().tables.resources.iter().cloned());
            }
        }
        Ok(sorted_resources(all.iter()))
    }

    /// Returns the resources that the last sealed segment and the last keyframe name.
    pub(super) fn recent_resources(&self) -> Result<Vec<Arc<ApiResource>>, FileError> {
        let mut all = Vec::new();
        if let Some(file) = self.segments.iter().rfind(|file| file.is_sealed()) {
            all.extend(unless_damaged(file.resources())?.unwrap_or_default());
        }
        if let Some(number) = self.keyframes.last()
            && let Some(keyframe) = unless_damaged(self.open_keyframe(*number))?
        {
            all.extend(keyframe.footer().tables.resources.iter().cloned());
        }
        Ok(sorted_resources(all.iter()))
    }

    /// Reads the tables of all files, and returns the first error.
    pub(super) fn check_tables(&self) -> Result<(), FileError> {
        self.segments.iter().try_for_each(|file| file.resources().map(drop))?;
        self.keyframes.iter().try_for_each(|number| self.open_keyframe(*number).map(drop))
    }
}

/// Returns `None` for damage. [`Catalog::check_tables`] reports it if a resource is missed, as does reading the entries.
fn unless_damaged<T>(read: Result<T, FileError>) -> Result<Option<T>, FileError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(FileError::Damaged(..)) => Ok(None),
        Err(error) => Err(error),
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
