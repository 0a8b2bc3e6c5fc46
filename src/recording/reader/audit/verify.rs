//! Verifies all files of a recording.

use std::sync::Arc;

use crate::recording::entry::EntryFilter;
use crate::recording::error::{Damage, RecordingError};
use crate::recording::files::FileError;
use crate::recording::keyframe::Keyframe;
use crate::recording::last_state::with_row;
use crate::recording::payload::ingest;
use crate::recording::reader::catalog::{Catalog, time_of};
use crate::recording::reader::chains::{Chains, identity};
use crate::recording::reader::entries::Entries;
use crate::recording::reader::parallel;
use crate::recording::reader::segment_file::SegmentFile;
use crate::recording::reader::state_files::{LateLists, Limit, StateFiles};
use crate::recording::segment::Sealed;

/// Appends the damaged parts of all files.
pub(in crate::recording::reader) fn verify(
    catalog: &Arc<Catalog>,
    damages: &mut Vec<Damage>,
) -> Result<(), RecordingError> {
    for file in &catalog.segments {
        if let SegmentFile::Sealed { path, cipher, .. } = &**file {
            let failures = match Sealed::open(path.clone(), cipher.as_ref()) {
                Ok(sealed) => sealed.damaged_blocks(),
                Err(error) => vec![error],
            };
            add(catalog, failures, damages)?;
        }
    }
    for number in &catalog.keyframes {
        add(catalog, verify_keyframe(catalog, *number), damages)?;
    }
    for loss in &catalog.losses {
        add(catalog, vec![catalog.lost(*loss)], damages)?;
    }
    // Decodes every version along its chain, which finds damage that no checksum covers.
    for entry in Entries::new(Arc::clone(catalog), EntryFilter::default(), catalog.start(), u64::MAX) {
        match entry {
            Ok(_) => {}
            Err(RecordingError::Damaged(damage)) if damages.iter().any(|known| known.file == damage.file) => {
            }
            Err(RecordingError::Damaged(damage)) => damages.push(damage),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads all blocks of a keyframe and decodes all of its objects.
fn verify_keyframe(catalog: &Catalog, number: u64) -> Vec<FileError> {
    let keyframe = match catalog.open_keyframe(number) {
        Ok(keyframe) => Arc::new(keyframe),
        Err(error) => return vec![error],
    };
    let mut failures = keyframe.damaged_blocks();
    // A base that retention renamed is no keyframe of the recording.
    let base = keyframe.base().filter(|base| !catalog.keyframes.contains(&base.header().first));
    failures.extend(base.into_iter().flat_map(Keyframe::damaged_blocks));
    if failures.is_empty() {
        let time = time_of(keyframe.header().first_time);
        let limit = Limit::Entries(number);
        let files = StateFiles {
            keyframe: Some(Arc::clone(&keyframe)),
            segments: Vec::new(),
            limit,
            late_lists: LateLists::default(),
            time: Some(time),
            threads: parallel::threads(),
        };
        for resource in &keyframe.footer().tables.resources {
            let ingest = ingest(resource.type_meta());
            let decode = || {
                let chains = Chains::collect(&files, resource, |_, _| true)?;
                let rows = chains.templates(&files, resource)?;
                chains.decode(&files, resource, &|at, own, text| {
                    let object = identity(&chains.objects[at], own).object(text, &ingest)?;
                    with_row(object, rows[at].as_ref(), time).map(drop)
                })
            };
            failures.extend(decode().err());
        }
        failures.extend(keyframe.items(true).err());
    }
    failures
}

fn add(catalog: &Catalog, failures: Vec<FileError>, damages: &mut Vec<Damage>) -> Result<(), RecordingError> {
    for failure in failures {
        match catalog.error(failure) {
            RecordingError::Damaged(damage) => {
                // Damage of a base is found in the keyframe that refers to it too.
                if !damages.iter().any(|known| (&known.file, known.offset) == (&damage.file, damage.offset)) {
                    damages.push(damage);
                }
            }
            error => return Err(error),
        }
    }
    Ok(())
}
