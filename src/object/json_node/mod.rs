//! A value inside JSON text that is read lazily: only the members and elements that a caller names are looked at.

mod elements;
mod members;
mod walk;

use std::borrow::Cow;

use super::json::{self, Entry, JsonText, Members};
use super::json_value::JsonValue;
pub use elements::JsonElements;
pub use members::JsonMembers;

/// A value inside JSON text, as a position. Nothing of it is parsed before it is read.
///
/// The text of an object was validated when the object arrived. Other text may be invalid: functions then return
/// [`InvalidJson`], or the correct values before the place that is damaged.
#[derive(Debug, Clone, Copy)]
pub struct JsonNode<'a> {
    text: &'a [u8],
    at: usize,
    /// The text with its tokens if they are known, and the number of the first one of an array or object.
    known: Option<(&'a JsonText, u32)>,
}

/// The text is not JSON, or is nested too deeply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON")]
pub struct InvalidJson;

/// The type of a value, as far as its first byte shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// An object.
    Object,
    /// An array.
    Array,
    /// Anything else: [`JsonNode::scalar`] returns it.
    Scalar,
}

impl<'a> JsonNode<'a> {
    /// Returns the value that the text consists of.
    #[must_use]
    pub fn root(text: &'a [u8]) -> Self {
        Self { text, at: json::space(text, 0), known: None }
    }

    /// Returns the value that the text consists of, which is found by its tokens, like all values in it.
    #[must_use]
    pub fn of(text: &'a JsonText) -> Self {
        Self::within(text, 0)
    }

    /// Returns the value that begins at a position of a text.
    pub(crate) fn within(text: &'a JsonText, at: usize) -> Self {
        let bytes = text.as_str().as_bytes();
        let at = json::space(bytes, at);
        Self { text: bytes, at, known: text.number_at(at).map(|number| (text, number)) }
    }

    /// Returns the value at a position of the same text.
    fn at(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// Returns the value at a position of the same text whose tokens are known. The number is that of its first token.
    #[inline(always)]
    fn at_token(self, at: usize, number: u32) -> Self {
        Self { text: self.text, at, known: self.known.map(|(text, _)| (text, number)) }
    }

    /// Returns the type of the value.
    #[must_use]
    pub fn kind(self) -> JsonKind {
        match self.text.get(self.at) {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            _ => JsonKind::Scalar,
        }
    }

    /// Returns the position in the text at which the value begins.
    #[must_use]
    pub fn offset(self) -> usize {
        self.at
    }

    /// Returns the member of this name, if this is an object that has one.
    ///
    /// # Errors
    /// The text up to the member is not JSON.
    pub fn member(self, name: &str) -> Result<Option<Self>, InvalidJson> {
        Ok(self.search(name)?.0)
    }

    /// Returns [`JsonNode::member`], and the number of bytes that the search has read.
    ///
    /// # Errors
    /// The text up to the member is not JSON.
    pub fn search(self, name: &str) -> Result<(Option<Self>, usize), InvalidJson> {
        if self.kind() != JsonKind::Object {
            return Ok((None, 0));
        }
        if self.known.is_some() {
            return self.search_members(name);
        }
        let mut members = Members::of(self.text, self.at);
        loop {
            let (own, at) = match members.next().ok_or(InvalidJson)? {
                Entry::Member(own, at) => (own, at),
                Entry::End(end) => return Ok((None, end - self.at)),
            };
            let has_escapes = || !own.is_plain && own.written.contains(&b'\\');
            if own.written == name.as_bytes() || (has_escapes() && unescaped(own.written)? == name) {
                return Ok((Some(self.at(at)), at - self.at));
            }
            members.step_over(json::skip_brackets(self.text, at).ok_or(InvalidJson)?);
        }
    }

    /// Returns [`JsonNode::search`] in a text whose structure is known.
    fn search_members(self, name: &str) -> Result<(Option<Self>, usize), InvalidJson> {
        let mut members = self.members();
        for member in members.by_ref() {
            let (own, value) = member?;
            if own == name {
                return Ok((Some(value), value.at - self.at));
            }
        }
        Ok((None, members.offset() - self.at))
    }

    /// Iterates over the members of an object in the order of the text; over nothing for any other value.
    #[must_use]
    pub fn members(self) -> JsonMembers<'a> {
        JsonMembers::of(self)
    }

    /// Iterates over the elements of an array; over nothing for any other value.
    #[must_use]
    pub fn elements(self) -> JsonElements<'a> {
        JsonElements::of(self)
    }

    /// Returns the bytes at a position of the text as text.
    fn utf8(self, at: usize, bytes: &'a [u8]) -> Option<&'a str> {
        match self.known {
            Some((text, _)) => text.as_str().get(at..at + bytes.len()),
            None => str::from_utf8(bytes).ok(),
        }
    }

    /// Parses the value. Callers use it for values that are neither objects nor arrays; of those it parses everything.
    ///
    /// # Errors
    /// The value is not JSON.
    pub fn scalar(self) -> Result<JsonValue<'a>, InvalidJson> {
        // Most values that are read are short strings without escapes.
        if let Some(short) = json::short_string(self.text, self.at)
            && let Some(text) = self.utf8(self.at + 1, short)
        {
            return Ok(JsonValue::Text(Cow::Borrowed(text)));
        }
        let end = json::skip_brackets(self.text, self.at).ok_or(InvalidJson)?;
        match JsonValue::parse(&self.text[self.at..end]) {
            JsonValue::Raw(_) => Err(InvalidJson),
            value => Ok(value),
        }
    }
}

/// Returns a name without its escapes.
fn unescaped(written: &[u8]) -> Result<Cow<'_, str>, InvalidJson> {
    let text = std::str::from_utf8(written).map_err(|_| InvalidJson)?;
    if !written.contains(&b'\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    quoted.push_str(text);
    quoted.push('"');
    serde_json::from_str::<String>(&quoted).map(Cow::Owned).map_err(|_| InvalidJson)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::object::json::{damaged, damages, documents};

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
