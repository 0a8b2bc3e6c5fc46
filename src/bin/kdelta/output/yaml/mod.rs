//! YAML documents in kubectl's format.

mod emitter;
pub(super) mod kyaml;
mod order;
mod plain;
mod style;

use std::borrow::Cow;
use std::io::{self, Write};

use emitter::Emitter;
use kdelta::lines::ChangeKind;
use kdelta::object::{JsonValue, Object};

/// A sequence of objects, each in its own document, separated by `---`.
#[derive(Default)]
pub(crate) struct YamlDocuments {
    /// Whether a terminal displays the documents, so that text of the cluster must be escaped.
    for_terminal: bool,
    any: bool,
    text: String,
}

impl YamlDocuments {
    /// Creates an empty sequence.
    pub(crate) fn new(for_terminal: bool) -> Self {
        Self { for_terminal, ..Self::default() }
    }

    /// Writes one object.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn document(&mut self, object: &Object, out: &mut impl Write) -> io::Result<()> {
        self.value(&JsonValue::parse(&object.json_or_names()), out)
    }

    /// Writes a change of an object: a mapping of `object` and `type`.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn event(
        &mut self,
        object: &Object,
        kind: ChangeKind,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let json = object.json_or_names();
        let event = JsonValue::Object(vec![
            (Cow::Borrowed("object"), JsonValue::parse(&json)),
            (Cow::Borrowed("type"), JsonValue::Text(Cow::Borrowed(kind.as_str()))),
        ]);
        self.value(&event, out)
    }

    /// Writes a value.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn value(&mut self, tree: &JsonValue<'_>, out: &mut impl Write) -> io::Result<()> {
        self.text.clear();
        if self.any {
            self.text.push_str("---\n");
        }
        self.any = true;
        Emitter::new(&mut self.text, self.for_terminal).document(tree);
        out.write_all(self.text.as_bytes())?;
        out.flush()
    }
}

/// Returns the document of a value with its unsafe characters escaped.
pub(super) fn escaped_document(tree: &JsonValue<'_>) -> String {
    let mut text = String::new();
    Emitter::new(&mut text, true).document(tree);
    text
}

/// Appends the text of an item of a [`YamlList`].
pub(super) fn push_item(object: &Object, for_terminal: bool, text: &mut String) {
    Emitter::new(text, for_terminal).item(&JsonValue::parse(&object.json_or_names()));
}

/// A `List` whose items are written as they arrive; at most one is held in memory.
#[derive(Default)]
pub(crate) struct YamlList {
    /// Whether a terminal displays the list.
    for_terminal: bool,
    any: bool,
    text: String,
}

impl YamlList {
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
        let written = self.items(text.as_bytes(), out);
        self.text = text;
        written
    }

    /// Writes the text of items, at least one, from [`push_item`].
    ///
    /// # Errors
    /// `out` failed.
    pub(super) fn items(&mut self, text: &[u8], out: &mut impl Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.any, true) {
            out.write_all(b"apiVersion: v1\nitems:\n")?;
        }
        out.write_all(text)
    }

    /// Writes the end of the list, or an empty list if there were no items.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn finish(self, out: &mut impl Write) -> io::Result<()> {
        if !self.any {
            out.write_all(b"apiVersion: v1\nitems: []\n")?;
        }
        out.write_all(b"kind: List\nmetadata:\n  resourceVersion: \"\"\n")?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{Ingest, TypeMeta};
    use proptest::prelude::*;

    use super::*;

    fn object(json: &str) -> Object {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an object")
    }

    fn yaml(json: &str) -> String {
        written(json, false)
    }

    fn written(json: &str, for_terminal: bool) -> String {
        let mut text = String::new();
        Emitter::new(&mut text, for_terminal).document(&JsonValue::parse(json.as_bytes()));
        text
    }

    #[test]
    fn documents_are_separated() {
        let (mut documents, mut out) = (YamlDocuments::default(), Vec::new());
        for name in ["a", "b"] {
            let json = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
            documents.document(&object(&json), &mut out).expect("a Vec takes all");
        }
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n"
        );
    }

    #[test]
    fn list_is_written_item_by_item() {
        let (mut list, mut out) = (YamlList::default(), Vec::new());
        for name in ["a", "b"] {
            let json = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
            list.item(&object(&json), &mut out).expect("a Vec takes all");
        }
        list.finish(&mut out).expect("a Vec takes all");
        YamlList::default().finish(&mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\nkind: List\nmetadata:\n  resourceVersion: \"\"\napiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"
        );
    }

    // The object in testdata as a server sends it, and kubectl 1.32's output for it.
    #[test]
    fn unusual_object_matches_kubectl() {
        let (mut documents, mut out) = (YamlDocuments::default(), Vec::new());
        let object = object(include_str!("../testdata/gadget.json"));
        documents.document(&object, &mut out).expect("a Vec takes all");
        let printed = String::from_utf8(out).expect("text");
        let expected = include_str!("../testdata/gadget.yaml");
        for (printed, expected) in printed.lines().zip(expected.lines()) {
            assert_eq!(printed, expected);
        }
        assert_eq!(printed, expected);
    }

    // kubectl 1.32.
    #[test]
    fn keys_are_in_natural_order() {
        let keys = "_x 1 2 10 A1 a-b a.b a/b a1 a01 a2 a10 aB app app-x app.kubernetes.io/name b null v1-9 v1.9 v1.10 v100 v101 v1000 x x- x-1 x-b é 日";
        let members: Vec<String> = keys.split(' ').rev().map(|key| format!("{key:?}:1")).collect();
        let printed = yaml(&format!("{{{}}}", members.join(",")));
        let printed: Vec<_> =
            printed.lines().map(|line| line.trim_end_matches(": 1").trim_matches('"')).collect();
        assert_eq!(printed.join(" "), keys);
        // These three keys have no consistent order; this must not matter.
        assert_eq!(yaml(r#"{"a10":1,"a1b":1,"a2":1}"#).lines().count(), 3);
    }

    #[test]
    fn terminal_output_is_escaped_and_pipe_matches_kubectl() {
        let json = serde_json::json!({"k\u{202e}": "txt.\u{202e}exe", "l": "a\n\u{2066}b\n", "plain": "ünï"})
            .to_string();
        assert_eq!(
            yaml(&json),
            "\"k\u{202e}\": txt.\u{202e}exe\nl: |\n  a\n  \u{2066}b\nplain: ünï\n".replace('"', "")
        );
        let shown = written(&json, true);
        assert_eq!(shown, "\"k\\u202E\": \"txt.\\u202Eexe\"\nl: \"a\\n\\u2066b\\n\"\nplain: ünï\n");
        let read: serde_json::Value = serde_saphyr::from_str(&shown).expect("YAML");
        assert_eq!(read.to_string(), json);
        // Nested too deeply to parse, so written unchanged.
        let deep = format!("{}\"\u{9b}\"{}", "[".repeat(200), "]".repeat(200));
        assert!(written(&deep, true).contains(r#""\u009b""#) && yaml(&deep).contains('\u{9b}'));
    }

    proptest! {
        #[test]
        fn text_round_trips(for_terminal: bool, text in "(?s)[a-z0-9 :#'\"\\\\\n\t,\\[\\]{}&*!|>%@`?~=<.\u{85}\u{a0}\u{2028}\u{202e}é日👍\u{7}-]{0,120}") {
            let json = serde_json::json!({"key": text, "list": [text], "nested": {"a": {"b": text}}}).to_string();
            let written = written(&json, for_terminal);
            let read: serde_json::Value = serde_saphyr::from_str(&written)
                .map_err(|error| TestCaseError::fail(format!("{error}\n{written}")))?;
            prop_assert_eq!(read.to_string(), json, "{}", written);
        }
    }
}
