//! Conversion of a YAML document to JSON, by the rules of kubectl's parser where users can see them: types of plain
//! scalars, keys of other types, repeated keys, and merge keys.
//!
//! The size of the result is limited, because aliases can multiply a small text.

use std::collections::HashMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use kdelta::object::format_go_float;
use serde_json::{Map, Value};

use super::limits::DEPTH;
use super::yaml_scalar::{NotFinite, plain};

/// The limit for the nodes that aliases add to a document, as many as Go's parser permits.
const ALIASED_NODES: usize = 400_000;

/// Why a document can't be converted. The messages are kubectl's, except for those of the parser.
#[derive(Debug, thiserror::Error)]
pub(super) enum YamlError {
    #[error("yaml: line {}: {}", .0.marker().line(), .0.info())]
    Syntax(#[from] ScanError),
    #[error("yaml: document contains excessive aliasing")]
    Aliases,
    #[error("yaml: exceeded max depth of {DEPTH}")]
    Depth,
    #[error("yaml: the value of an anchor contains itself")]
    Recursion,
    #[error("yaml: map merge requires map or sequence of maps as the value")]
    Merge,
    #[error("unsupported map key: {0}")]
    Key(Value),
    #[error("yaml: cannot decode !!{found} `{text}` as a !!{tag}")]
    Tag { found: &'static str, text: String, tag: String },
    #[error("yaml: !!binary value contains invalid base64 data")]
    Binary,
    #[error(transparent)]
    Number(#[from] NotFinite),
}

/// Converts the first document of a text. A text without a document is null.
pub(super) fn to_json(text: &str) -> Result<Value, YamlError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, _) = event?;
        if let Some(document) = builder.event(event)? {
            return Ok(document);
        }
    }
    Ok(Value::Null)
}

/// A node with the number of nodes in it and their depth.
#[derive(Clone)]
struct Node {
    value: Value,
    count: usize,
    depth: usize,
    /// Whether it is a plain `<<`, which merges as a key.
    is_merge: bool,
}

impl Node {
    fn scalar(value: Value, is_merge: bool) -> Self {
        Self { value, count: 1, depth: 0, is_merge }
    }
}

/// An open collection.
enum Open {
    List {
        items: Vec<Value>,
    },
    Map {
        members: Map<String, Value>,
        /// The key whose value comes next.
        key: Option<Node>,
    },
}

struct Level {
    open: Open,
    anchor: usize,
    count: usize,
    depth: usize,
}

/// Builds the tree of a document from the events of the parser.
#[derive(Default)]
struct Builder {
    levels: Vec<Level>,
    anchors: HashMap<usize, Node>,
    /// The nodes that aliases have added.
    aliased: usize,
}

impl Builder {
    /// Handles an event. Returns the document once it is complete.
    fn event(&mut self, event: Event<'_>) -> Result<Option<Value>, YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                let is_merge = &*text == "<<" && is_plain && tag.is_none();
                let value = scalar(&text, is_plain, tag.as_deref())?;
                self.node(anchor, Node::scalar(value, is_merge))
            }
            Event::SequenceStart(_, anchor, _) => self.open(anchor, Open::List { items: Vec::new() }),
            Event::MappingStart(_, anchor, _) => {
                self.open(anchor, Open::Map { members: Map::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Level { open, anchor, count, depth }) = self.levels.pop() else { return Ok(None) };
                let value = match open {
                    Open::List { items } => Value::Array(items),
                    Open::Map { members, .. } => Value::Object(members),
                };
                self.node(anchor, Node { value, count, depth, is_merge: false })
            }
            Event::Alias(anchor) => {
                // Absent for an alias inside of its own anchor; the parser refuses an unknown one.
                let node = self.anchors.get(&anchor).cloned().ok_or(YamlError::Recursion)?;
                self.aliased += node.count;
                if self.aliased > ALIASED_NODES {
                    return Err(YamlError::Aliases);
                }
                self.node(0, node)
            }
            _ => Ok(None),
        }
    }

    fn open(&mut self, anchor: usize, open: Open) -> Result<Option<Value>, YamlError> {
        if self.levels.len() == DEPTH {
            return Err(YamlError::Depth);
        }
        self.levels.push(Level { open, anchor, count: 1, depth: 0 });
        Ok(None)
    }

    /// Adds a complete node to the innermost collection, or returns it as the document.
    fn node(&mut self, anchor: usize, node: Node) -> Result<Option<Value>, YamlError> {
        if anchor != 0 {
            self.aliased += node.count;
            if self.aliased > ALIASED_NODES {
                return Err(YamlError::Aliases);
            }
            self.anchors.insert(anchor, node.clone());
        }
        let outer = self.levels.len();
        let Some(level) = self.levels.last_mut() else { return Ok(Some(node.value)) };
        level.count += node.count;
        level.depth = level.depth.max(node.depth + 1);
        // An alias can be deeper than the text.
        if outer + level.depth > DEPTH {
            return Err(YamlError::Depth);
        }
        match &mut level.open {
            Open::List { items } => items.push(node.value),
            Open::Map { members, key } => match key.take() {
                None => *key = Some(node),
                Some(key) if key.is_merge => merge(members, node.value)?,
                Some(key) => {
                    members.insert(key_text(key.value)?, node.value);
                }
            },
        }
        Ok(None)
    }
}

/// Adds the members of a map, or of a list of maps, of which the first counts.
fn merge(members: &mut Map<String, Value>, merged: Value) -> Result<(), YamlError> {
    match merged {
        Value::Object(merged) => members.extend(merged),
        Value::Array(maps) => {
            for map in maps.into_iter().rev() {
                let Value::Object(map) = map else { return Err(YamlError::Merge) };
                members.extend(map);
            }
        }
        _ => return Err(YamlError::Merge),
    }
    Ok(())
}

/// Returns a key as a text.
fn key_text(key: Value) -> Result<String, YamlError> {
    match key {
        Value::String(text) => Ok(text),
        Value::Number(number) if number.is_f64() => Ok(format_go_float(number.as_f64().unwrap_or_default())),
        Value::Number(_) | Value::Bool(_) => Ok(key.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(YamlError::Key(key)),
    }
}

/// Returns the value of a scalar.
fn scalar(text: &str, is_plain: bool, tag: Option<&Tag>) -> Result<Value, YamlError> {
    let Some(tag) = tag else {
        return if is_plain { Ok(plain(text)?) } else { Ok(Value::from(text)) };
    };
    let tag = tag.suffix_in_namespace("tag:yaml.org,2002:").unwrap_or_default();
    let value = match &*tag {
        "binary" => {
            let unbroken: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            let bytes = BASE64_STANDARD.decode(unbroken).map_err(|_| YamlError::Binary)?;
            return Ok(Value::from(String::from_utf8_lossy(&bytes)));
        }
        "bool" | "int" | "float" | "null" | "timestamp" => plain(text)?,
        // A text, and tags of programs.
        _ => return Ok(Value::from(text)),
    };
    let found = match &value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        _ => "str",
    };
    let fits = found == tag || matches!((&*tag, found), ("float", "int") | ("timestamp", "str"));
    if fits { Ok(value) } else { Err(YamlError::Tag { found, text: text.to_owned(), tag: tag.into_owned() }) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(text: &str) -> Value {
        to_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refused(text: &str) -> String {
        to_json(text).map(|value| value.to_string()).expect_err(text).to_string()
    }

    #[test]
    fn documents_become_json() {
        let text = "a: [1, x, 'y', \"n\", ~]\nb:\n- c: |\n    text\n  d: !!str 5\ne: !!binary aGk=\n";
        assert_eq!(
            converted(text),
            json!({"a": [1, "x", "y", "n", null], "b": [{"c": "text\n", "d": "5"}], "e": "hi"})
        );
        assert_eq!(converted(""), Value::Null);
        assert_eq!(converted("# nothing\n"), Value::Null);
        assert_eq!(converted("a: 1\n...\nb: 2\n"), json!({"a": 1}), "the first document");
    }

    #[test]
    fn keys_become_texts_and_the_last_of_equal_ones_counts() {
        assert_eq!(
            converted("1: a\nyes: b\n1.5: c\n'2': d\n"),
            json!({"1": "a", "true": "b", "1.5": "c", "2": "d"})
        );
        assert_eq!(converted("a: 1\na: 2\n"), json!({"a": 2}));
        assert!(refused("~: a\n").starts_with("unsupported map key"));
        assert!(refused("? [a]\n: b\n").starts_with("unsupported map key"));
    }

    #[test]
    fn aliases_and_merges_are_resolved() {
        let text = "a: &a {x: 1, z: 2}\nb: *a\nc:\n  x: 0\n  <<: *a\nd:\n  <<: [{x: 5}, *a]\n  z: 9\n";
        assert_eq!(
            converted(text),
            json!({"a": {"x": 1, "z": 2}, "b": {"x": 1, "z": 2}, "c": {"x": 1, "z": 2}, "d": {"x": 5, "z": 9}})
        );
        assert!(refused("<<: a\n").contains("map merge requires map"));
        assert_eq!(converted("'<<': a\n"), json!({"<<": "a"}));
        assert!(refused("a: *x\n").starts_with("yaml: line 1: "));
        assert!(refused("a: &a [*a]\n").contains("contains itself"));
    }

    #[test]
    fn hostile_documents_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        bomb.extend((1..12).map(|level| {
            let before = vec![format!("*a{}", level - 1); 10].join(", ");
            format!("a{level}: &a{level} [{before}]\n")
        }));
        assert_eq!(refused(&bomb), "yaml: document contains excessive aliasing");
        for open in ["[", "{a: "] {
            assert!(to_json(&open.repeat(100_000)).is_err(), "{open}");
        }
        assert!(to_json(&("- ".repeat(100_000) + "a")).is_err());
        let mut deep = "a0: &a0 [x]\n".to_owned();
        deep.extend((1..=DEPTH).map(|level| format!("a{level}: &a{level} [*a{}]\n", level - 1)));
        assert!(refused(&deep).contains("max depth"));
    }

    #[test]
    fn tags_must_fit() {
        assert_eq!(refused("a: !!int x\n"), "yaml: cannot decode !!str `x` as a !!int");
        assert_eq!(converted("a: !!float 1\nb: !other x\n"), json!({"a": 1, "b": "x"}));
        assert!(refused("a: !!binary '*'\n").contains("invalid base64"));
    }
}
