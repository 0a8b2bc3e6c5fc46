//! Patterns for the names of objects, which select some objects of a collection.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::settings::Pattern;

/// The patterns that the user gave for the names of a type. They are applied to the objects of the collection as they
/// arrive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct NamePatterns {
    patterns: Vec<Pattern>,
    /// Names that were given too, and are requested separately.
    except: Vec<String>,
}

impl NamePatterns {
    /// Returns patterns for the objects of a type other than `except`.
    pub(super) fn new(patterns: Vec<Pattern>, except: Vec<String>) -> Self {
        Self { patterns, except }
    }

    /// Whether any pattern matches the name, and the object is not requested separately. Each pattern that matches is
    /// recorded.
    pub(in crate::session) fn matches(&self, name: &str, matched: &MatchedPatterns) -> bool {
        let mut any = false;
        for pattern in self.patterns.iter().filter(|pattern| pattern.matches(name)) {
            matched.record(pattern.text());
            any = true;
        }
        any && !self.except.iter().any(|other| other == name)
    }

    /// Whether objects of this name are selected.
    pub(crate) fn includes(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(name))
            && !self.except.iter().any(|other| other == name)
    }

    /// Returns the patterns as typed.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(Pattern::text)
    }

    /// Returns the patterns as typed, separated by commas.
    pub(crate) fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join(",")
    }
}

/// The patterns of names that have matched an object.
#[derive(Debug, Default)]
pub(crate) struct MatchedPatterns {
    /// As typed. A std lock: held for a lookup, bounded by the words of the command line.
    texts: Mutex<BTreeSet<String>>,
}

impl MatchedPatterns {
    fn record(&self, text: &str) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if !texts.contains(text) {
            texts.insert(text.to_owned());
        }
    }

    /// Whether a pattern has matched an object of any type.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).contains(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_recorded_per_pattern() {
        let texts = ["web-*", "db-?", "x*"];
        let patterns = NamePatterns::new(texts.map(Pattern::new).into(), vec!["web-1".into(), "x1".into()]);
        let matched = MatchedPatterns::default();
        for (name, expected) in [("web-2", true), ("web-1", false), ("db-10", false), ("api", false)] {
            assert_eq!(patterns.matches(name, &matched), expected, "{name}");
        }
        assert!(!patterns.matches("x1", &matched), "it is requested separately, but exists");
        assert_eq!(texts.map(|text| matched.contains(text)), [true, false, true]);
        assert_eq!(patterns.text(), "web-*,db-?,x*");
    }
}
