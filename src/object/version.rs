//! `resourceVersion`: an opaque text, comparable since KEP-5504, with special meanings in requests when unset or "0".

use std::cmp::Ordering;
use std::fmt;

/// A resourceVersion as the server wrote it.
///
/// Equality compares texts. [`ResourceVersion::compare`] gives the order, which exists only between well-formed
/// versions of one resource on one server (KEP-5504).
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct ResourceVersion(Repr);

/// Nearly every version is a decimal number below 2^64, so most objects need no allocation for it.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
enum Repr {
    #[default]
    Unset,
    Number(u64),
    /// Boxed twice: the rare case must not determine the size of the type.
    Text(Box<Box<str>>),
}

/// The error of comparing versions that have no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("resource version {0:?} is not well-formed, so it has no order")]
pub struct VersionError(pub String);

impl ResourceVersion {
    /// No version: "the most recent state" in a request, "not given" in an object.
    pub const UNSET: Self = Self(Repr::Unset);
    /// "0": "any available state" in a request.
    pub const ANY: Self = Self(Repr::Number(0));

    /// Parses a version; an empty text is [`ResourceVersion::UNSET`].
    #[must_use]
    pub fn new(text: &str) -> Self {
        let canonical = text == "0" || !text.starts_with('0');
        match text.parse::<u64>() {
            _ if text.is_empty() => Self(Repr::Unset),
            Ok(number) if canonical && !text.starts_with('+') => Self(Repr::Number(number)),
            _ => Self(Repr::Text(Box::new(text.into()))),
        }
    }

    /// Returns whether the version is unset.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        self.0 == Repr::Unset
    }

    /// Returns whether the version is "0", the request for any state.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.0 == Repr::Number(0)
    }

    /// Returns the version as a number, unless it is unset, longer than 64 bits or not well-formed.
    #[cfg(feature = "recording")]
    pub(crate) fn number(&self) -> Option<u64> {
        match self.0 {
            Repr::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the version from which a watch sends the changes of this version once more; `None` unless this is a number
    /// above 1.
    ///
    /// A server deletes all objects of an expired etcd lease, such as old events, in one version. A watch that broke off after
    /// one of these deletions is not complete up to its version. Other changes have versions of their own.
    pub(crate) fn before(&self) -> Option<Self> {
        match self.0 {
            Repr::Number(number @ 2..) => Some(Self(Repr::Number(number - 1))),
            _ => None,
        }
    }

    /// Compares two versions of the same resource on the same server by age (KEP-5504: decimal digits without a leading
    /// zero, of any length).
    ///
    /// # Errors
    /// [`VersionError`] when either is unset, "0" or malformed; such versions can only be compared for equality.
    pub fn compare(&self, other: &Self) -> Result<Ordering, VersionError> {
        self.well_formed()?;
        other.well_formed()?;
        if let (Repr::Number(a), Repr::Number(b)) = (&self.0, &other.0) {
            return Ok(a.cmp(b));
        }
        let (a, b) = (self.to_string(), other.to_string());
        Ok(a.len().cmp(&b.len()).then_with(|| a.cmp(&b)))
    }

    fn well_formed(&self) -> Result<(), VersionError> {
        let ok = match &self.0 {
            Repr::Unset => false,
            Repr::Number(number) => *number != 0,
            Repr::Text(text) => !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()),
        };
        if ok { Ok(()) } else { Err(VersionError(self.to_string())) }
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Unset => Ok(()),
            Repr::Number(number) => fmt::Display::fmt(number, f),
            Repr::Text(text) => fmt::Display::fmt(text, f),
        }
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The version of this decimal number.
impl From<u64> for ResourceVersion {
    fn from(number: u64) -> Self {
        Self(Repr::Number(number))
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A18
    #[test]
    fn versions_of_any_length_compare_as_numbers() {
        let nines = "9".repeat(50);
        let beyond = format!("1{}", "0".repeat(50));
        for (a, b, order) in [
            ("100", "200", Ordering::Less),
            ("200", "100", Ordering::Greater),
            ("1", "1", Ordering::Equal),
            ("99", "100", Ordering::Less),
            ("100", "99", Ordering::Greater),
            (&nines, &beyond, Ordering::Less),
            (&beyond, &nines, Ordering::Greater),
            (&nines, &nines, Ordering::Equal),
            ("5", &nines, Ordering::Less),
        ] {
            assert_eq!(ResourceVersion::new(a).compare(&b.into()), Ok(order), "{a} {b}");
        }
    }

    #[test]
    fn malformed_versions_have_no_order_but_keep_their_text() {
        for text in ["", "0", "01", "abc", "-1", "+1", "1.0"] {
            let version = ResourceVersion::new(text);
            assert!(version.compare(&"1".into()).is_err(), "{text:?}");
            assert!(ResourceVersion::new("1").compare(&version).is_err(), "{text:?}");
            assert_eq!(version.to_string(), text);
        }
    }
}
