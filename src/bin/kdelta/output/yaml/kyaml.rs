//! KYAML, the dialect of YAML that kubectl prints for `-o kyaml`: braces and brackets, quoted strings, and unquoted keys.
//!
//! The layout is that of the package `sigs.k8s.io/yaml/kyaml`.

use std::fmt::Write as _;
use std::io::{self, Write};

use kdelta::lines::ChangeKind;
use kdelta::object::{JsonValue, Object, format_json_float, is_go_printable};

use super::plain;

/// Writes one object as a document of its own.
///
/// # Errors
/// `out` failed.
pub(crate) fn document(object: &Object, out: &mut impl Write) -> io::Result<()> {
    value(&JsonValue::parse(&object.json_or_names()), out)
}

/// Writes a value as a document of its own, with members in their order.
///
/// # Errors
/// `out` failed.
pub(crate) fn value(value: &JsonValue<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut text = String::from("---\n");
    node(value, 0, &mut text);
    text.push('\n');
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a change of an object as a document: a mapping of `type` and `object`.
///
/// # Errors
/// `out` failed.
pub(crate) fn event(object: &Object, kind: ChangeKind, out: &mut impl Write) -> io::Result<()> {
    let mut text = format!("---\n{{\n  type: \"{}\",\n  object: ", kind.as_str());
    node(&JsonValue::parse(&object.json_or_names()), 1, &mut text);
    text.push_str(",\n}\n");
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A `List` whose items are written as they arrive; at most one is held in memory.
#[derive(Default)]
pub(crate) struct KyamlList {
    any: bool,
    text: String,
}

impl KyamlList {
    /// Writes one item.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn item(&mut self, object: &Object, out: &mut impl Write) -> io::Result<()> {
        self.text.clear();
        self.text.push_str(if self.any { ", " } else { "---\n{\n  apiVersion: \"v1\",\n  items: [" });
        self.any = true;
        node(&JsonValue::parse(&object.json_or_names()), 1, &mut self.text);
        out.write_all(self.text.as_bytes())
    }

    /// Writes the end of the list, or an empty list if there were no items.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn finish(self, out: &mut impl Write) -> io::Result<()> {
        let end = if self.any { "],\n" } else { "---\n{\n  apiVersion: \"v1\",\n  items: [],\n" };
        out.write_all(end.as_bytes())?;
        out.write_all(b"  kind: \"List\",\n  metadata: {\n    resourceVersion: \"\",\n  },\n}\n")?;
        out.flush()
    }
}

/// Writes a value in a line that is indented `depth` times.
fn node(value: &JsonValue<'_>, depth: usize, out: &mut String) {
    match value {
        JsonValue::Null => out.push_str("null"),
        JsonValue::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        JsonValue::Int(number) => out.push_str(&number.to_string()),
        JsonValue::Float(number) => out.push_str(&format_json_float(*number)),
        JsonValue::Text(text) => string(text, depth + 1, out),
        JsonValue::Array(items) if items.is_empty() => out.push_str("[]"),
        JsonValue::Array(items) => sequence(items, depth, out),
        JsonValue::Object(members) if members.is_empty() => out.push_str("{}"),
        JsonValue::Object(members) => {
            out.push_str("{\n");
            for (name, member) in members {
                indent(depth + 1, out);
                key(name, out);
                out.push_str(": ");
                node(member, depth + 1, out);
                out.push_str(",\n");
            }
            indent(depth, out);
            out.push('}');
        }
        JsonValue::Raw(json) => out.push_str(&String::from_utf8_lossy(json)),
    }
}

/// Writes a sequence that is not empty. Brackets of nested values share lines if every item is a mapping or a sequence.
fn sequence(items: &[JsonValue<'_>], depth: usize, out: &mut String) {
    out.push('[');
    if items.iter().all(|item| matches!(item, JsonValue::Array(_) | JsonValue::Object(_))) {
        for (at, item) in items.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { ", " });
            node(item, depth, out);
        }
    } else {
        for item in items {
            out.push('\n');
            indent(depth + 1, out);
            node(item, depth + 1, out);
            out.push(',');
        }
        out.push('\n');
        indent(depth, out);
    }
    out.push(']');
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Writes a key: quoted only if a reader of YAML could take it for another type.
fn key(name: &str, out: &mut String) {
    if !name.contains('\n') && is_plain_key(name) {
        out.push_str(name);
        return;
    }
    out.push('"');
    for c in name.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => escaped(c, out),
        }
    }
    out.push('"');
}

/// Writes a quoted string. Each line of a text with several lines is on a line of its own, indented `depth` times.
fn string(text: &str, depth: usize, out: &mut String) {
    let has_lines = text.contains('\n');
    out.push_str(if has_lines { "\"\\\n" } else { "\"" });
    let mut starts_line = has_lines;
    for c in text.chars() {
        if starts_line {
            indent(depth, out);
            // A reader drops white space at the start of a line unless it is escaped.
            out.push(if c.is_whitespace() && c != '\n' { '\\' } else { ' ' });
        }
        starts_line = c == '\n';
        match c {
            '\n' => out.push_str("\\n\\\n"),
            '\t' => out.push('\t'),
            c => escaped(c, out),
        }
    }
    if has_lines {
        out.push_str(if starts_line { "" } else { "\\\n" });
        indent(depth, out);
    }
    out.push('"');
}

/// Writes a character inside quotes, escaped if it is special or not printable.
fn escaped(c: char, out: &mut String) {
    let short = match c {
        '"' | '\\' => c,
        c if is_go_printable(c) => return out.push(c),
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{b}' => 'v',
        '\0' => '0',
        '\u{1b}' => 'e',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        c => {
            let code = u32::from(c);
            let (letter, digits) = match code {
                ..0x20 | 0x7f => ('x', 2),
                ..0x1_0000 => ('u', 4),
                _ => ('U', 8),
            };
            // Writing to a string can't fail.
            let _written = write!(out, "\\{letter}{code:0digits$x}");
            return;
        }
    };
    out.extend(['\\', short]);
}

/// Whether a key is read back as the same text without quotes.
fn is_plain_key(name: &str) -> bool {
    let last = name.chars().count().saturating_sub(1);
    let is_allowed = |(at, c): (usize, char)| {
        c.is_alphanumeric() || c == '_' || (at > 0 && at < last && matches!(c, '-' | '.' | '/'))
    };
    !name.is_empty() && name.chars().enumerate().all(is_allowed) && !is_ambiguous(name)
}

/// Whether a reader of YAML could take the text for a null, boolean, number or time.
fn is_ambiguous(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_word = matches!(
        &*lower,
        "null"
            | "~"
            | "true"
            | "t"
            | "y"
            | "yes"
            | "on"
            | "false"
            | "f"
            | "n"
            | "no"
            | "off"
            | "inf"
            | "infinity"
            | "nan"
    );
    is_word || !plain::is_text(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{Ingest, TypeMeta};

    use super::*;

    fn printed(json: &str) -> String {
        let mut text = String::new();
        node(&JsonValue::parse(json.as_bytes()), 0, &mut text);
        text
    }

    #[test]
    fn keys_are_quoted_if_ambiguous() {
        for plain in ["a", "app", "a-b.c/d", "_x", "x1", "é"] {
            assert!(is_plain_key(plain), "{plain}");
        }
        for quoted in [
            "",
            "no",
            "Y",
            "1",
            "1_0",
            "0x1f",
            "1e3",
            "-a",
            "a.",
            "f:x",
            "2026-01-02",
            "a b",
            "inf",
            "T",
            "null",
        ] {
            assert!(!is_plain_key(quoted), "{quoted}");
        }
    }

    // The output of kubectl 1.36 for these values.
    #[test]
    fn values_match_kubectl() {
        for (json, text) in [
            (
                r#"{"a":{},"b":[],"c":null,"d":1.5,"e":true}"#,
                "{\n  a: {},\n  b: [],\n  c: null,\n  d: 1.5,\n  e: true,\n}",
            ),
            (r#"[{"a":"x"},[]]"#, "[{\n  a: \"x\",\n}, []]"),
            (r#"["x",{"a":1}]"#, "[\n  \"x\",\n  {\n    a: 1,\n  },\n]"),
            ("\"tab\\there \\u001b[m \\\"q\\\" \\u200b é\"", "\"tab\there \\e[m \\\"q\\\" \\u200b é\""),
            (r#"{"text":"a\n b\n"}"#, "{\n  text: \"\\\n     a\\n\\\n    \\ b\\n\\\n    \",\n}"),
            (r#"{"text":"a\nb"}"#, "{\n  text: \"\\\n     a\\n\\\n     b\\\n    \",\n}"),
        ] {
            assert_eq!(printed(json), text);
        }
    }

    // The object in testdata as a server sends it, and the output of the library that kubectl 1.36 uses.
    #[test]
    fn unusual_object_matches_kubectl() {
        let (json, expected) =
            (include_str!("../testdata/gadget.json"), include_str!("../testdata/gadget.kyaml"));
        let printed = format!("---\n{}\n", printed(json));
        for (printed, expected) in printed.lines().zip(expected.lines()) {
            assert_eq!(printed, expected);
        }
        assert_eq!(printed, expected);
    }

    #[test]
    fn list_items_share_brackets() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let object = |name: &str| {
            let json = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
            Object::from_json(json.as_bytes(), &Ingest::of(Arc::clone(&type_meta))).expect("an object")
        };
        let (mut list, mut out) = (KyamlList::default(), Vec::new());
        list.item(&object("a"), &mut out).expect("a Vec takes all");
        list.item(&object("b"), &mut out).expect("a Vec takes all");
        list.finish(&mut out).expect("a Vec takes all");
        let item = |name: &str| {
            format!(
                "{{\n    apiVersion: \"v1\",\n    kind: \"Pod\",\n    metadata: {{\n      name: \"{name}\",\n    }},\n  }}"
            )
        };
        let end = "  kind: \"List\",\n  metadata: {\n    resourceVersion: \"\",\n  },\n}\n";
        let expected =
            format!("---\n{{\n  apiVersion: \"v1\",\n  items: [{}, {}],\n{end}", item("a"), item("b"));
        assert_eq!(String::from_utf8(out).expect("text"), expected);
        let mut empty = Vec::new();
        KyamlList::default().finish(&mut empty).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(empty).expect("text"),
            format!("---\n{{\n  apiVersion: \"v1\",\n  items: [],\n{end}")
        );
    }
}
