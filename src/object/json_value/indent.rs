//! JSON text as kubectl prints it, written from the compact text of an object without a tree.

use std::ops::Range;

use super::JsonValue;
use super::outline::{Form, MAX_NESTING, Outline};

/// The length of parts that are copied at once, whatever their own length: a copy of a constant length needs no call.
const SHORT: usize = 64;

/// The same for line breaks with the blanks after them, which are longer in nested values.
const LINE: usize = 64;

impl JsonValue<'_> {
    /// Appends JSON text as `JsonValue::parse(json).write_indented(depth, out)` does. That of a compact text of usual
    /// form is copied in parts, which takes a third of the time or less; any other text is parsed.
    pub fn write_text_indented(json: &[u8], depth: usize, out: &mut Vec<u8>) {
        let Some(outline) = Outline::of(json) else {
            return JsonValue::parse(json).write_indented(depth, out);
        };
        let start = out.len();
        let printed_len = outline.printed_len + 4 * depth * outline.line_breaks;
        out.resize(start + printed_len + LINE, 0);
        let end = print(json, &outline, depth, TextBuffer { out: &mut out[start..], len: 0 });
        debug_assert_eq!(end, printed_len);
        out.truncate(start + printed_len);
    }
}

/// An array or object of which the nodes are being printed.
#[derive(Clone, Copy)]
struct Level {
    /// The nodes that are not printed yet, by their numbers.
    next: usize,
    end: usize,
    close: u8,
}

/// Prints a text whose first line is indented `depth` times, and returns the length. A loop, not a recursion: the position
/// in the output stays in a register.
fn print(json: &[u8], outline: &Outline, depth: usize, mut out: TextBuffer<'_>) -> usize {
    let mut level = Level { next: 0, end: 0, close: b' ' };
    let mut outer = [level; MAX_NESTING];
    let mut nesting = 0;
    let mut node = &outline.root;
    loop {
        let Range { start, end } = node.range();
        let (inner, mut before) = match node.form {
            Form::Written => {
                out.push_part(json, start, end);
                (None, b',')
            }
            Form::Encoded => {
                out.push_part(&outline.encoded, start, end);
                (None, b',')
            }
            Form::Array => (Some(Level { next: start, end, close: b']' }), b'['),
            Form::Object => (Some(Level { next: start, end, close: b'}' }), b'{'),
        };
        if let Some(inner) = inner {
            outer[nesting] = level;
            nesting += 1;
            level = inner;
        }
        while level.next == level.end {
            if nesting == 0 {
                return out.len;
            }
            nesting -= 1;
            out.new_line(depth + nesting);
            out.push(level.close);
            level = outer[nesting];
            before = b',';
        }
        out.push(before);
        out.new_line(depth + nesting);
        node = outline.node(level.next);
        level.next += 1;
        let key = node.key();
        if !key.is_empty() {
            out.push_part(json, key.start, key.end);
            out.push(b' ');
        }
    }
}

/// A buffer for text that is written in many short parts.
struct TextBuffer<'a> {
    /// Has room for the text and for one more [`LINE`].
    out: &'a mut [u8],
    /// The end of the text. The bytes after it are zero, or parts of copies.
    len: usize,
}

impl TextBuffer<'_> {
    /// Appends a byte.
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.out[self.len] = byte;
        self.len += 1;
    }

    /// Appends a part of a text.
    #[inline(always)]
    fn push_part(&mut self, text: &[u8], start: usize, end: usize) {
        let count = end - start;
        match (text[start..].first_chunk::<SHORT>(), self.out[self.len..].first_chunk_mut::<SHORT>()) {
            (Some(chunk), Some(room)) if count <= SHORT => *room = *chunk,
            _ => self.out[self.len..][..count].copy_from_slice(&text[start..end]),
        }
        self.len += count;
    }

    /// Appends a line break and the blanks of the next line.
    #[inline(always)]
    fn new_line(&mut self, depth: usize) {
        const LINE_BREAK: [u8; LINE] = {
            let mut text = [b' '; LINE];
            text[0] = b'\n';
            text
        };
        let count = 1 + 4 * depth;
        match self.out[self.len..].first_chunk_mut::<LINE>() {
            Some(room) if count <= LINE => *room = LINE_BREAK,
            _ => {
                self.out[self.len..][..count].fill(b' ');
                self.out[self.len] = b'\n';
            }
        }
        self.len += count;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn expected(json: &[u8], depth: usize) -> String {
        let mut out = b"before ".to_vec();
        JsonValue::parse(json).write_indented(depth, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn written(json: &[u8], depth: usize) -> String {
        let mut out = b"before ".to_vec();
        JsonValue::write_text_indented(json, depth, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-9i64..9).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z<&\"\\\\\u{2028}\u{e9}\n ]{0,6}".prop_map(Value::from),
            "[a-z]{0,140}[a-z\u{2028}\u{e9}]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-d<\"]{0,3}", inner), 0..6)
                    .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn text_is_written_as_its_tree(value in value(), depth in 0usize..3) {
            let json = value.to_string();
            prop_assert_eq!(written(json.as_bytes(), depth), expected(json.as_bytes(), depth));
            let spaced = serde_json::to_vec_pretty(&value).expect("JSON");
            prop_assert_eq!(written(&spaced, depth), expected(&spaced, depth));
        }

        /// Texts whose members have any order and may occur twice.
        #[test]
        fn members_are_sorted_in_text(keys in prop::collection::vec("(abcdefgh)?[a-c]{0,2}", 0..9), nested in any::<bool>()) {
            let inner = if nested { r#"{"z":[1,"x"],"a":{}}"# } else { "1.50" };
            let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":{inner}")).collect();
            let json = format!("{{{}}}", members.join(","));
            prop_assert_eq!(written(json.as_bytes(), 2), expected(json.as_bytes(), 2));
        }

        #[test]
        fn damaged_text_is_written_as_it_is_parsed(at in 0usize..60, byte in any::<u8>()) {
            let mut json = br#"{"b":[1,-0,2e3,"x\u003c"],"a":{"d":null,"c":true},"b2":"<\n"}"#.to_vec();
            let at = at % json.len();
            json[at] = byte;
            prop_assert_eq!(written(&json, 0), expected(&json, 0));
        }
    }

    #[test]
    fn unusual_texts_are_written_as_their_trees() {
        let nested = format!("{}1{}", r#"{"a":["#.repeat(30), "]}".repeat(30));
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let too_deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        let texts = [
            "",
            "{",
            "-0",
            "01",
            "1 ",
            "12345678901234567890",
            "[0,00,7,123456789012345678,1234567890123456789,1e3,-5]",
            "\"\u{2028}\"",
            r#"{"a":1,"a":2}"#,
            r#""\u00e9""#,
        ];
        for text in texts.into_iter().chain([&nested, &deep, &too_deep].map(String::as_str)) {
            assert_eq!(written(text.as_bytes(), 1), expected(text.as_bytes(), 1), "{text}");
        }
    }
}
