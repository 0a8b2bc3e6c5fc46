//! Evaluation of a path over JSON text without building a tree: the parser skips everything outside of the path, and
//! values are returned as slices of the text where possible.
//!
//! [`Quick`] evaluates the text that servers write; `serde_json` takes over where it stops.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::quick::Quick;
use super::step::Step;
use super::text::{Text, visit_value};

/// Visits the values at the end of the path.
pub(super) fn walk(
    steps: &[Step],
    text: Text<'_>,
    visit: &mut dyn FnMut(&str),
) -> Result<(), serde_json::Error> {
    let mut visited = 0usize;
    let mut count = |value: &str| {
        visited += 1;
        visit(value);
    };
    if Quick::walk(steps, text, &mut count).is_some() {
        return Ok(());
    }
    let (Text::Any(json) | Text::Valid(json)) = text;
    // The values that were already visited come first again.
    thorough(steps, json, &mut |value| match visited.checked_sub(1) {
        Some(rest) => visited = rest,
        None => visit(value),
    })
}

/// Evaluates the path over any text.
pub(super) fn thorough(
    steps: &[Step],
    json: &[u8],
    visit: &mut dyn FnMut(&str),
) -> Result<(), serde_json::Error> {
    let mut done = false;
    let walk = Walk { steps, alone: true, done: &mut done, visit };
    let result = walk.deserialize(&mut serde_json::Deserializer::from_slice(json));
    if done { Ok(()) } else { result }
}

struct Walk<'w> {
    /// The remaining steps.
    steps: &'w [Step],
    /// Whether the path can match nothing after this value: no array or `*` lies behind.
    alone: bool,
    /// Set when nothing is left to find. A serde visitor can stop a parse only by an error; this flag marks that error.
    done: &'w mut bool,
    visit: &'w mut dyn FnMut(&str),
}

impl Walk<'_> {
    fn at<'s>(&'s mut self, steps: &'s [Step], alone: bool) -> Walk<'s> {
        Walk { steps, alone, done: self.done, visit: self.visit }
    }

    /// Stops the parse if nothing can follow.
    fn end<E: serde::de::Error>(&mut self) -> Result<(), E> {
        if self.alone {
            *self.done = true;
            return Err(E::custom("done"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            let raw: &RawValue = serde::Deserialize::deserialize(deserializer)?;
            visit_value(raw.get(), self.visit).map_err(D::Error::custom)
        } else {
            deserializer.deserialize_any(self)
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let Some((step, rest)) = self.steps.split_first() else { return Ok(()) };
        match step {
            Step::Name(name) => {
                while let Some(found) = map.next_key_seed(Is(name))? {
                    if found {
                        let alone = self.alone;
                        map.next_value_seed(self.at(rest, alone))?;
                        self.end()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
            }
            Step::Each => {
                while map.next_key::<IgnoredAny>()?.is_some() {
                    map.next_value_seed(self.at(rest, false))?;
                }
            }
            Step::Element(_) => while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {},
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let steps = self.steps;
        match steps.split_first() {
            Some((Step::Name(_), _)) => while seq.next_element_seed(self.at(steps, false))?.is_some() {},
            Some((Step::Each, rest)) => while seq.next_element_seed(self.at(rest, false))?.is_some() {},
            Some((Step::Element(number), rest)) => {
                for _ in 0..*number {
                    if seq.next_element::<IgnoredAny>()?.is_none() {
                        return Ok(());
                    }
                }
                let alone = self.alone;
                if seq.next_element_seed(self.at(rest, alone))?.is_some() {
                    self.end()?;
                    while seq.next_element::<IgnoredAny>()?.is_some() {}
                }
            }
            None => {}
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Compares a member's name with this one.
struct Is<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::quick::Quick;
    use super::{Text, thorough, walk};
    use crate::object::json::{damaged, damages};
    use crate::object::path::{FieldPath, Step};

    /// A reference evaluator over a tree.
    fn naive(steps: &[Step], value: &Value, found: &mut Vec<String>) {
        let Some((step, rest)) = steps.split_first() else {
            match value {
                Value::Null => {}
                Value::String(text) => found.push(text.clone()),
                other => found.push(other.to_string()),
            }
            return;
        };
        match (step, value) {
            (Step::Name(name), Value::Object(map)) => {
                map.get(&**name).into_iter().for_each(|value| naive(rest, value, found));
            }
            (Step::Name(_), Value::Array(array)) => array.iter().for_each(|value| naive(steps, value, found)),
            (Step::Element(at), Value::Array(array)) => {
                array.get(*at).into_iter().for_each(|value| naive(rest, value, found));
            }
            (Step::Each, Value::Array(array)) => array.iter().for_each(|value| naive(rest, value, found)),
            (Step::Each, Value::Object(map)) => map.values().for_each(|value| naive(rest, value, found)),
            _ => {}
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ab\" \\\\ü\\n]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[abc.]|a\"", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn path() -> impl Strategy<Value = FieldPath> {
        let step = prop_oneof![
            4 => "[abc.]|a\"".prop_map(|name| Step::Name(name.into())),
            1 => (0..3usize).prop_map(Step::Element),
            1 => Just(Step::Each),
        ];
        proptest::collection::vec(step, 0..5).prop_map(|steps| FieldPath(steps.into()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn evaluation_over_text_agrees_with_a_tree(json in json(), path in path(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&json) } else { serde_json::to_string(&json) };
            let mut expected = Vec::new();
            naive(&path.0, &json, &mut expected);
            prop_assert_eq!(path.values(text.expect("JSON").as_bytes()).expect("values"), expected);
        }

        #[test]
        fn the_fast_evaluator_agrees_with_serde(json in json(), path in path(), pretty: bool, damages in damages()) {
            let text = if pretty { serde_json::to_string_pretty(&json) } else { serde_json::to_string(&json) };
            let text = damaged(text.expect("JSON"), &damages);
            let text = text.trim_start().as_bytes();
            let (mut quick, mut expected, mut both) = (Vec::new(), Vec::new(), Vec::new());
            let walked =
                Quick::walk(&path.0, Text::Any(text), &mut |value| quick.push(value.to_owned())).is_some();
            let result = thorough(&path.0, text, &mut |value| expected.push(value.to_owned()));
            prop_assert!(expected.starts_with(&quick) || result.is_err());
            if walked && result.is_ok() {
                prop_assert_eq!(&quick, &expected);
            }
            if result.is_ok() {
                path.values_with(text, |value| both.push(value.to_owned())).expect("values");
                prop_assert_eq!(both, expected);
            }
        }

        #[test]
        fn validated_text_gives_the_same_values(json in json(), path in path(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&json) } else { serde_json::to_string(&json) };
            let text = text.expect("JSON");
            let mut found = Vec::new();
            walk(&path.0, Text::Valid(text.as_bytes()), &mut |value| found.push(value.to_owned())).expect("JSON");
            prop_assert_eq!(found, path.values(text.as_bytes()).expect("JSON"));
        }
    }
}
