//! The parser for the JSON that servers write.

use std::borrow::Cow;

use super::envelope::{Envelope, Metadata};
use crate::object::json::{self, Entry, Members};

/// Parses the JSON that servers write in three quarters of `serde_json`'s time. It also returns the end of the object,
/// which saves another pass over a watch line. It returns `None` for invalid JSON and for valid JSON of unusual form:
/// names with escapes, duplicate members, or types that differ from the API conventions. In managedFields that are not
/// `kept` only brackets are checked: they are half of the text, and errors inside are dropped with them.
///
/// The caller checks the bytes after the end, and that the text is UTF-8.
pub(super) fn parse_fast(json: &[u8], kept: bool) -> Option<(Envelope<'_>, usize)> {
    parse_fast_with(json, kept, |name, at| skip_member(json, name, at))
}

/// Parses as [`parse_fast`] does. `skip` validates a member that is not needed, which has a name and begins at a position, and
/// returns its end.
pub(super) fn parse_fast_with(
    json: &[u8],
    kept: bool,
    mut skip: impl FnMut(&[u8], usize) -> Option<usize>,
) -> Option<(Envelope<'_>, usize)> {
    if *json.first()? != b'{' {
        return None;
    }
    let mut envelope = Envelope::default();
    let mut members = Members::of(json, 0);
    loop {
        let (name, at) = match members.next()? {
            Entry::Member(name, at) => (name.written, at),
            Entry::End(end) => return Some((envelope, end)),
        };
        let end = match name {
            b"apiVersion" => take_string(json, at, &mut envelope.api_version)?,
            b"kind" => take_string(json, at, &mut envelope.kind)?,
            b"metadata" => {
                let (metadata, end) = parse_fast_metadata(json, at, kept)?;
                set_once(&mut envelope.metadata, metadata)?;
                end
            }
            _ => skip(name, at)?,
        };
        members.step_over(end);
    }
}

/// Parses the metadata that begins at `at`, and returns its end.
fn parse_fast_metadata(json: &[u8], at: usize, kept: bool) -> Option<(Metadata<'_>, usize)> {
    if *json.get(at)? != b'{' {
        return None;
    }
    let mut metadata = Metadata::default();
    let mut members = Members::of(json, at);
    loop {
        let (name, at) = match members.next()? {
            Entry::Member(name, at) => (name.written, at),
            Entry::End(end) => return Some((metadata, end)),
        };
        let end = match name {
            b"name" => take_string(json, at, &mut metadata.name)?,
            b"namespace" => take_string(json, at, &mut metadata.namespace)?,
            b"uid" => take_string(json, at, &mut metadata.uid)?,
            b"resourceVersion" => take_string(json, at, &mut metadata.resource_version)?,
            b"labels" => take_source(json, at, &mut metadata.labels)?,
            b"ownerReferences" => take_source(json, at, &mut metadata.owner_references)?,
            b"managedFields" => {
                let skip = if kept { json::value } else { json::skip_brackets };
                let (value, end) = composite(json, at, skip)?;
                set_once(&mut metadata.managed_fields, value)?;
                end
            }
            _ => skip_member(json, name, at)?,
        };
        members.step_over(end);
    }
}

/// Stores a string without escapes and returns its end.
fn take_string<'a>(json: &'a [u8], at: usize, to: &mut Option<Cow<'a, str>>) -> Option<usize> {
    let end = (*json.get(at)? == b'"').then(|| json::value(json, at))??;
    let inside = &json[at + 1..end - 1];
    if memchr::memchr(b'\\', inside).is_some() {
        return None;
    }
    set_once(to, Cow::Borrowed(str::from_utf8(inside).ok()?))?;
    Some(end)
}

/// Stores the source text of an array or object and returns its end.
fn take_source<'a>(json: &'a [u8], at: usize, to: &mut Option<&'a str>) -> Option<usize> {
    let (value, end) = composite(json, at, json::value)?;
    set_once(to, str::from_utf8(value).ok()?)?;
    Some(end)
}

/// Returns the source bytes of an array or object, and its end, which `skip` finds.
fn composite(json: &[u8], at: usize, skip: fn(&[u8], usize) -> Option<usize>) -> Option<(&[u8], usize)> {
    let end = matches!(json.get(at)?, b'{' | b'[').then(|| skip(json, at))??;
    Some((&json[at..end], end))
}

/// Skips a member that is not needed, unless its name has escapes: it could spell a name that is.
pub(super) fn skip_member(json: &[u8], name: &[u8], at: usize) -> Option<usize> {
    if name.contains(&b'\\') { None } else { json::value(json, at) }
}

fn set_once<T>(to: &mut Option<T>, value: T) -> Option<()> {
    to.replace(value).is_none().then_some(())
}
