//! JSON text as kubectl prints it, written from the compact text of an object without a tree.

use std::cmp::Ordering;

use super::JsonValue;
use super::text_buffer::TextBuffer;
use super::write::{first_escaped, string};
use crate::object::json::{self, JsonBrackets};

/// The nesting up to which text is written directly: that of [`JsonValue::parse`] is higher.
const MAX_NESTING: usize = 64;

/// The digits of a number that fits an `i64`.
const MAX_DIGITS: usize = 18;

impl JsonValue<'_> {
    /// Appends JSON text as `JsonValue::parse(json).write_indented(depth, out)` does. That of a compact text of usual
    /// form is copied in parts, which takes a third of the time; any other text is parsed.
    pub fn write_text_indented(json: &[u8], depth: usize, out: &mut Vec<u8>) {
        let start = out.len();
        let is_text = str::from_utf8(json).is_ok();
        let brackets = &JsonBrackets::of(json);
        let text = TextBuffer::with_room(out, 2 * json.len());
        let mut indenter = Indenter { json, brackets, depth, out: text, members: Vec::new() };
        let is_written = is_text && indenter.value(0, depth) == Some(json.len());
        indenter.out.finish();
        if !is_written {
            out.truncate(start);
            JsonValue::parse(json).write_indented(depth, out);
        }
    }
}

/// A member of an object, by its positions in the text.
#[derive(Clone, Copy)]
struct Member<'a> {
    /// The key as written, without its quotes.
    key: &'a [u8],
    /// The first bytes of the key as a number in the same order, which is compared faster.
    prefix: u64,
    value: usize,
    end: usize,
    /// Whether the value is a string that is printed as it is written.
    is_plain: bool,
}

impl Member<'_> {
    fn order(&self, other: &Self) -> Ordering {
        self.prefix.cmp(&other.prefix).then_with(|| self.key.cmp(other.key))
    }
}

/// Writes one text. Its functions return `None` for text that must be parsed.
struct Indenter<'a> {
    json: &'a [u8],
    /// The ends of the values in it: the members of an object are found before they are written, in the order of their keys.
    brackets: &'a JsonBrackets,
    /// The depth of the whole text.
    depth: usize,
    out: TextBuffer<'a>,
    /// The members of the enclosing objects, innermost last.
    members: Vec<Member<'a>>,
}

impl Indenter<'_> {
    /// Writes the value at a position and returns its end.
    fn value(&mut self, at: usize, depth: usize) -> Option<usize> {
        match *self.json.get(at)? {
            b'"' => self.text(at),
            b'{' => self.object(at, depth),
            b'[' => self.array(at, depth),
            _ => self.scalar(at),
        }
    }

    fn object(&mut self, at: usize, depth: usize) -> Option<usize> {
        if self.json.get(at + 1) == Some(&b'}') {
            self.out.push_long(b"{}");
            return Some(at + 2);
        }
        if depth - self.depth >= MAX_NESTING {
            return None;
        }
        let base = self.members.len();
        let end = self.find_members(at + 1)?;
        self.sort(base)?;
        for number in base..self.members.len() {
            let Member { key, value, end, is_plain, .. } = self.members[number];
            if number == base {
                self.out.new_line_after::<b'{'>(depth + 1);
            } else {
                self.out.new_line_after::<b','>(depth + 1);
            }
            // The key with its quotes and the colon.
            self.out.push_part(self.json, value - key.len() - 3, value);
            self.out.push(b' ');
            if is_plain {
                self.out.push_part(self.json, value, end);
            } else if self.value(value, depth + 1)? != end {
                return None;
            }
        }
        self.members.truncate(base);
        self.out.new_line(depth);
        self.out.push(b'}');
        Some(end)
    }

    /// Adds the members of the object whose first key is at a position, and returns the end of the object.
    fn find_members(&mut self, mut at: usize) -> Option<usize> {
        loop {
            let key_end = plain_text(self.json, at)?;
            if self.json.get(key_end) != Some(&b':') {
                return None;
            }
            let (key, value) = (&self.json[at + 1..key_end - 1], key_end + 1);
            let plain_end = plain_text(self.json, value);
            let end = plain_end.or_else(|| json::skip(self.json, value, Some(self.brackets)))?;
            let prefix = prefix(self.json, at + 1, key.len());
            self.members.push(Member { key, prefix, value, end, is_plain: plain_end.is_some() });
            match self.json.get(end)? {
                b',' => at = end + 1,
                b'}' => return Some(end + 1),
                _ => return None,
            }
        }
    }

    /// Sorts the members of an object by their keys, which must differ. `base` is the number of the first one.
    fn sort(&mut self, base: usize) -> Option<()> {
        let members = &mut self.members[base..];
        if !members.is_sorted_by(|one, next| one.order(next).is_lt()) {
            members.sort_unstable_by(Member::order);
            if members.windows(2).any(|pair| pair[0].order(&pair[1]).is_eq()) {
                return None;
            }
        }
        Some(())
    }

    fn array(&mut self, at: usize, depth: usize) -> Option<usize> {
        if self.json.get(at + 1) == Some(&b']') {
            self.out.push_long(b"[]");
            return Some(at + 2);
        }
        if depth - self.depth >= MAX_NESTING {
            return None;
        }
        self.out.new_line_after::<b'['>(depth + 1);
        let mut at = at + 1;
        loop {
            let end = self.value(at, depth + 1)?;
            match self.json.get(end)? {
                b',' => self.out.new_line_after::<b','>(depth + 1),
                b']' => {
                    self.out.new_line(depth);
                    self.out.push(b']');
                    return Some(end + 1);
                }
                _ => return None,
            }
            at = end + 1;
        }
    }

    /// Writes a string, unchanged unless a character in it has or needs an escape.
    fn text(&mut self, at: usize) -> Option<usize> {
        if let Some(end) = plain_text(self.json, at) {
            self.out.push_part(self.json, at, end);
            return Some(end);
        }
        let end = json::value(self.json, at)?;
        let JsonValue::Text(text) = JsonValue::parse(&self.json[at..end]) else { return None };
        self.out.append(|out| string(&text, out));
        Some(end)
    }

    /// Writes a number or literal, unchanged unless it may be a float.
    fn scalar(&mut self, at: usize) -> Option<usize> {
        let end = json::value(self.json, at)?;
        let text = &self.json[at..end];
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let is_literal = text[0].is_ascii_lowercase();
        let is_integer = digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_digit) && text != b"-0";
        if is_literal || is_integer {
            self.out.push_part(self.json, at, end);
        } else {
            match JsonValue::parse(text) {
                JsonValue::Raw(_) => return None,
                number => self.out.append(|out| number.write_indented(0, out)),
            }
        }
        Some(end)
    }
}

/// For each number of bytes, the bits of that many first bytes.
const FIRST_BYTES: [u64; 9] = {
    let mut bits = [0; 9];
    let mut count = 1;
    while count <= 8 {
        bits[count] = bits[count - 1] >> 8 | 0xff << 56;
        count += 1;
    }
    bits
};

/// Returns the first eight bytes of a key as a number. A shorter key has zeros after it, which no plain key contains.
#[inline(always)]
fn prefix(json: &[u8], at: usize, len: usize) -> u64 {
    let bytes = json[at..].first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        let key = &json[at..at + len.min(8)];
        bytes[..key.len()].copy_from_slice(key);
        bytes
    });
    u64::from_be_bytes(bytes) & FIRST_BYTES[len.min(8)]
}

/// Returns the end of the string at a position, if it is printed as it is written.
#[inline(always)]
fn plain_text(json: &[u8], at: usize) -> Option<usize> {
    if json.get(at) != Some(&b'"') {
        return None;
    }
    let inside = json.get(at + 1..)?;
    let end = first_escaped(inside)?;
    (inside[end] == b'"').then_some(at + end + 2)
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
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let too_deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        let texts = [
            "",
            "{",
            "-0",
            "01",
            "1 ",
            "12345678901234567890",
            "\"\u{2028}\"",
            r#"{"a":1,"a":2}"#,
            r#""\u00e9""#,
        ];
        for text in texts.into_iter().chain([deep.as_str(), &too_deep]) {
            assert_eq!(written(text.as_bytes(), 1), expected(text.as_bytes(), 1), "{text}");
        }
    }
}
