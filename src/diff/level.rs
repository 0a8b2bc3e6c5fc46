//! One level of a JSON value: its members or elements as unparsed slices of the text.

use std::borrow::Cow;
use std::collections::HashMap;

use super::document::Document;
use crate::object::{InvalidJson, JsonKind, JsonNode};

/// The number of members up to which a name is found fastest by comparing each.
const FEW: usize = 16;

/// The number of members or elements for which memory is reserved.
const USUAL: usize = 12;

/// A value split one level deep.
pub(super) enum Level<'a> {
    Object(Members<'a>),
    Array(Vec<&'a str>),
    /// A string, number, boolean or null, or a value that can't be split, such as an object with a lone surrogate in a
    /// name.
    Scalar,
}

impl<'a> Level<'a> {
    /// Splits a value. Of its members and elements, only the brackets are checked: the text is JSON.
    pub(super) fn of(json: &'a str) -> Self {
        Self::within(Document::of(json), json)
    }

    /// Splits a value of a document as [`Level::of`] does.
    pub(super) fn within(document: Document<'a>, json: &'a str) -> Self {
        let (text, node) = document.node(json);
        let taken = match node.kind() {
            JsonKind::Object => Members::of(text, node).map(Self::Object),
            JsonKind::Array => elements(text, node).map(Self::Array),
            JsonKind::Scalar => Ok(Self::Scalar),
        };
        taken.unwrap_or(Self::Scalar)
    }
}

fn elements<'a>(text: &'a str, array: JsonNode<'a>) -> Result<Vec<&'a str>, InvalidJson> {
    let mut all = Vec::with_capacity(USUAL);
    let mut elements = array.elements();
    while let Some(element) = elements.next() {
        all.push(text.get(element?.offset()..elements.offset()).ok_or(InvalidJson)?);
    }
    Ok(all)
}

/// The members of an object in text order. For a duplicate name the last value wins.
#[derive(Default)]
pub(super) struct Members<'a> {
    pairs: Vec<(Cow<'a, str>, &'a str)>,
    /// The place of the last member of each name; empty if there are few.
    places: HashMap<Cow<'a, str>, usize>,
    /// Whether a name occurs twice.
    has_duplicates: bool,
}

impl<'a> Members<'a> {
    fn of(text: &'a str, object: JsonNode<'a>) -> Result<Self, InvalidJson> {
        let mut all = Self { pairs: Vec::with_capacity(USUAL), ..Self::default() };
        let mut members = object.members();
        while let Some(member) = members.next() {
            let (name, value) = member?;
            let value = text.get(value.offset()..members.offset()).ok_or(InvalidJson)?;
            all.pairs.push((name, value));
        }
        if all.pairs.len() > FEW {
            all.places = all.pairs.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        }
        let is_last = |(at, (name, _)): (usize, &(Cow<'_, str>, _))| all.place(name) == Some(at);
        all.has_duplicates = !all.pairs.iter().enumerate().all(is_last);
        Ok(all)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.place(name).map(|at| self.pairs[at].1)
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.pairs.len() <= FEW {
            return self.pairs.iter().rposition(|(own, _)| own == name);
        }
        self.places.get(name).copied()
    }

    /// Returns the value of a name that is most likely at this place, as in another state of the same object.
    pub(super) fn get_near(&self, place: usize, name: &str) -> Option<&'a str> {
        match self.pairs.get(place) {
            Some((own, value)) if own == name && !self.has_duplicates => Some(value),
            _ => self.get(name),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Cow<'a, str>, &'a str)> {
        let last = |(at, (name, _)): &(usize, &(Cow<'a, str>, _))| {
            !self.has_duplicates || self.place(name) == Some(*at)
        };
        self.pairs.iter().enumerate().filter(last).map(|(_, (name, value))| (name, *value))
    }
}

/// A member whose values in two objects differ: its name, the old value and the new one.
pub(super) type Replaced<'a> = (Cow<'a, str>, &'a str, &'a str);

/// The most comparisons of names that find duplicates faster than a hash table of all.
const MAX_COMPARISONS: usize = 1 << 10;

/// Returns the members whose values differ between an old and a new object that have the same names in the same order, as most
/// updates do. `None` for other values, and for unusual objects: those with many members, or with escapes or duplicates among
/// the names.
///
/// Members with equal texts are not split.
pub(super) fn replaced_members<'a>(
    [old_document, new_document]: [Document<'a>; 2],
    old: &'a str,
    new: &'a str,
) -> Option<Vec<Replaced<'a>>> {
    let (old_text, old) = old_document.node(old);
    let (new_text, new) = new_document.node(new);
    if old.kind() != JsonKind::Object || new.kind() != JsonKind::Object {
        return None;
    }
    let (mut olds, mut news) = (old.members(), new.members());
    let mut replaced = Vec::new();
    let mut names: Vec<&[u8]> = Vec::with_capacity(USUAL);
    loop {
        olds.skip_equal(&mut news, |name| names.push(name));
        let (name, before, after) = match (olds.next(), news.next()) {
            (None, None) => break,
            (Some(old), Some(new)) => {
                let ((name, before), (new_name, after)) = (old.ok()?, new.ok()?);
                (Some(name).filter(|name| *name == new_name)?, before, after)
            }
            _ => return None,
        };
        // A name with escapes is not a part of the text.
        let Cow::Borrowed(name) = name else { return None };
        names.push(name.as_bytes());
        let before = old_text.get(before.offset()..olds.offset())?;
        let after = new_text.get(after.offset()..news.offset())?;
        if before != after {
            replaced.push((Cow::Borrowed(name), before, after));
        }
    }
    let is_unusual = replaced.len() * names.len() > MAX_COMPARISONS
        || names.iter().any(|name| name.contains(&b'\\'))
        || replaced
            .iter()
            .any(|(name, ..)| names.iter().filter(|other| **other == name.as_bytes()).count() > 1);
    (!is_unusual).then_some(replaced)
}

/// Returns whether two unsplittable values are equal: strings by content, numbers by value.
pub(super) fn equal_scalars(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match (one.as_bytes().first(), other.as_bytes().first()) {
        (Some(b'"'), Some(b'"')) if one.contains('\\') || other.contains('\\') => {
            let text = |json| serde_json::from_str::<String>(json).ok();
            text(one).is_some_and(|one| text(other) == Some(one))
        }
        (Some(b'-' | b'0'..=b'9'), Some(b'-' | b'0'..=b'9')) => equal_numbers(one, other),
        _ => false,
    }
}

/// Compares integers as integers: two different large ones may be equal as floats.
fn equal_numbers(one: &str, other: &str) -> bool {
    match (one.parse::<i128>(), other.parse::<i128>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => match (one.parse::<f64>(), other.parse::<f64>()) {
            // Bitwise equality, or both zero: the values that equal texts would parse to.
            (Ok(one), Ok(other)) => one.is_finite() && one.total_cmp(&other).is_eq(),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_compared_by_value() {
        for (one, other, same) in [
            (r#""<""#, r#""\u003c""#, true),
            (r#""a""#, r#""b""#, false),
            ("1.0", "1", true),
            ("1e2", "100", true),
            ("0.1", "0.10", true),
            ("9007199254740993", "9007199254740992", false),
            ("1", "true", false),
            ("1", "\"1\"", false),
            ("null", "false", false),
            (r#""\ud800""#, r#""\ud801""#, false),
        ] {
            assert_eq!(equal_scalars(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn the_last_of_duplicate_names_wins() {
        let Level::Object(members) = Level::of(r#"{"a":1,"b":{ "c" : 2 },"a":3}"#) else {
            panic!("an object")
        };
        let read: Vec<_> = members.iter().map(|(name, value)| (&**name, value)).collect();
        assert_eq!(read, [("b", r#"{ "c" : 2 }"#), ("a", "3")]);
        assert_eq!(members.get("a"), Some("3"));
        assert!(matches!(Level::of(r#"{"\ud800":1}"#), Level::Scalar));
    }
}
