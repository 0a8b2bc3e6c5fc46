//! `get --subresource`: the differences between printing a subresource and printing its object.

use std::borrow::Cow;
use std::sync::Arc;

use kdelta::listwatch::Error;
use kdelta::object::{ApiResource, TypeMeta};
use kdelta::wire::Representation;

use crate::session::Part;
use crate::settings::{Format, Get};

/// Returns the representation to request instead of the one for objects. `-o name` needs the type of the subresource,
/// which metadata does not carry.
pub(super) fn representation(get: &Get, of_objects: Representation) -> Representation {
    match get.print.format {
        Format::Name if get.subresource.is_some() => Representation::Objects,
        _ => of_objects,
    }
}

/// Returns the part to print an object of this type under. As in kubectl, the names of subresources are prefixed with
/// their own type, such as `scale.autoscaling/web`, and their rows with that of the object.
pub(super) fn printed_part<'a>(get: &Get, part: &'a Part, type_meta: &TypeMeta) -> Cow<'a, Part> {
    if get.subresource.is_none() || get.print.format != Format::Name {
        return Cow::Borrowed(part);
    }
    let (group, version) = type_meta.api_version.split_once('/').unwrap_or(("", &type_meta.api_version));
    let resource = ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: type_meta.kind.clone(),
        ..(*part.resource).clone()
    };
    Cow::Owned(Part { resource: Arc::new(resource), ..part.clone() })
}

/// Whether the server has no such subresource. Its error names no object then.
pub(super) fn is_missing(get: &Get, error: &Error) -> bool {
    get.subresource.is_some() && matches!(error, Error::NotFound(_))
}
