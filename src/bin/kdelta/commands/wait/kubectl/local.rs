//! `--local --for=create`: printing the objects of files, which exist already.

use std::io::Write;
use std::sync::Arc;

use kdelta::object::{ApiResource, Ingest, Object};

use super::error::WaitError;
use crate::commands::files::document_error;
use crate::commands::format::print_failure;
use crate::exit::{ExitCode, Several};
use crate::manifest::{Described, Document, Entry};
use crate::output::{MetObjects, PrintError};

/// Prints the objects.
///
/// # Errors
/// A document describes no object, or an object has no name.
pub(super) fn print(
    entries: &[Entry],
    mut output: MetObjects,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let (mut errors, mut count) = (Vec::new(), 0);
    for Entry { found, .. } in entries {
        let described = match found {
            Ok(Document::Object(object)) => std::slice::from_ref(object),
            Ok(Document::List { items, .. }) => items,
            Err(error) => {
                errors.push(document_error(anyhow::Error::new(error.clone())));
                continue;
            }
        };
        for described in described {
            count += 1;
            let (resource, object) = match object(described) {
                Ok(found) => found,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            // As in kubectl, a template that does not fit an object is no failure.
            if let Err(failure @ PrintError::Write(_)) = output.object(&object, &resource, &mut out) {
                return Err(print_failure(failure));
            }
        }
    }
    match errors.as_slice() {
        [] if count == 0 => Err(WaitError::NotCreated.into()),
        [] => Ok(ExitCode::Ok),
        _ => Err(Several(errors).into()),
    }
}

/// Returns an object of a file with its type.
fn object(described: &Described) -> anyhow::Result<(Arc<ApiResource>, Object)> {
    if let Some(reason) = described.missing_type() {
        anyhow::bail!("unable to get type info from the object \"*unstructured.Unstructured\": {reason}");
    }
    if described.name.is_empty() {
        return Err(WaitError::Unnamed.into());
    }
    let (group, version) = described.group_version();
    let resource = Arc::new(ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: described.kind.to_lowercase(),
        kind: described.kind.clone(),
        namespaced: !described.namespace.is_empty(),
    });
    let ingest = Ingest { keep_managed_fields: true, ..Ingest::of(resource.type_meta()) };
    Ok((resource, Object::from_json(described.body.as_bytes(), &ingest)?))
}
