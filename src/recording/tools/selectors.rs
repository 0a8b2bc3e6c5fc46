//! The document with the selectors of a recorder, in copies of its recording.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::recording::encryption::Recipients;

/// The path of the document in which a recorder stores its selectors: a JSON object with the values of each flag. No server has
/// this path.
pub const SELECTORS_PATH: &str = "kdelta:selectors";

/// The name of the recipients of an encrypted recording among the selectors.
pub const RECIPIENTS_SELECTOR: &str = "encrypt-to";

/// Returns the selectors of a copy, with the recipients of the copy; `None` for one that is not encrypted. Without a document, or
/// with one that is no JSON object, the recipients are all.
pub(super) fn of_copy(document: Option<&[u8]>, recipients: Option<&Recipients>) -> Vec<u8> {
    let selectors = document.and_then(|body| serde_json::from_slice(body).ok());
    let mut selectors: BTreeMap<String, Value> = selectors.unwrap_or_default();
    selectors.remove(RECIPIENTS_SELECTOR);
    if let Some(recipients) = recipients {
        selectors.insert(RECIPIENTS_SELECTOR.to_owned(), recipients.names().into());
    }
    serde_json::json!(selectors).to_string().into_bytes()
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
            String::from_utf8(of_copy(document.map(str::as_bytes), recipients)).expect("text")
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
}
