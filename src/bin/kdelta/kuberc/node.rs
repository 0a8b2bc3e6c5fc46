//! A document of a `kuberc` file as a tree that keeps repeated keys.

use std::fmt;

use kdelta::object::go_quote;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

/// A value of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Text(String),
    List(Vec<Node>),
    Map(Vec<Member>),
    /// A number or a boolean: no field has one.
    Other,
}

/// A member of a map.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) value: Node,
    /// The line on which the value starts, from 1.
    line: u64,
}

impl Node {
    /// Parses a document of YAML. As in kubectl, an unquoted `yes` is a boolean.
    pub(super) fn from_yaml(text: &str) -> Option<Self> {
        let options = serde_saphyr::options! {
            strict_booleans: false,
            duplicate_keys: DuplicateKeyPolicy::PassThrough,
        };
        serde_saphyr::from_str_with_options(text, options).ok()
    }

    /// Returns the lines about keys that occur a second time in their map, in the order of the text.
    pub(super) fn repeated_keys(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect_repeated(&mut found);
        found
    }

    fn collect_repeated(&self, found: &mut Vec<String>) {
        match self {
            Self::List(items) => items.iter().for_each(|item| item.collect_repeated(found)),
            Self::Map(members) => {
                for (at, Member { key, value, line }) in members.iter().enumerate() {
                    value.collect_repeated(found);
                    if members[..at].iter().any(|earlier| earlier.key == *key) {
                        found.push(format!("line {line}: key {} already set in map", go_quote(key)));
                    }
                }
            }
            Self::Null | Self::Text(_) | Self::Other => {}
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Node, D::Error> {
        Node::deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = entries.next_entry::<String, Spanned<Node>>()? {
            let line = value.referenced.line();
            members.push(Member { key, value: value.value, line });
        }
        Ok(Node::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_are_reported_with_their_lines() {
        let text = "a: 1\nb:\n- c: x\n  d: y\n  c: z\na:\n  e: 2\n";
        let node = Node::from_yaml(text).expect("YAML");
        assert_eq!(
            node.repeated_keys(),
            [r#"line 5: key "c" already set in map"#, r#"line 7: key "a" already set in map"#]
        );
    }

    #[test]
    fn scalars_have_the_types_of_yaml_1_1() {
        for (text, expected) in [
            ("yes", Node::Other),
            ("off", Node::Other),
            ("y", Node::Other),
            ("1.5", Node::Other),
            ("0x1f", Node::Other),
            ("~", Node::Null),
            ("", Node::Null),
            ("'yes'", Node::Text("yes".into())),
            ("!!str true", Node::Text("true".into())),
            ("2001-01-01", Node::Text("2001-01-01".into())),
        ] {
            let node = Node::from_yaml(&format!("k: {text}\n"));
            let Some(Node::Map(members)) = &node else { panic!("{text}: {node:?}") };
            assert_eq!(members[0].value, expected, "{text}");
        }
        assert_eq!(Node::from_yaml("a: ["), None);
    }
}
