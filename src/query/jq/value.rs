//! Values of the interpreter from JSON, and to JSON.

use std::borrow::Cow;

use jaq_core::data::JustLut;
use jaq_json::{Map, Num, Rc, Val};

use super::error::JqError;
use crate::object::JsonValue;

/// The interpreter's data: values of JSON, and nothing but the compiled definitions in addition.
pub(super) type Data = JustLut<Val>;

/// Converts a value. Objects keep their sorted keys. The parser bounds the depth.
///
/// # Errors
/// [`JqError::TooDeep`] for a value that was not parsed.
pub(super) fn of_json(value: &JsonValue<'_>) -> Result<Val, JqError> {
    Ok(match value {
        JsonValue::Null => Val::Null,
        JsonValue::Bool(value) => Val::Bool(*value),
        JsonValue::Int(number) => int(*number),
        JsonValue::Float(number) => Val::Num(Num::Float(*number)),
        JsonValue::Text(text) => of_text(text),
        JsonValue::Array(items) => Val::Arr(Rc::new(items.iter().map(of_json).collect::<Result<_, _>>()?)),
        JsonValue::Object(members) => {
            let pair = |(key, value): &(Cow<'_, str>, JsonValue<'_>)| Ok((of_text(key), of_json(value)?));
            Val::Obj(Rc::new(members.iter().map(pair).collect::<Result<Map, _>>()?))
        }
        JsonValue::Raw(_) => return Err(JqError::TooDeep),
    })
}

/// The deepest result that is written, in levels: jq's limit.
const MAX_DEPTH: usize = 10_000;

/// Appends a value as compact JSON. What JSON does not have is written as jq does: NaN as `null`, infinity as the largest
/// number, and bytes and keys of other types as strings.
///
/// # Errors
/// [`JqError::ResultTooDeep`] for a value at that depth that is nested too deeply.
pub(super) fn write_json(value: &Val, depth: usize, out: &mut Vec<u8>) -> Result<(), JqError> {
    if depth > MAX_DEPTH {
        return Err(JqError::ResultTooDeep);
    }
    match value {
        Val::Null => out.extend_from_slice(b"null"),
        Val::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Val::Num(Num::Float(number)) if number.is_nan() => out.extend_from_slice(b"null"),
        Val::Num(Num::Float(number)) if number.is_infinite() => {
            out.extend_from_slice(if *number > 0.0 { &b""[..] } else { b"-" });
            out.extend_from_slice(b"1.7976931348623157e+308");
        }
        Val::Num(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Val::TStr(text) | Val::BStr(text) => write_text(text, out),
        Val::Arr(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                out.extend_from_slice(if at == 0 { b"" } else { b"," });
                write_json(item, depth + 1, out)?;
            }
            out.push(b']');
        }
        Val::Obj(members) => {
            out.push(b'{');
            for (at, (key, member)) in members.iter().enumerate() {
                out.extend_from_slice(if at == 0 { b"" } else { b"," });
                match key {
                    Val::TStr(text) | Val::BStr(text) => write_text(text, out),
                    other => {
                        let mut text = Vec::new();
                        write_json(other, depth + 1, &mut text)?;
                        write_text(&text, out);
                    }
                }
                out.push(b':');
                write_json(member, depth + 1, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

fn write_text(text: &[u8], out: &mut Vec<u8>) {
    // Writing to a Vec can't fail.
    let _ = serde_json::to_writer(out, &String::from_utf8_lossy(text));
}

fn of_text(text: &str) -> Val {
    Val::utf8_str(text.to_owned())
}

#[expect(clippy::cast_precision_loss, reason = "only where a machine word is shorter than 64 bits")]
fn int(number: i64) -> Val {
    Val::Num(isize::try_from(number).map_or_else(|_| Num::Float(number as f64), Num::Int))
}
