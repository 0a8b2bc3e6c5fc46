//! The checkpoint of a run: a file with the objects that it covers, the version up to which each part was handled, and the
//! state in which each object was handled.

mod file;
mod writer;

pub(super) use file::Coverage;
pub(super) use writer::{CheckpointLock, CheckpointWriter};

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, bail};
use jiff::Timestamp;
use kdelta::object::{ResourceVersion, Uid};

use super::progress::{HandledState, PartProgress, Progress};
use crate::session::Session;
use crate::settings::CheckpointFile;
use file::{Document, SavedPart};

/// Returns what the checkpoint of a run covers.
pub(super) fn coverage(file: &CheckpointFile, session: &Session) -> Coverage {
    let servers = session.servers().into_iter().map(|[context, server, namespace]| {
        // The context, the server and the default namespace, which has no space in it.
        format!("{context} {server} {namespace}").trim().to_owned()
    });
    let selection = file.coverage.iter().map(|(name, values)| ((*name).to_owned(), values.clone()));
    selection.chain([("servers".to_owned(), servers.collect())]).collect()
}

/// Reads a checkpoint. A missing file is an empty progress.
///
/// # Errors
/// The file can't be read, is no checkpoint of this version, or covers other objects.
pub(super) fn read(path: &Path, coverage: &Coverage) -> anyhow::Result<Progress> {
    let of_file = || format!("checkpoint {}", path.display());
    let Some(document) = file::read(path).with_context(of_file)? else { return Ok(Progress::default()) };
    if let Some(difference) = difference(&document.covers, coverage) {
        bail!(
            "{} covers other objects: {difference}; give another file, or remove it to start with the current objects",
            of_file()
        );
    }
    let mut progress = Progress::default();
    for SavedPart { id, resource_version, objects } in document.parts {
        let states: HashMap<_, _> = objects
            .into_iter()
            .map(|(key, [uid, version])| {
                let state = HandledState { uid: Uid::new(&uid), version: ResourceVersion::new(&version) };
                (key.into(), state)
            })
            .collect();
        let version = resource_version.as_deref().map(ResourceVersion::new);
        progress.insert(id, PartProgress::restored(version, states));
    }
    Ok(progress)
}

/// Returns the first difference between two coverages.
fn difference(saved: &Coverage, current: &Coverage) -> Option<String> {
    let none = Vec::new();
    let mut names = saved.keys().chain(current.keys());
    let name = names.find(|name| saved.get(*name) != current.get(*name))?;
    let [saved, current] = [saved, current].map(|coverage| coverage.get(name).unwrap_or(&none).join(","));
    Some(format!("its {name} are {saved:?}, and those of this run are {current:?}"))
}

/// Returns the text of a checkpoint.
///
/// # Errors
/// Returns an error if the progress can't be written as JSON, which never happens.
pub(super) fn text(coverage: &Coverage, progress: &Progress) -> anyhow::Result<Vec<u8>> {
    let parts = progress.parts().filter(|(_, _, part)| !part.is_empty()).map(|(_, id, part)| SavedPart {
        id: id.clone(),
        resource_version: part.version().map(ToString::to_string),
        objects: part
            .states()
            .iter()
            .map(|(key, state)| (key.to_string(), [state.uid.to_string(), state.version.to_string()]))
            .collect(),
    });
    let document = Document::new(coverage.clone(), Timestamp::now(), parts.collect());
    Ok(serde_json::to_vec(&document)?)
}

#[cfg(test)]
mod tests {
    use super::super::progress::{PartId, StateUpdate};
    use super::*;

    fn part_id() -> PartId {
        PartId {
            context: "prod".into(),
            group: String::new(),
            resource: "pods".into(),
            namespace: "shop".into(),
            name: None,
            patterns: None,
        }
    }

    fn covers(types: &str) -> Coverage {
        [("types".to_owned(), vec![types.to_owned()])].into()
    }

    fn state(version: &str) -> HandledState {
        HandledState { uid: Uid::new("u-1"), version: version.into() }
    }

    #[test]
    fn written_checkpoint_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c");
        assert_eq!(read(&path, &covers("pods")).expect("no file").parts().count(), 0);
        let mut progress = Progress::default();
        let part = progress.part(&part_id());
        progress.get_mut(part).received(&"7".into());
        let waiting =
            progress.add_pending(StateUpdate { part, key: "shop/b".into(), state: Some(state("9")) });
        progress.apply(StateUpdate { part, key: "shop/a".into(), state: Some(state("8")) });
        progress.get_mut(part).received(&"9".into());
        let written = text(&covers("pods"), &progress).expect("JSON");
        writer::write(&path, &written).expect("a folder");
        let restored = read(&path, &covers("pods")).expect("a checkpoint");
        let (_, id, restored) = restored.parts().next().expect("a part");
        assert_eq!((id, restored.version()), (&part_id(), Some(&"7".into())));
        assert_eq!(restored.states().get("shop/a"), Some(&state("8")));
        assert_eq!(restored.states().len(), 1);
        progress.finish(waiting);
        assert_eq!(progress.get(part).version(), Some(&"9".into()));
        let names: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c");
        writer::write(&path, &text(&covers("pods"), &Progress::default()).expect("JSON")).expect("a folder");
        let error = read(&path, &covers("svc")).expect_err("other types").to_string();
        assert!(error.contains("covers other objects: its types are \"pods\""), "{error}");
        for (text, expected) in [
            ("{\"format\":\"kdelta-run-checkpoint\",\"v\":2}", "version 2"),
            ("{\"format\":\"other\",\"v\":1}", "no checkpoint"),
            ("[]", "no checkpoint"),
            ("", "no checkpoint"),
        ] {
            std::fs::write(&path, text).expect("a file");
            let error = format!("{:#}", read(&path, &covers("pods")).expect_err(text));
            assert!(error.contains(expected), "{error}");
        }
    }
}
