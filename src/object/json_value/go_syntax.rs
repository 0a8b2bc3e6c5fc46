//! Text as Go's `fmt` prints a value with `%#v`.

use super::float::format_go_float;
use super::{JsonValue, go_quote};

impl JsonValue<'_> {
    /// Appends the value in Go's syntax, as kubectl describes an object to which a template does not apply:
    /// `map[string]interface {}{"a":1, "b":[]interface {}{"x"}}`.
    pub fn write_go_syntax(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"interface {}(nil)"),
            Self::Text(text) => out.extend_from_slice(go_quote(text).as_bytes()),
            Self::Float(number) => out.extend_from_slice(format_go_float(*number).as_bytes()),
            Self::Array(items) => {
                out.extend_from_slice(b"[]interface {}{");
                for (at, item) in items.iter().enumerate() {
                    out.extend_from_slice(if at > 0 { b", " } else { b"" });
                    item.write_go_syntax(out);
                }
                out.push(b'}');
            }
            Self::Object(members) => {
                out.extend_from_slice(b"map[string]interface {}{");
                for (at, (key, member)) in members.iter().enumerate() {
                    out.extend_from_slice(if at > 0 { b", " } else { b"" });
                    out.extend_from_slice(go_quote(key).as_bytes());
                    out.push(b':');
                    member.write_go_syntax(out);
                }
                out.push(b'}');
            }
            Self::Bool(_) | Self::Int(_) | Self::Raw(_) => self.write_compact(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The output of Go's `fmt.Sprintf("%#v", …)` for this value.
    #[test]
    fn syntax_matches_go() {
        let mut out = Vec::new();
        JsonValue::parse(br#"{"b":[1,2.5,1e21,null,[]],"a":"x\ty","c":{},"d":true}"#)
            .write_go_syntax(&mut out);
        assert_eq!(
            String::from_utf8(out).expect("text"),
            r#"map[string]interface {}{"a":"x\ty", "b":[]interface {}{1, 2.5, 1e+21, interface {}(nil), []interface {}{}}, "c":map[string]interface {}{}, "d":true}"#
        );
    }
}
