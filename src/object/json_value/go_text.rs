//! Text as Go's `fmt` prints a value with `%v`.

use super::JsonValue;
use super::float::format_go_float;

impl JsonValue<'_> {
    /// Appends the value as Go's `fmt.Sprint` prints it: `map[a:1 b:[x y]]`, `<nil>`, strings without quotes.
    pub fn write_go_text(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"<nil>"),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Float(number) => out.extend_from_slice(format_go_float(*number).as_bytes()),
            Self::Array(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    out.extend((at > 0).then_some(b' '));
                    item.write_go_text(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.extend_from_slice(b"map[");
                for (at, (key, member)) in members.iter().enumerate() {
                    out.extend((at > 0).then_some(b' '));
                    out.extend_from_slice(key.as_bytes());
                    out.push(b':');
                    member.write_go_text(out);
                }
                out.push(b']');
            }
            Self::Bool(_) | Self::Int(_) | Self::Raw(_) => self.write_compact(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_matches_go() {
        let mut out = Vec::new();
        JsonValue::parse(br#"{"b":[1,2.5,1e21,null,[]],"a":"x y","c":{},"d":true}"#).write_go_text(&mut out);
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "map[a:x y b:[1 2.5 1e+21 <nil> []] c:map[] d:true]"
        );
    }
}
