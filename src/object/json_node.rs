//! A value inside JSON text that is read lazily: only the members and elements that a caller names are looked at.

use std::borrow::Cow;

use super::json::{self, Entry, JsonBrackets, Members, Name};
use super::json_value::JsonValue;

/// A value inside JSON text, as a position. Nothing of it is parsed before it is read.
///
/// The text of an object was validated when the object arrived. Other text may be invalid: functions then return
/// [`InvalidJson`], or the correct values before the place that is damaged.
#[derive(Debug, Clone, Copy)]
pub struct JsonNode<'a> {
    text: &'a [u8],
    at: usize,
    known: Option<Known<'a>>,
}

/// The knowledge about a text that saves work for each of its values.
#[derive(Debug, Clone, Copy)]
struct Known<'a> {
    /// The text, which is UTF-8.
    text: &'a str,
    /// The ends of its arrays and objects.
    brackets: &'a JsonBrackets,
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

    /// Returns the value that begins at a position of a text whose brackets are known. With the brackets of another text,
    /// the values that are read are arbitrary.
    #[must_use]
    pub fn within(text: &'a str, at: usize, brackets: &'a JsonBrackets) -> Self {
        let bytes = text.as_bytes();
        Self { text: bytes, at: json::space(bytes, at), known: Some(Known { text, brackets }) }
    }

    /// Returns the value at a position of the same text.
    fn at(self, at: usize) -> Self {
        Self { at, ..self }
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
            members.step_over(self.skip(at).ok_or(InvalidJson)?);
        }
    }

    /// Iterates over the members of an object in the order of the text; over nothing for any other value.
    #[must_use]
    pub fn members(self) -> JsonMembers<'a> {
        let members = (self.kind() == JsonKind::Object).then(|| Members::of(self.text, self.at));
        JsonMembers { object: self, members, end: self.at }
    }

    /// Iterates over the elements of an array; over nothing for any other value.
    #[must_use]
    pub fn elements(self) -> JsonElements<'a> {
        let at = (self.kind() == JsonKind::Array).then_some(self.at);
        JsonElements { array: self, at, is_first: true, end: self.at }
    }

    /// Returns the end of the value at a position of the same text.
    fn skip(self, at: usize) -> Option<usize> {
        json::skip(self.text, at, self.known.map(|known| known.brackets))
    }

    /// Returns the bytes at a position of the text as text.
    fn utf8(self, at: usize, bytes: &'a [u8]) -> Option<&'a str> {
        match self.known {
            Some(Known { text, .. }) => text.get(at..at + bytes.len()),
            None => str::from_utf8(bytes).ok(),
        }
    }

    /// Returns a name in the text without its escapes.
    fn unescaped(self, name: Name<'a>) -> Option<Cow<'a, str>> {
        if name.is_plain {
            return self.utf8(name.at, name.written).map(Cow::Borrowed);
        }
        unescaped(name.written).ok()
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
        let end = self.skip(self.at).ok_or(InvalidJson)?;
        match JsonValue::parse(&self.text[self.at..end]) {
            JsonValue::Raw(_) => Err(InvalidJson),
            value => Ok(value),
        }
    }
}

/// An iterator over the members of an object.
pub struct JsonMembers<'a> {
    object: JsonNode<'a>,
    /// `None` at the end.
    members: Option<Members<'a>>,
    /// The end of the last value.
    end: usize,
}

impl<'a> JsonMembers<'a> {
    /// Returns the position in the text up to which the iterator has read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.end
    }

    /// Skips the next members of both iterators as long as their texts are equal, and passes their names, as written, to
    /// `skipped`. Only those of this iterator are parsed.
    pub(crate) fn skip_equal(&mut self, other: &mut JsonMembers<'_>, mut skipped: impl FnMut(&'a [u8])) {
        let (Some(own), Some(others)) = (&mut self.members, &mut other.members) else { return };
        let (object, text) = (self.object, self.object.text);
        loop {
            let mut ahead = own.clone();
            let Some(Entry::Member(name, at)) = ahead.next() else { return };
            let Some(end) = object.skip(at) else { return };
            // With the separator, but for that of the first member.
            let written = &text[own.position()..end];
            let rest = &other.object.text[others.position()..];
            let is_equal = rest.starts_with(written) && matches!(rest.get(written.len()), Some(b',' | b'}'));
            if !is_equal {
                return;
            }
            let position = others.position() + written.len();
            own.step_over_member(end);
            others.step_over_member(position);
            (self.end, other.end) = (end, position);
            skipped(name.written);
        }
    }
}

impl<'a> Iterator for JsonMembers<'a> {
    type Item = Result<(Cow<'a, str>, JsonNode<'a>), InvalidJson>;

    fn next(&mut self) -> Option<Self::Item> {
        let members = self.members.as_mut()?;
        let entry = match members.next() {
            Some(Entry::End(_)) => {
                self.members = None;
                return None;
            }
            Some(Entry::Member(name, at)) => self.object.skip(at).and_then(|end| {
                members.step_over(end);
                self.end = end;
                Some((self.object.unescaped(name)?, self.object.at(at)))
            }),
            None => None,
        };
        if entry.is_none() {
            self.members = None;
        }
        Some(entry.ok_or(InvalidJson))
    }
}

/// An iterator over the elements of an array.
pub struct JsonElements<'a> {
    array: JsonNode<'a>,
    /// The position of the opening bracket, later the end of the last element. `None` at the end.
    at: Option<usize>,
    is_first: bool,
    /// The end of the last value.
    end: usize,
}

impl<'a> JsonElements<'a> {
    /// Returns the position in the text up to which the iterator has read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.end
    }

    /// Returns the next element, `None` at the end of the array.
    fn advance(&mut self, at: usize) -> Result<Option<(JsonNode<'a>, usize)>, InvalidJson> {
        let text = self.array.text;
        let at = json::space(text, at + usize::from(self.is_first));
        let start = match (text.get(at), self.is_first) {
            (Some(b']'), _) => return Ok(None),
            (Some(_), true) => at,
            (Some(b','), false) => json::space(text, at + 1),
            _ => return Err(InvalidJson),
        };
        self.is_first = false;
        let end = self.array.skip(start).ok_or(InvalidJson)?;
        Ok(Some((self.array.at(start), end)))
    }
}

impl<'a> Iterator for JsonElements<'a> {
    type Item = Result<JsonNode<'a>, InvalidJson>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance(self.at?) {
            Ok(Some((node, end))) => {
                self.at = Some(end);
                self.end = end;
                Some(Ok(node))
            }
            Ok(None) => {
                self.at = None;
                None
            }
            Err(error) => {
                self.at = None;
                Some(Err(error))
            }
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
    use super::*;

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
