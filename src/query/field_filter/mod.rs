//! Conditions on fields that servers do not know: `spec.nodeName in (a, b)`, `status.phase notin (Running)` and
//! `status.containerStatuses[*].restartCount>3`.

mod syntax;
mod term;
#[cfg(test)]
mod tests;

pub use syntax::FieldFilterError;

use std::fmt;

use crate::object::Object;
use term::Term;

/// Conditions on fields, all of which must hold; an empty filter matches every object.
///
/// The terms may stand among those of a [`FieldSelector`](crate::object::FieldSelector), which servers evaluate, and any
/// [`FieldPath`](crate::object::FieldPath) may be named. An absent field has the empty value in a set, and is in no order. Of
/// a field with several values, one must be in the set of `in` or in the order of a comparison, and none in the set of
/// `notin`. Numbers and [quantities](crate::query::Quantity) compare by their value, other texts, such as times, by their
/// characters.
///
/// ```
/// # use kdelta::query::FieldFilter;
/// # let source = kdelta::testing::FakeSource::new();
/// # source.add(serde_json::json!({
/// #     "metadata": {"name": "web"}, "spec": {"nodeName": "north", "limit": "1500Mi"}, "status": {"restarts": [0, 12]},
/// # }));
/// # let web = source.objects().remove(0);
/// let (selector, filter) = FieldFilter::split("metadata.name=web,spec.nodeName in (north, south),status.restarts[*]>3")?;
/// assert_eq!(selector, "metadata.name=web");
/// assert_eq!(filter.to_string(), "spec.nodeName in (north, south),status.restarts[*]>3");
/// assert!(filter.matches(&web));
/// assert!(FieldFilter::split("spec.limit>=1Gi")?.1.matches(&web));
/// assert!(!FieldFilter::split("spec.nodeName notin (north)")?.1.matches(&web));
/// # Ok::<(), kdelta::query::FieldFilterError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldFilter(Vec<Term>);

impl FieldFilter {
    /// Splits a selector. Returns the terms that follow kubectl's grammar, valid or not, as they are written, and the
    /// filter of the others.
    ///
    /// # Errors
    /// A term has an operator of this filter, and is invalid.
    pub fn split(text: &str) -> Result<(String, Self), FieldFilterError> {
        let (others, terms) = syntax::split(text)?;
        Ok((others, Self(terms)))
    }

    /// Returns whether every object matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the object matches. Fields that can't be read count as absent.
    #[must_use]
    pub fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|term| term.matches(|visit| term.path.values_of(object, visit)))
    }

    /// Returns whether an object given as JSON text matches.
    #[must_use]
    pub fn matches_json(&self, json: &[u8]) -> bool {
        self.0.iter().all(|term| term.matches(|visit| term.path.values_with(json, visit)))
    }

    /// Returns whether the metadata of an object is enough.
    #[must_use]
    pub fn reads_only_metadata(&self) -> bool {
        self.0.iter().all(Term::reads_only_metadata)
    }
}

/// Formats the terms as they were written, separated by commas.
impl fmt::Display for FieldFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, term) in self.0.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { "," })?;
            f.write_str(&term.text)?;
        }
        Ok(())
    }
}
