//! The text of an object as it is stored, cut from the text that the server sent.

use std::ops::Range;

use crate::object::body::Whitespace;

/// Returns the range of the member with this value in `json`, with its name and one adjacent comma. `value` must be a
/// subslice of `json`. A member whose name has escapes is kept: no server writes one.
pub(super) fn member_span(json: &[u8], value: &[u8]) -> Range<usize> {
    const NAME: &[u8] = b"\"managedFields\"";
    let start = value.as_ptr().addr() - json.as_ptr().addr();
    let end = start + value.len();
    let before = json[..start].trim_ascii_end();
    let before = before.strip_suffix(b":").unwrap_or(before).trim_ascii_end();
    let Some(before) = before.strip_suffix(NAME) else { return 0..0 };
    let before = before.trim_ascii_end();
    if let Some(rest) = before.strip_suffix(b",") {
        return rest.len()..end;
    }
    let after = json[end..].trim_ascii_start();
    let comma = usize::from(after.first() == Some(&b','));
    before.len()..json.len() - after.len() + comma
}

/// Builds the stored text: `json` on one line, without the unwanted range, with the missing members inserted after the
/// first brace. The object has other members: one without metadata was rejected.
///
/// Only a server that pretty-prints puts a newline into an object (inside a JSON string it would be escaped), so the
/// usual text is copied in two pieces without a look at each byte.
pub(super) fn assemble(
    json: &[u8],
    missing: [(&str, Option<&str>); 2],
    unwanted: Range<usize>,
) -> Result<Box<[u8]>, serde_json::Error> {
    let missing = missing.iter().filter_map(|(name, value)| value.map(|value| (*name, value)));
    let added: usize =
        missing.clone().map(|(name, value)| name.len() + value.len() + r#""":"","#.len()).sum();
    // The exact capacity, so that boxing it does not copy.
    let mut out = Vec::with_capacity(json.len() + added - unwanted.len());
    out.push(b'{');
    for (name, value) in missing {
        serde_json::to_writer(&mut out, name)?;
        out.push(b':');
        serde_json::to_writer(&mut out, value)?;
        out.push(b',');
    }
    let kept = [&json[1..unwanted.start.max(1)], &json[unwanted.end.max(1)..]];
    if memchr::memchr2(b'\n', b'\r', json).is_none() {
        for part in kept {
            out.extend_from_slice(part);
        }
    } else {
        let mut whitespace = Whitespace::default();
        out.extend(kept.iter().copied().flatten().filter(|byte| !whitespace.is_at(**byte)));
    }
    Ok(out.into_boxed_slice())
}
