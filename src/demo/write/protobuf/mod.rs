//! Decoding of Kubernetes' protobuf encoding, which `kubectl create` sends, by tables of its fields.
//!
//! An unknown field is skipped if it is empty, as most are, and rejected otherwise, so that no client data is lost
//! silently.

mod fields;
mod tables;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use crate::wire::protobuf::{Fields, MAGIC, Value as Wire};
use fields::{Field, Type};

/// Decodes the object in a body to JSON.
///
/// # Errors
/// A message if the body has another encoding, a kind without a table, or a non-empty unknown field.
pub(super) fn decode(body: &[u8]) -> Result<Value, String> {
    let body = body.strip_prefix(MAGIC).ok_or("provided data does not appear to be a protobuf message")?;
    let (mut type_meta, mut raw) = (json!({}), &b""[..]);
    for part in parts(body)? {
        match part {
            (1, Wire::Bytes(_)) => message(&mut type_meta, tables::ENVELOPE, "Unknown", &[part])?,
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let type_meta = type_meta["typeMeta"].take();
    let kind = type_meta["kind"].as_str().unwrap_or_default();
    let fields = tables::fields_of(type_meta["apiVersion"].as_str().unwrap_or_default(), kind)
        .ok_or(format!("the demo reads no {kind} in protobuf: send JSON"))?;
    let mut object = type_meta.clone();
    message(&mut object, fields, kind, &parts(raw)?)?;
    Ok(object)
}

/// The maximum depth of an unknown field that counts as empty: it is read recursively, and a client chooses its depth.
const MAX_EMPTY_LEVELS: usize = 32;

/// Returns whether a field is empty at every level, of which there are at most [`MAX_EMPTY_LEVELS`].
fn is_empty(value: Wire<'_>) -> bool {
    is_empty_within(value, MAX_EMPTY_LEVELS)
}

fn is_empty_within(value: Wire<'_>, levels: usize) -> bool {
    match value {
        Wire::Number(number) => number == 0,
        Wire::Bytes(b"") => true,
        Wire::Bytes(bytes) => levels.checked_sub(1).is_some_and(|levels| {
            Fields(bytes).all(|field| field.is_ok_and(|(_, value)| is_empty_within(value, levels)))
        }),
        Wire::Fixed(bytes) => bytes.iter().all(|byte| *byte == 0),
    }
}

/// Splits a message into its fields.
fn parts(message: &[u8]) -> Result<Vec<(u64, Wire<'_>)>, String> {
    Fields(message).collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Decodes the fields of a message into an object.
fn message(
    object: &mut Value,
    fields: &[Field],
    kind: &str,
    parts: &[(u64, Wire<'_>)],
) -> Result<(), String> {
    for (number, wire) in parts {
        match fields.iter().find(|(own, ..)| own == number) {
            Some((_, name, Type::Inline(fields))) => match wire {
                Wire::Bytes(bytes) => message(object, fields, name, &self::parts(bytes)?)?,
                Wire::Number(_) | Wire::Fixed(_) => return Err(format!("{name} is not of its type")),
            },
            Some((_, name, field_type)) => field(&mut object[*name], *field_type, name, *wire)?,
            None if is_empty(*wire) => {}
            None => {
                return Err(format!(
                    "the demo does not read field {number} of {kind} in protobuf: send JSON"
                ));
            }
        }
    }
    if let Value::Object(map) = object {
        map.retain(|_, value| !value.is_null());
    }
    Ok(())
}

/// Decodes one field into its value, to which repeated fields add.
fn field(target: &mut Value, field_type: Type, name: &str, wire: Wire<'_>) -> Result<(), String> {
    let mismatch = || format!("{name} is not of its type");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| mismatch());
    match (field_type, wire) {
        (Type::Text, Wire::Bytes(b""))
        | (Type::Count | Type::Flag, Wire::Number(0))
        | (Type::Unchanged, _) => {}
        (Type::Text, Wire::Bytes(bytes)) => *target = text(bytes)?.into(),
        // Negative numbers are encoded as their 64 bits.
        (Type::Count | Type::Number, Wire::Number(number)) => *target = number.cast_signed().into(),
        (Type::Bool | Type::Flag, Wire::Number(number)) => *target = (number != 0).into(),
        (Type::Texts, Wire::Bytes(bytes)) => push(target, text(bytes)?.into()),
        (Type::Map, Wire::Bytes(bytes)) => {
            let (key, value) = entry(bytes)?;
            insert(target, text(key)?, text(value)?);
        }
        (Type::Bytes, Wire::Bytes(bytes)) => {
            let (key, value) = entry(bytes)?;
            insert(target, text(key)?, STANDARD.encode(value));
        }
        (Type::Quantity, Wire::Bytes(bytes)) => *target = text(quantity(bytes)?)?.into(),
        (Type::Quantities, Wire::Bytes(bytes)) => {
            let (key, value) = entry(bytes)?;
            insert(target, text(key)?, text(quantity(value)?)?);
        }
        // These are included even if empty.
        (Type::Message(_), wire)
            if ["resources", "strategy", "updateStrategy"].contains(&name) && is_empty(wire) => {}
        (Type::Message(fields), Wire::Bytes(bytes)) => {
            if target.is_null() {
                *target = Map::new().into();
            }
            message(target, fields, name, &parts(bytes)?)?;
        }
        (Type::Messages(fields), Wire::Bytes(bytes)) => {
            let mut element = Map::new().into();
            message(&mut element, fields, name, &parts(bytes)?)?;
            push(target, element);
        }
        (Type::Time, Wire::Bytes(bytes)) => *target = time(bytes, 0)?.map_or(Value::Null, Value::from),
        (Type::MicroTime, Wire::Bytes(bytes)) => *target = time(bytes, 6)?.map_or(Value::Null, Value::from),
        (Type::Json, Wire::Bytes(bytes)) => {
            *target = serde_json::from_slice(quantity(bytes)?).map_err(|_| mismatch())?;
        }
        (Type::IntOrString, Wire::Bytes(bytes)) => {
            let parts = parts(bytes)?;
            let is_text = parts.contains(&(1, Wire::Number(1)));
            for part in parts {
                match part {
                    (2, Wire::Number(number)) if !is_text => *target = number.cast_signed().into(),
                    (3, Wire::Bytes(bytes)) if is_text => *target = text(bytes)?.into(),
                    _ => {}
                }
            }
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}

/// Decodes a timestamp with this number of fractional digits, or `None` for an empty message.
fn time(bytes: &[u8], digits: usize) -> Result<Option<String>, String> {
    let parts = parts(bytes)?;
    let number = |id| {
        let found = parts.iter().find_map(|part| match part {
            (number, Wire::Number(value)) if *number == id => Some(value.cast_signed()),
            _ => None,
        });
        found.unwrap_or_default()
    };
    if parts.is_empty() {
        return Ok(None);
    }
    // The seconds may be negative, but the nanoseconds count forwards.
    let nanos = i32::try_from(number(2)).ok().filter(|nanos| *nanos >= 0).ok_or("a time is not one")?;
    let time = Timestamp::new(number(1), nanos).map_err(|_| "a time is not one")?;
    let utc = time.to_zoned(TimeZone::UTC);
    let seconds = utc.strftime("%Y-%m-%dT%H:%M:%S");
    let rest = if digits == 0 { String::new() } else { format!(".{:06}", nanos / 1000) };
    Ok(Some(format!("{seconds}{rest}Z")))
}

/// Returns the string in a quantity message.
fn quantity(bytes: &[u8]) -> Result<&[u8], String> {
    let text = |(number, wire)| match (number, wire) {
        (1, Wire::Bytes(text)) => Some(text),
        _ => None,
    };
    Ok(parts(bytes)?.into_iter().find_map(text).unwrap_or_default())
}

/// Returns the key and value of a map entry; either may be omitted if empty.
fn entry(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let (mut key, mut value) = (&b""[..], &b""[..]);
    for part in parts(bytes)? {
        match part {
            (1, Wire::Bytes(bytes)) => key = bytes,
            (2, Wire::Bytes(bytes)) => value = bytes,
            _ => return Err("an entry of a map has a key and a value".to_owned()),
        }
    }
    Ok((key, value))
}

fn push(target: &mut Value, value: Value) {
    match target {
        Value::Array(values) => values.push(value),
        other => *other = vec![value].into(),
    }
}

fn insert(target: &mut Value, key: String, value: String) {
    match target {
        Value::Object(map) => drop(map.insert(key, value.into())),
        other => *other = Map::from_iter([(key, value.into())]).into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        let tag = [(number << 3 | 2) | 0x80, number >> 4 & 1];
        let tag = if number < 16 { vec![number << 3 | 2] } else { tag.to_vec() };
        [&tag[..], &[u8::try_from(content.len()).expect("short")], content].concat()
    }

    fn body(kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [bytes(1, b"v1"), bytes(2, kind.as_bytes())].concat();
        [&MAGIC[..], &bytes(1, &type_meta), &bytes(2, raw), &bytes(3, b"")].concat()
    }

    /// A field 15 that holds a field 15, and so on. Written from its end, since each length precedes its content.
    fn nested(levels: usize) -> Vec<u8> {
        let mut reversed: Vec<u8> = Vec::new();
        for _ in 0..levels {
            let (length, start) = (reversed.len(), reversed.len());
            let mut rest = length;
            while rest > 0x7f {
                reversed.push(u8::try_from(rest & 0x7f).expect("7 bits") | 0x80);
                rest >>= 7;
            }
            reversed.push(u8::try_from(rest).expect("7 bits"));
            reversed[start..].reverse();
            reversed.push(15 << 3 | 2);
        }
        reversed.reverse();
        reversed
    }

    #[test]
    fn deeply_nested_unknown_field_is_no_empty_field() {
        assert!(is_empty(Wire::Bytes(&nested(MAX_EMPTY_LEVELS))));
        assert!(!is_empty(Wire::Bytes(&nested(MAX_EMPTY_LEVELS + 1))));
        // Deep enough to exhaust the stack of a thread, were it read to its end.
        let raw = nested(30_000);
        assert!(!is_empty(Wire::Bytes(&raw)));
        assert!(decode(&[&MAGIC[..], &raw[..]].concat()).is_err());
    }

    #[test]
    fn number_of_more_than_64_bits_is_an_error() {
        let number = [&[8][..], &[0xff; 9], &[2]].concat();
        assert!(parts(&number).is_err());
        let largest = [&[8][..], &[0xff; 9], &[1]].concat();
        assert_eq!(parts(&largest), Ok(vec![(1, Wire::Number(u64::MAX))]));
    }

    #[test]
    fn protobuf_fields_are_decoded_and_empty_ones_skipped() {
        let labels = bytes(11, &[bytes(1, b"a"), bytes(2, b"b")].concat());
        let meta = bytes(1, &[bytes(1, b"web"), bytes(2, b""), bytes(8, b""), labels].concat());
        let container =
            [bytes(1, b"c"), bytes(2, b"nginx"), bytes(4, b"x"), bytes(4, b""), bytes(8, b"")].concat();
        let template = bytes(3, &[bytes(1, b""), bytes(2, &bytes(2, &container))].concat());
        let spec = bytes(2, &[vec![8, 0], template, bytes(4, &bytes(1, b"")), vec![40, 0]].concat());
        let read = decode(&body("Deployment", &[meta, spec, bytes(3, &[8, 0])].concat())).expect("fine");
        let template = json!({
            "metadata": {}, "spec": {"containers": [{"name": "c", "image": "nginx", "args": ["x", ""]}]},
        });
        assert_eq!(
            read,
            json!({
                "apiVersion": "v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "b"}},
                "spec": {"replicas": 0, "template": template},
            })
        );
        let data = bytes(2, &[bytes(1, b"k"), bytes(2, &[0xff, 0])].concat());
        assert_eq!(decode(&body("Secret", &data)).expect("fine")["data"], json!({"k": "/wA="}));
        let port =
            |port: &[u8]| decode(&body("Service", &bytes(2, &bytes(1, &bytes(4, port))))).expect("fine");
        assert_eq!(port(&[8, 0, 16, 80])["spec"]["ports"][0]["targetPort"], 80);
        assert_eq!(
            port(&[&[8, 1][..], &bytes(3, b"http")].concat())["spec"]["ports"][0]["targetPort"],
            "http"
        );
    }

    #[test]
    fn objects_can_be_written_back_with_server_fields() {
        let time = bytes(8, &[8, 0xd6, 0xa2, 0x89, 0xd8, 6, 16, 0]);
        let managed = [bytes(1, b"m"), bytes(4, &[8, 1]), bytes(7, &bytes(1, b"{\"f:spec\":{}}"))].concat();
        let managed = [vec![0x8a, 1, u8::try_from(managed.len()).expect("short")], managed].concat();
        let meta = bytes(1, &[bytes(1, b"web"), vec![56, 3], time, bytes(9, b""), managed].concat());
        let spec = bytes(2, &[vec![8, 3], vec![56, 0]].concat());
        let status = bytes(3, &bytes(15, b"anything"));
        let read = decode(&body("Deployment", &[meta, spec, status].concat())).expect("fine");
        let entry = json!({"manager": "m", "time": "1970-01-01T00:00:01Z", "fieldsV1": {"f:spec": {}}});
        assert_eq!(
            read["metadata"],
            json!({
                "name": "web", "generation": 3, "creationTimestamp": "2026-11-22T02:20:06Z",
                "managedFields": [entry],
            })
        );
        assert_eq!((&read["spec"], read.get("status")), (&json!({"replicas": 3}), None));
        let lease = bytes(2, &bytes(4, &[8, 1, 16, 0xd0, 0x0f]));
        let lease = decode(&body("Lease", &lease)).expect("fine");
        assert_eq!(lease["spec"]["renewTime"], "1970-01-01T00:00:01.000002Z");
    }

    #[test]
    fn unknown_kinds_and_fields_are_rejected() {
        let affinity = bytes(2, &bytes(3, &bytes(2, &bytes(18, &bytes(1, &bytes(1, b"data"))))));
        assert!(decode(&body("Deployment", &affinity)).expect_err("unknown").contains("field 18 of spec"));
        assert!(decode(&body("Binding", b"")).is_err());
        assert!(decode(b"{}").is_err());
        assert!(decode(&body("ConfigMap", &[10, 200])).is_err());
    }

    proptest! {
        #[test]
        fn decoding_arbitrary_bytes_does_not_panic(raw: Vec<u8>, kind in "Deployment|Service|Secret|Job|DeleteOptions") {
            let length = u8::try_from(raw.len().min(100)).expect("short");
            let _any = decode(&body(&kind, &raw[..usize::from(length)]));
            let _any = decode(&raw);
        }
    }
}
