//! Values inside JSON text that are read lazily: only the members and elements that a caller names are looked at.

mod elements;
mod members;
mod node;
mod walk;

pub use elements::JsonElements;
pub use members::JsonMembers;
pub use node::{InvalidJson, JsonKind, JsonNode};

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::object::json::{JsonText, damaged, damages, documents};
    use crate::object::json_value::JsonValue;

    /// Appends every value below a node, with the texts of those that are neither objects nor arrays.
    fn read(node: JsonNode<'_>, out: &mut String) -> Result<(), InvalidJson> {
        let mut members = node.members();
        while let Some(member) = members.next() {
            let (name, value) = member?;
            assert_eq!(node.search(&name)?.0.map(JsonNode::kind), node.member(&name)?.map(JsonNode::kind));
            let _ = write!(out, "{name:?} {}..{}: ", value.offset(), members.offset());
            read(value, out)?;
        }
        let mut elements = node.elements();
        while let Some(element) = elements.next() {
            let element = element?;
            let _ = write!(out, "{}..{} ", element.offset(), elements.offset());
            read(element, out)?;
        }
        if node.kind() == JsonKind::Scalar {
            let _ = write!(out, "{:?} ", node.scalar()?);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn values_by_tokens_are_those_by_bytes(document in documents(), is_pretty: bool, damages in damages()) {
            let text = if is_pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
            let text = text.expect("JSON");
            let [mut by_bytes, mut by_tokens] = [String::new(), String::new()];
            prop_assert_eq!(read(JsonNode::root(text.as_bytes()), &mut by_bytes), Ok(()));
            prop_assert_eq!(read(JsonNode::of(&JsonText::of(&text)), &mut by_tokens), Ok(()));
            prop_assert_eq!(by_bytes, by_tokens, "{}", text);
            // Invalid text is read as far as it goes.
            let _read = read(JsonNode::of(&JsonText::of(&damaged(text, &damages))), &mut String::new());
        }

        #[test]
        fn equal_members_are_skipped_in_both_ways(values in proptest::collection::vec((documents(), any::<bool>()), 0..8)) {
            let object = |is_new: bool| {
                let value = |value: &serde_json::Value, same: bool| if same || is_new { value.to_string() } else { "0".to_owned() };
                let members = values.iter().enumerate().map(|(at, (one, same))| format!("\"m{at}\":{}", value(one, *same)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            };
            let [old, new] = [false, true].map(|is_new| JsonText::of(&object(is_new)));
            let rest = |nodes: [JsonNode<'_>; 2]| {
                let [mut one, mut other] = nodes.map(JsonNode::members);
                let (mut skipped, mut left) = (0, Vec::new());
                loop {
                    one.skip_equal(&mut other, |_| skipped += 1);
                    let (Some(Ok((name, _))), Some(Ok((other_name, value)))) = (one.next(), other.next()) else { break };
                    assert_eq!(name, other_name);
                    left.push((name.into_owned(), value.offset(), other.offset()));
                }
                (skipped, left)
            };
            let bytes = [&old, &new].map(|text| JsonNode::root(text.as_str().as_bytes()));
            prop_assert_eq!(rest([&old, &new].map(JsonNode::of)), rest(bytes));
        }
    }

    fn text(node: JsonNode<'_>) -> String {
        match node.scalar() {
            Ok(JsonValue::Text(text)) => text.into_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn members_and_elements_are_found() {
        let root = JsonNode::root(br#" { "a" : [ 1 , {"b":"x"} , [] ], "c\"d": "y", "e": {} }"#);
        let a = root.member("a").expect("JSON").expect("a member");
        let elements: Vec<_> = a.elements().collect::<Result<_, _>>().expect("JSON");
        assert_eq!(elements.len(), 3);
        assert_eq!(elements[0].scalar(), Ok(JsonValue::Int(1)));
        assert_eq!(elements[1].member("b").map(|found| found.map(text)), Ok(Some("x".to_owned())));
        assert_eq!(elements[2].elements().count(), 0);
        assert_eq!(root.member("c\"d").map(|found| found.map(text)), Ok(Some("y".to_owned())));
        assert!(root.member("missing").expect("JSON").is_none());
        let names: Vec<_> = root.members().map(|member| member.expect("JSON").0.into_owned()).collect();
        assert_eq!(names, ["a", "c\"d", "e"]);
    }

    #[test]
    fn damaged_text_is_an_error() {
        for damaged in ["", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "[1", "[1 2]", "[,]", "tru"] {
            let root = JsonNode::root(damaged.as_bytes());
            let members = root.members().any(|member| member.is_err());
            let elements = root.elements().any(|element| element.is_err());
            assert!(members || elements || root.scalar().is_err(), "{damaged}");
        }
        assert!(JsonNode::root(b"{\"a\":1").member("b").is_err());
    }
}
