//! The value of `--api-version`.

/// The text has more than one slash. The message is kubectl's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unexpected GroupVersion string: {0}")]
pub(super) struct GroupVersionError(String);

/// Splits `apps/v1` or `v1` into group and version.
///
/// # Errors
/// There is more than one slash.
pub(super) fn parse_group_version(text: &str) -> Result<(String, String), GroupVersionError> {
    match text.split_once('/') {
        None => Ok((String::new(), text.to_owned())),
        Some((group, version)) if !version.contains('/') => Ok((group.to_owned(), version.to_owned())),
        Some(_) => Err(GroupVersionError(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_is_optional() {
        let parsed = |text| parse_group_version(text).ok();
        assert_eq!(parsed("apps/v1"), Some(("apps".into(), "v1".into())));
        assert_eq!(parsed("v1"), Some((String::new(), "v1".into())));
        assert_eq!(parsed("/"), Some((String::new(), String::new())));
        assert_eq!(parsed("a/b/c"), None);
    }
}
