//! Encoders of messages for tests.

use super::MAGIC;

/// Encodes a field of bytes.
pub(crate) fn field(at: u8, value: &[u8]) -> Vec<u8> {
    [vec![tag(at) | 2], written(value.len() as u64), value.to_vec()].concat()
}

/// Encodes a field with a number.
pub(crate) fn number(at: u8, value: u64) -> Vec<u8> {
    [vec![tag(at)], written(value)].concat()
}

fn tag(at: u8) -> u8 {
    assert!(at < 16, "a tag of one byte");
    at << 3
}

pub(crate) fn written(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).expect("seven bits") | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).expect("seven bits"));
    out
}

/// Encodes an envelope of an object or a list of that type.
pub(crate) fn envelope(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let type_meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
    [&MAGIC[..], &field(1, &type_meta), &field(2, message)].concat()
}

/// Encodes an event with the metadata of an object.
pub(crate) fn frame(event_type: &str, object: &[u8]) -> Vec<u8> {
    frame_of(event_type, "meta.k8s.io/v1", "PartialObjectMetadata", object)
}

/// Encodes an event with an object of that type.
pub(crate) fn frame_of(event_type: &str, api_version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let envelope = envelope(api_version, kind, object);
    [field(1, event_type.as_bytes()), field(2, &field(1, &envelope))].concat()
}
