//! Replaces the values at the end of a path. Values that are not on the path are copied byte for byte; the objects
//! and arrays on it are written again, without whitespace.

use serde_json::value::RawValue;

use super::FieldPath;
use super::step::Step;
use crate::object::ObjectError;
use crate::object::raw_members::RawMembers;

/// The deepest nesting of arrays that a path is followed through.
const MAX_DEPTH: usize = 128;

impl FieldPath {
    /// Returns the JSON text with each value at the end of the path replaced. `replace` receives the JSON of a
    /// value and returns its replacement. The values are those of [`FieldPath::values_with`], and nulls.
    ///
    /// # Errors
    /// [`ObjectError::Malformed`] when the text is not valid JSON, or nests arrays too deeply.
    pub(crate) fn replaced(
        &self,
        json: &str,
        replace: &mut dyn FnMut(&str) -> String,
    ) -> Result<String, ObjectError> {
        let mut out = String::with_capacity(json.len());
        write(&self.0, json, MAX_DEPTH, replace, &mut out).map_err(ObjectError::from)?;
        Ok(out)
    }
}

/// Returns the JSON text with each of its strings, numbers and booleans replaced, at any depth.
///
/// # Errors
/// [`ObjectError::Malformed`] when the text is not valid JSON, or is nested too deeply.
pub(crate) fn replaced_leaves(
    json: &str,
    replace: &mut dyn FnMut(&str) -> String,
) -> Result<String, ObjectError> {
    let mut out = String::with_capacity(json.len());
    write_leaves(json, MAX_DEPTH, replace, &mut out).map_err(ObjectError::from)?;
    Ok(out)
}

fn write(
    steps: &[Step],
    json: &str,
    depth: usize,
    replace: &mut dyn FnMut(&str) -> String,
    out: &mut String,
) -> Result<(), serde_json::Error> {
    let Some((step, rest)) = steps.split_first() else {
        out.push_str(&replace(json));
        return Ok(());
    };
    let depth = deeper(depth)?;
    match (step, json.as_bytes().first()) {
        (Step::Name(_) | Step::Each, Some(b'{')) => write_members(json, out, |name, value, out| {
            let is_on_path =
                matches!(step, Step::Each) || matches!(step, Step::Name(only) if **only == *name);
            if !is_on_path {
                out.push_str(value);
                return Ok(());
            }
            write(rest, value, depth, replace, out)
        }),
        // A name applies to each element.
        (Step::Name(_), Some(b'[')) => {
            write_elements(json, out, |_, value, out| write(steps, value, depth, replace, out))
        }
        (Step::Each, Some(b'[')) => {
            write_elements(json, out, |_, value, out| write(rest, value, depth, replace, out))
        }
        (Step::Element(only), Some(b'[')) => write_elements(json, out, |at, value, out| {
            if at == *only {
                return write(rest, value, depth, replace, out);
            }
            out.push_str(value);
            Ok(())
        }),
        _ => {
            out.push_str(json);
            Ok(())
        }
    }
}

fn write_leaves(
    json: &str,
    depth: usize,
    replace: &mut dyn FnMut(&str) -> String,
    out: &mut String,
) -> Result<(), serde_json::Error> {
    match json.as_bytes().first() {
        Some(b'{') => {
            let depth = deeper(depth)?;
            write_members(json, out, |_, value, out| write_leaves(value, depth, replace, out))
        }
        Some(b'[') => {
            let depth = deeper(depth)?;
            write_elements(json, out, |_, value, out| write_leaves(value, depth, replace, out))
        }
        Some(b'n') => {
            out.push_str(json);
            Ok(())
        }
        _ => {
            out.push_str(&replace(json));
            Ok(())
        }
    }
}

fn deeper(depth: usize) -> Result<usize, serde_json::Error> {
    depth.checked_sub(1).ok_or_else(|| serde::de::Error::custom("nested too deeply"))
}

fn write_members(
    json: &str,
    out: &mut String,
    mut write: impl FnMut(&str, &str, &mut String) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    let members: RawMembers<'_> = serde_json::from_str(json)?;
    out.push('{');
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(&serde_json::to_string(name)?);
        out.push(':');
        write(name, value, out)?;
    }
    out.push('}');
    Ok(())
}

fn write_elements(
    json: &str,
    out: &mut String,
    mut write: impl FnMut(usize, &str, &mut String) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    let elements: Vec<&RawValue> = serde_json::from_str(json)?;
    out.push('[');
    for (at, value) in elements.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(at, value.get(), out)?;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(path: &str, json: &str) -> String {
        let path = FieldPath::parse(path).expect(path);
        path.replaced(json, &mut |value| format!("<{value}>")).expect(json)
    }

    #[test]
    fn values_at_the_end_of_a_path_are_replaced() {
        for (path, json, expected) in [
            ("a.b", r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"b":<1>,"c":2}}"#),
            ("a[*]", r#"{"a":{"b":1,"c":"x"}}"#, r#"{"a":{"b":<1>,"c":<"x">}}"#),
            ("a.b", r#"{"a":[{"b":1},{"c":2},[{"b":null}]]}"#, r#"{"a":[{"b":<1>},{"c":2},[{"b":<null>}]]}"#),
            ("a[1]", r#"{"a":[1.50,2e3]}"#, r#"{"a":[1.50,<2e3>]}"#),
            ("a", r#"{"a":{"b":1},"a":2}"#, r#"{"a":<{"b":1}>,"a":<2>}"#),
            ("a.b", r#"{"a":7}"#, r#"{"a":7}"#),
        ] {
            assert_eq!(replaced(path, json), expected, "{path}");
        }
    }

    #[test]
    fn leaves_at_any_depth_are_replaced() {
        let json = r#"{"a":[1,"x",{"b":true,"c":null}],"d":{}}"#;
        let leaves = replaced_leaves(json, &mut |_| "0".to_owned()).expect(json);
        assert_eq!(leaves, r#"{"a":[0,0,{"b":0,"c":null}],"d":{}}"#);
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert!(replaced_leaves(&deep, &mut |value| value.to_owned()).is_err());
        let path = FieldPath::parse("a").expect("a path");
        assert!(path.replaced(&deep, &mut |value| value.to_owned()).is_err());
    }
}
