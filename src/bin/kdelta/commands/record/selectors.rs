//! The selectors of a recording, stored in it as a document. Later recorders must have the same selectors.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use kdelta::recording::{
    Keyring, Moment, RECIPIENTS_SELECTOR, Recording, RecordingError, SECRETS_SELECTOR, SELECTORS_PATH, Writer,
};

use super::failure;
use crate::exit::Hint;

/// The values of each flag that selects objects of a collection.
type Selectors = BTreeMap<String, Vec<String>>;

/// Checks that an existing recording has the same selectors: the past of objects that match only other selectors is
/// unknown. Returns the time of its last entry.
///
/// # Errors
/// The recording can't be read, or has other selectors.
pub(super) fn check(
    dir: &Path,
    selectors: &Selectors,
    keyring: &Keyring,
) -> anyhow::Result<Option<Timestamp>> {
    let recording = match Recording::open_with(dir, keyring) {
        Ok(recording) => recording,
        // The writer removes the file of a recorder that was killed at once, and continues after a damaged part.
        Err(RecordingError::NotARecording { .. } | RecordingError::Damaged(_)) => return Ok(None),
        Err(RecordingError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(failure::of_recording(error)),
    };
    let documents = recording.state(Moment::End).and_then(|state| state.documents());
    let document = match documents {
        // The recorder was killed before its first write, which has the selectors.
        Ok(documents) if documents.is_empty() && recording.resources().is_ok_and(|all| all.is_empty()) => {
            return Ok(None);
        }
        Ok(documents) => documents.get(SELECTORS_PATH).cloned(),
        Err(RecordingError::Damaged(_)) => return Ok(recording.end()),
        Err(error) => return Err(failure::of_recording(error)),
    };
    let mut recorded: Selectors =
        document.map(|body| serde_json::from_slice(&body)).transpose()?.unwrap_or_default();
    // Copies that older versions made have the document of their original, which may be encrypted otherwise.
    if !recording.is_encrypted() {
        recorded.remove(RECIPIENTS_SELECTOR);
    } else if let Some(recipients) = selectors.get(RECIPIENTS_SELECTOR)
        && !recorded.contains_key(RECIPIENTS_SELECTOR)
    {
        recorded.insert(RECIPIENTS_SELECTOR.to_owned(), recipients.clone());
    }
    let mut names = recorded.keys().chain(selectors.keys());
    if let Some(name) = names.find(|name| recorded.get(*name) != selectors.get(*name)) {
        let [old, new] = [&recorded, selectors].map(|all| value(all, name));
        let hint = "give the same flags, or another directory with --to";
        let message = format!(
            "{}: the recording was made with other flags: its {name} is {old:?}, and that of this command {new:?}",
            dir.display()
        );
        return Err(anyhow::Error::msg(message).context(Hint(hint.to_owned())));
    }
    Ok(recording.end())
}

/// Returns the value of a flag; for one that is not given, its default.
fn value(selectors: &Selectors, name: &str) -> String {
    match selectors.get(name) {
        Some(values) => values.join(","),
        None if name == SECRETS_SELECTOR => "hash".to_owned(),
        None => String::new(),
    }
}

/// Records the selectors of a new recording.
///
/// # Errors
/// The file can't be written.
pub(super) fn write(writer: &mut Writer, selectors: &Selectors) -> Result<(), RecordingError> {
    if selectors.is_empty() {
        return Ok(());
    }
    let document = serde_json::json!(selectors).to_string();
    writer.document(SELECTORS_PATH, document.as_bytes(), Timestamp::now())
}

#[cfg(test)]
mod tests {
    use kdelta::recording::WriterOptions;

    use super::*;

    #[test]
    fn recorder_that_was_killed_before_its_first_write_has_no_selectors() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("c");
        let open = || Writer::open(&path, "c", WriterOptions::default(), Timestamp::UNIX_EPOCH);
        let check = |selectors: &Selectors| check(&path, selectors, &Keyring::default());
        let selectors = Selectors::from([(SECRETS_SELECTOR.to_owned(), vec!["drop".to_owned()])]);
        drop(open().expect("a writer"));
        assert_eq!(check(&selectors).expect("a new recording"), None);
        let mut writer = open().expect("a writer");
        write(&mut writer, &selectors).expect("written");
        writer.finish(Timestamp::UNIX_EPOCH).expect("finished");
        assert!(check(&selectors).expect("the same selectors").is_some());
        let error = check(&Selectors::new()).expect_err("other selectors");
        assert!(format!("{error:#}").contains("its secrets is \"drop\""), "{error:#}");
    }
}
