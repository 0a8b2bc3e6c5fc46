//! The document with the selectors of a recorder, in copies of its recording.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::recording::encryption::Recipients;
use crate::recording::redaction::SecretValues;

/// The path of the document in which a recorder stores its selectors: a JSON object with the values of each flag. No server has
/// this path.
pub const SELECTORS_PATH: &str = "kdelta:selectors";

/// The name of the recipients of an encrypted recording among the selectors.
pub const RECIPIENTS_SELECTOR: &str = "encrypt-to";

/// The name of the treatment of Secrets among the selectors: `keep` or `drop`; without it, their values become hashes.
pub const SECRETS_SELECTOR: &str = "secrets";

/// The name of the redacted paths among the selectors.
pub const REDACTED_SELECTOR: &str = "redact";

/// What a copy redacts in addition to its original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FurtherRedaction {
    pub(super) secrets: SecretValues,
    /// The paths, as a recorder's selectors name them.
    pub(super) paths: Vec<String>,
}

impl FurtherRedaction {
    /// Returns the selectors' document of a recorder with this redaction.
    pub(super) fn as_recorded(&self) -> String {
        // A copy has the rest in addition.
        if self.secrets == SecretValues::Keep {
            serde_json::json!({SECRETS_SELECTOR: ["keep"]}).to_string()
        } else {
            "{}".to_owned()
        }
    }
}

/// Returns the selectors of a copy: a recorder that continues it must redact what the copy does, and have its recipients, which
/// are `None` for a copy that is not encrypted. A document that is missing or is no JSON object has no selectors.
pub(super) fn of_copy(
    document: Option<&[u8]>,
    recipients: Option<&Recipients>,
    redaction: Option<&FurtherRedaction>,
) -> BTreeMap<String, Value> {
    let selectors = document.and_then(|body| serde_json::from_slice(body).ok());
    let mut selectors: BTreeMap<String, Value> = selectors.unwrap_or_default();
    selectors.remove(RECIPIENTS_SELECTOR);
    if let Some(recipients) = recipients {
        selectors.insert(RECIPIENTS_SELECTOR.to_owned(), recipients.names().into());
    }
    if let Some(FurtherRedaction { secrets, paths }) = redaction {
        let texts = |value: Value| serde_json::from_value::<Vec<String>>(value).unwrap_or_default();
        let known = selectors.remove(SECRETS_SELECTOR).map(texts).unwrap_or_default();
        let is_dropped = *secrets == SecretValues::Drop || known == ["drop"];
        let is_kept = *secrets == SecretValues::Keep && known == ["keep"];
        if is_dropped || is_kept {
            let text = if is_dropped { "drop" } else { "keep" };
            selectors.insert(SECRETS_SELECTOR.to_owned(), Value::from(vec![text]));
        }
        let known = selectors.remove(REDACTED_SELECTOR).map(texts).unwrap_or_default();
        let all: BTreeSet<&String> = known.iter().chain(paths).collect();
        if !all.is_empty() {
            selectors.insert(REDACTED_SELECTOR.to_owned(), serde_json::json!(all));
        }
    }
    selectors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_are_those_of_the_copy() {
        let recipient = age::x25519::Identity::generate().to_public().to_string();
        let mut recipients = Recipients::default();
        recipients.add(&recipient).expect("a recipient");
        let copy = |document: Option<&str>, recipients| {
            serde_json::json!(of_copy(document.map(str::as_bytes), recipients, None)).to_string()
        };
        let original = r#"{"encrypt-to":["age1old"],"selector":["app=web"]}"#;
        let encrypted = format!(r#"{{"encrypt-to":["{recipient}"],"selector":["app=web"]}}"#);
        assert_eq!(copy(Some(original), Some(&recipients)), encrypted);
        assert_eq!(copy(Some(r#"{"selector":["app=web"]}"#), Some(&recipients)), encrypted);
        assert_eq!(copy(Some(original), None), r#"{"selector":["app=web"]}"#);
        let only = format!(r#"{{"encrypt-to":["{recipient}"]}}"#);
        for document in [None, Some("[]"), Some("{")] {
            assert_eq!(copy(document, Some(&recipients)), only, "{document:?}");
        }
    }

    #[test]
    fn copies_have_the_stricter_redaction() {
        let copy = |document: &str, secrets, paths: &[&str]| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            let redaction = FurtherRedaction { secrets, paths };
            serde_json::json!(of_copy(Some(document.as_bytes()), None, Some(&redaction))).to_string()
        };
        let (keep, drop) = (r#"{"secrets":["keep"]}"#, r#"{"secrets":["drop"]}"#);
        for (document, secrets, expected) in [
            (keep, SecretValues::Keep, keep),
            (keep, SecretValues::Hash, "{}"),
            (keep, SecretValues::Drop, drop),
            ("{}", SecretValues::Keep, "{}"),
            ("{}", SecretValues::Drop, drop),
            (drop, SecretValues::Keep, drop),
            (drop, SecretValues::Hash, drop),
        ] {
            assert_eq!(copy(document, secrets, &[]), expected, "{document} {secrets:?}");
        }
        let redacted = r#"{"redact":["spec.b","spec.c"]}"#;
        assert_eq!(copy(redacted, SecretValues::Hash, &[]), redacted);
        let both = r#"{"redact":["spec.a","spec.b","spec.c"]}"#;
        assert_eq!(copy(redacted, SecretValues::Hash, &["spec.a", "spec.c"]), both);
        assert_eq!(copy("{", SecretValues::Hash, &["spec.a"]), r#"{"redact":["spec.a"]}"#);
    }
}
