//! Computes the sizes and counts of a recording.

use std::collections::HashMap;
use std::sync::Arc;

use crate::object::ApiResource;
use crate::recording::files::FileError;
use crate::recording::reader::catalog::Catalog;
use crate::recording::reader::chains::Chains;
use crate::recording::reader::resources::sorted_resources;
use crate::recording::reader::segment_file::Segment;
use crate::recording::segment::{BlockRef, TypeFooter};
use crate::recording::type_log::TypeLog;
use crate::recording::usage::{TypeUsage, Usage};

impl Catalog {
    pub(in crate::recording::reader) fn usage(&self) -> Result<Usage, FileError> {
        let observed = self.observed_times()?;
        let mut usage = Usage { first: self.beginning(), last: self.end_time(), ..Usage::default() };
        let mut types: HashMap<Arc<ApiResource>, TypeUsage> = HashMap::new();
        for file in &self.segments {
            let segment = file.open()?;
            usage.files += 1;
            usage.entries += segment.header().count;
            match &*segment {
                Segment::Sealed(sealed) => {
                    usage.bytes += sealed.len();
                    for of_type in &sealed.footer().types {
                        let resource = &sealed.footer().tables.resources[of_type.resource];
                        add(of_type, types.entry(Arc::clone(resource)).or_insert_with(|| empty(resource)));
                    }
                }
                Segment::Journal(view) => {
                    usage.journal_bytes += view.journal.length;
                    usage.bytes += view.journal.length;
                    let whole = view.journal.text_len;
                    for resource in &view.journal.tables.resources {
                        let of_type = types.entry(Arc::clone(resource)).or_insert_with(|| empty(resource));
                        let Some(log) = segment.log(resource)? else { continue };
                        of_type.versions += log.entries.len() as u64;
                        of_type.journal_bytes += share(view.journal.length, text_bytes(&log), whole);
                    }
                }
            }
        }
        for number in &self.keyframes {
            let keyframe = self.open_keyframe(*number)?;
            // A base that retention renamed is no keyframe of the recording.
            let base = keyframe.base().filter(|base| !self.keyframes.contains(&base.header().first));
            for keyframe in base.into_iter().chain([&keyframe]) {
                usage.files += 1;
                usage.bytes += keyframe.len();
                for of_type in &keyframe.footer().types {
                    let resource = &keyframe.footer().tables.resources[of_type.resource];
                    let entry = types.entry(Arc::clone(resource)).or_insert_with(|| empty(resource));
                    entry.keyframe_bytes += of_type.all_blocks().map(|block| block.length).sum::<u64>();
                }
            }
        }
        let files = self.files_before(self.end()?, self.end_time())?;
        for (resource, of_type) in &mut types {
            of_type.namespaces = observed.namespaces(resource);
            of_type.objects = Chains::collect(&files, resource, |_, _| true)?.objects.len() as u64;
        }
        let of_types = |of: &TypeUsage| of.body_bytes + of.row_bytes + of.column_bytes + of.keyframe_bytes;
        usage.other_bytes = usage.bytes - usage.journal_bytes - types.values().map(of_types).sum::<u64>();
        let sorted = sorted_resources(types.keys());
        usage.gaps = observed.into_gaps();
        usage.types = sorted.iter().filter_map(|resource| types.remove(resource)).collect();
        Ok(usage)
    }
}

fn empty(resource: &Arc<ApiResource>) -> TypeUsage {
    TypeUsage {
        resource: Arc::clone(resource),
        namespaces: Vec::new(),
        versions: 0,
        objects: 0,
        body_bytes: 0,
        row_bytes: 0,
        column_bytes: 0,
        name_bytes: 0,
        keyframe_bytes: 0,
        journal_bytes: 0,
    }
}

/// Returns the length of all bodies and rows.
fn text_bytes(log: &TypeLog) -> u64 {
    log.entries.iter().map(|entry| u64::from(entry.body.len) + u64::from(entry.row.len)).sum()
}

/// Returns the part of a number that corresponds to `part` of `whole`.
fn share(number: u64, part: u64, whole: u64) -> u64 {
    let product = u128::from(number) * u128::from(part);
    product.checked_div(whole.into()).and_then(|share| share.try_into().ok()).unwrap_or_default()
}

fn add(of_type: &TypeFooter, usage: &mut TypeUsage) {
    let bytes = |blocks: &[BlockRef]| blocks.iter().map(|block| block.length).sum::<u64>();
    usage.versions += u64::from(of_type.entries);
    usage.body_bytes += bytes(&of_type.bodies);
    usage.row_bytes += bytes(&of_type.rows);
    let names = bytes(&of_type.names) + bytes(&of_type.filters);
    usage.name_bytes += names;
    usage.column_bytes += bytes(&of_type.columns) + names;
}
