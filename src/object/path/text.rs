//! The text that a path is evaluated over, and the form of the values in it.

use std::borrow::Cow;

use crate::object::body::Whitespace;

/// The text to evaluate.
#[derive(Clone, Copy)]
pub(super) enum Text<'w> {
    /// Text that may be invalid JSON.
    Any(&'w [u8]),
    /// Validated JSON, which is not checked a second time.
    Valid(&'w [u8]),
}

/// Calls `visit` with the form of a value that indices and tables use: a string without quotes, compact JSON for objects and
/// lists, and nothing for null.
pub(super) fn visit_value(raw: &str, visit: &mut dyn FnMut(&str)) -> Result<(), serde_json::Error> {
    match raw.as_bytes() {
        [b'n', ..] => {}
        [b'"', ..] if memchr::memchr(b'\\', raw.as_bytes()).is_none() => visit(&raw[1..raw.len() - 1]),
        [b'"', ..] => visit(&serde_json::from_str::<String>(raw)?),
        [b'{' | b'[', ..] => visit(&compact(raw)),
        _ => visit(raw),
    }
    Ok(())
}

/// Returns the text without insignificant whitespace; most bodies have none.
fn compact(json: &str) -> Cow<'_, str> {
    let mut whitespace = Whitespace::default();
    if json.bytes().any(|byte| whitespace.is_at(byte)) {
        let mut whitespace = Whitespace::default();
        // Whitespace is ASCII, and an ASCII byte is never part of another character.
        let is_kept = |char: &char| !u8::try_from(*char).is_ok_and(|byte| whitespace.is_at(byte));
        Cow::Owned(json.chars().filter(is_kept).collect())
    } else {
        Cow::Borrowed(json)
    }
}
