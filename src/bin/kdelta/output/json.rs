//! JSON documents in kubectl's format: sorted keys, four spaces, and Go's escapes.

use std::io::{self, Write};

use kdelta::object::{JsonValue, Object};

use crate::view::escape_json;

/// Writes one object as a document. `for_terminal` is whether a terminal displays it.
///
/// # Errors
/// `out` failed.
pub(crate) fn document(object: &Object, for_terminal: bool, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::new();
    JsonValue::write_text_indented(&object.json_or_names(), 0, &mut text);
    text.push(b'\n');
    write(&text, for_terminal, out)?;
    out.flush()
}

/// Writes JSON unchanged, or for a terminal with unsafe characters as equal JSON escapes.
///
/// # Errors
/// `out` failed.
pub(super) fn write(json: &[u8], for_terminal: bool, out: &mut impl Write) -> io::Result<()> {
    if for_terminal {
        // Everything that needs escaping is inside strings.
        out.write_all(escape_json(&String::from_utf8_lossy(json)).as_bytes())
    } else {
        out.write_all(json)
    }
}

/// Appends the text of an item of a [`JsonList`], after a comma. The first item of a list is written without it.
pub(super) fn push_item(object: &Object, for_terminal: bool, text: &mut Vec<u8>) {
    let start = text.len();
    text.extend_from_slice(b",\n        ");
    JsonValue::write_text_indented(&object.json_or_names(), 2, text);
    if for_terminal {
        let escaped = escape_json(&String::from_utf8_lossy(&text[start..])).into_owned();
        text.truncate(start);
        text.extend_from_slice(escaped.as_bytes());
    }
}

/// A `List` whose items are written as they arrive; at most one is held in memory.
#[derive(Default)]
pub(crate) struct JsonList {
    /// Whether a terminal displays the output.
    for_terminal: bool,
    any: bool,
    text: Vec<u8>,
}

impl JsonList {
    /// Creates an empty list.
    pub(crate) fn new(for_terminal: bool) -> Self {
        Self { for_terminal, ..Self::default() }
    }

    /// Returns whether a terminal displays the list.
    pub(super) fn is_for_terminal(&self) -> bool {
        self.for_terminal
    }

    /// Writes one item.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn item(&mut self, object: &Object, out: &mut impl Write) -> io::Result<()> {
        self.text.clear();
        push_item(object, self.for_terminal, &mut self.text);
        let text = std::mem::take(&mut self.text);
        let written = self.items(&text, out);
        self.text = text;
        written
    }

    /// Writes the text of items, at least one, from [`push_item`].
    ///
    /// # Errors
    /// `out` failed.
    pub(super) fn items(&mut self, text: &[u8], out: &mut impl Write) -> io::Result<()> {
        if std::mem::replace(&mut self.any, true) {
            return out.write_all(text);
        }
        out.write_all(b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [")?;
        out.write_all(text.strip_prefix(b",").unwrap_or(text))
    }

    /// Writes the end of the list, or an empty list if there were no items.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn finish(self, out: &mut impl Write) -> io::Result<()> {
        let head: &[u8] =
            if self.any { b"\n    ],\n" } else { b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n" };
        out.write_all(head)?;
        out.write_all(
            b"    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n",
        )?;
        out.flush()
    }
}

/// The JSON of a `List` that is held in memory until it is complete.
pub(super) struct CollectedList(Vec<u8>);

/// The compact JSON before the items.
const LIST_START: &[u8] = br#"{"apiVersion":"v1","items":["#;
/// The compact JSON after the items.
const LIST_END: &[u8] = br#"],"kind":"List","metadata":{"resourceVersion":""}}"#;

impl Default for CollectedList {
    fn default() -> Self {
        Self(LIST_START.to_vec())
    }
}

impl CollectedList {
    /// Adds the JSON of an item.
    pub(super) fn push(&mut self, json: &[u8]) {
        if self.0.len() > LIST_START.len() {
            self.0.push(b',');
        }
        self.0.extend_from_slice(json);
    }

    /// Returns the JSON of the list.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.0.extend_from_slice(LIST_END);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{Ingest, TypeMeta};

    use super::*;

    fn object(json: &str) -> Object {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an object")
    }

    fn printed(json: &str) -> String {
        let mut out = Vec::new();
        document(&object(json), false, &mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn single_object_has_sorted_keys() {
        assert_eq!(
            printed(
                r#"{"metadata":{"name":"a","labels":{}},"kind":"Pod","spec":{"e":[[],{"a":[1,null,true]}]},"apiVersion":"v1"}"#
            ),
            r#"{
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "labels": {},
        "name": "a"
    },
    "spec": {
        "e": [
            [],
            {
                "a": [
                    1,
                    null,
                    true
                ]
            }
        ]
    }
}
"#
        );
    }

    #[test]
    fn string_escapes_match_go() {
        let text = printed(
            r#"{"metadata":{"name":"a"},"s":"<a href=\"x\">&amp;</a> \u2028\u2029 \b\f\n\r\t\u0007\u001b\u007f é€日👍 \\ \/"}"#,
        );
        let line = text.lines().find(|line| line.contains("\"s\"")).expect("the line");
        assert_eq!(
            line,
            "    \"s\": \"\\u003ca href=\\\"x\\\"\\u003e\\u0026amp;\\u003c/a\\u003e \\u2028\\u2029 \\b\\f\\n\\r\\t\\u0007\\u001b\u{7f} é€日👍 \\\\ /\""
        );
    }

    #[test]
    fn terminal_yaml_is_equal_and_safe() {
        let json = r#"{"metadata":{"annotations":{"a":"\u009b31m","b":"txt.\u202eexe"},"name":"a"}}"#;
        let shown = |for_terminal| {
            let (mut list, mut single, mut items) = (JsonList::new(for_terminal), Vec::new(), Vec::new());
            document(&object(json), for_terminal, &mut single).expect("a Vec takes all");
            list.item(&object(json), &mut items).expect("a Vec takes all");
            [single, items].map(|text| String::from_utf8(text).expect("text"))
        };
        for text in shown(true) {
            assert!(
                text.contains(r#""a": "\u009b31m""#) && text.contains(r#""b": "txt.\u202eexe""#),
                "{text}"
            );
        }
        // A pipe receives kubectl's output.
        for text in shown(false) {
            assert!(text.contains("\"\u{9b}31m\"") && text.contains("\"txt.\u{202e}exe\""), "{text}");
        }
    }

    #[test]
    fn list_items_are_written_as_they_arrive() {
        let mut list = JsonList::default();
        let mut out = Vec::new();
        for name in ["a", "b"] {
            list.item(&object(&format!(r#"{{"metadata":{{"name":"{name}"}}}}"#)), &mut out)
                .expect("a Vec takes all");
            assert!(String::from_utf8_lossy(&out).ends_with("        }"));
        }
        list.finish(&mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            r#"{
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "a"
            }
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "b"
            }
        }
    ],
    "kind": "List",
    "metadata": {
        "resourceVersion": ""
    }
}
"#
        );
    }

    // The object in testdata as a server sends it, and kubectl 1.32's output for it.
    #[test]
    fn unusual_object_matches_kubectl() {
        let printed = printed(include_str!("testdata/gadget.json"));
        let expected = include_str!("testdata/gadget.kubectl.json");
        for (printed, expected) in printed.lines().zip(expected.lines()) {
            assert_eq!(printed, expected);
        }
        assert_eq!(printed, expected);
    }

    // kubectl 1.32's output for no objects.
    #[test]
    fn empty_list_is_a_list() {
        let mut out = Vec::new();
        JsonList::default().finish(&mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n"
        );
    }

    #[test]
    fn object_without_body_shows_its_names() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let mut out = Vec::new();
        document(&Object::named(type_meta, "shop", "a"), false, &mut out).expect("a Vec takes all");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("\"kind\": \"Pod\"") && text.contains("\"namespace\": \"shop\""), "{text}");
    }
}
