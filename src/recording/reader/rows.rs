//! Reads the rows of the objects of a state.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use super::chains::{Chain, Chains, RowPlace};
use super::order::{HasNames, WithPrefix, sorted};
use super::parallel::{self, MIN_PARALLEL};
use super::segment_file::{PayloadBytes, Segment};
use super::state_files::StateFiles;
use crate::object::{ApiResource, Column, Object, ResourceVersion, TypeMeta};
use crate::recording::files::FileError;
use crate::recording::keyframe::{Keyframe, KeyframeRow};
use crate::recording::last_state::RowTemplate;
use crate::recording::payload::split_row;
use crate::recording::row_template::{needs_body, render};
use crate::recording::tables::Tables;
use crate::recording::type_log::{Payload, Place};

/// Returns the object of a chain without its body. Its version is the one in the columns.
pub(super) fn named(chain: &Chain, type_meta: &Arc<TypeMeta>) -> Object {
    Object::with_key(Arc::clone(type_meta), Arc::clone(&chain.key), chain.namespace_len)
        .with_resource_version(ResourceVersion::from(chain.version))
}

/// Creates a value from the number of a chain, the payload of its row and the columns of its file.
type Make<'a, T> = dyn Fn(usize, &[u8], &[Arc<[Column]>]) -> Option<T> + Sync + 'a;

/// Creates a value from a chain, and the columns and the template of its row. Returns `None` for a damaged template.
type MakeOfRow<'a, T> = dyn Fn(&Chain, &Arc<[Column]>, &[u8]) -> Option<T> + Sync + 'a;

/// The file of a row. The number of a segment is its position in the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum RowFile {
    /// The base of the keyframe.
    Base,
    Keyframe,
    Segment(u32),
}

/// The place of the row of a chain: the file, the place in the file, and the number of the chain.
type RowOfChain = (RowFile, Place, usize);

/// The columns of each file with rows.
type ColumnsOfFiles = HashMap<RowFile, Vec<Arc<[Column]>>>;

impl Chains {
    /// Returns objects without bodies that have rows with ages as of a time, sorted by namespace and name, or `None` if a
    /// row can only be rendered with its body.
    pub(super) fn objects_of_rows(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        now: Timestamp,
    ) -> Result<Option<Vec<Arc<Object>>>, FileError> {
        let type_meta = resource.type_meta();
        self.rows_without_bodies(files, resource, &|chain, columns, template| {
            let object = named(chain, &type_meta);
            let row = render(template, columns, &object, now)?;
            Some(Arc::new(object.with_row(row)))
        })
    }

    /// Returns the values that `make` creates, sorted by namespace and name, or `None` if a row can only be rendered with its
    /// body.
    pub(super) fn rows_without_bodies<T: HasNames + Send>(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        make: &MakeOfRow<'_, T>,
    ) -> Result<Option<Vec<T>>, FileError> {
        let all = 0..self.objects.len();
        let rows = self.read_rows(files, resource, all, &|chain, payload, columns| {
            let (columns, template) = split_row(payload, columns)?;
            if needs_body(template) {
                return Some(None);
            }
            Some(Some(WithPrefix::new(make(&self.objects[chain], columns, template)?)))
        })?;
        Ok(rows.into_iter().map(|(_, row)| row).collect::<Option<Vec<_>>>().map(sorted))
    }

    /// Returns the columns and the template of the row of each chain.
    pub(super) fn templates(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
    ) -> Result<Vec<Option<RowTemplate>>, FileError> {
        self.templates_of(files, resource, 0..self.objects.len())
    }

    /// Returns the columns and the template of the row of each chain in a range.
    pub(super) fn templates_of(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        part: Range<usize>,
    ) -> Result<Vec<Option<RowTemplate>>, FileError> {
        let (start, mut templates) = (part.start, vec![None; part.len()]);
        let read = self.read_rows(files, resource, part, &|_, payload, columns| {
            let (columns, template) = split_row(payload, columns)?;
            Some((Arc::clone(columns), template.into()))
        })?;
        for (chain, template) in read {
            templates[chain - start] = Some(template);
        }
        Ok(templates)
    }

    /// Returns the values that `make` creates from the rows of a range of the chains, each with the number of its chain.
    fn read_rows<T: Send>(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        part: Range<usize>,
        make: &Make<'_, T>,
    ) -> Result<Vec<(usize, T)>, FileError> {
        // In the order of the files, so that each block is read once.
        let mut places: Vec<RowOfChain> = Vec::new();
        for number in part {
            match self.objects[number].row {
                Some(RowPlace::Keyframe(KeyframeRow::OfBase(place))) => {
                    places.push((RowFile::Base, place, number));
                }
                Some(RowPlace::Keyframe(KeyframeRow::Own(place))) => {
                    places.push((RowFile::Keyframe, place, number));
                }
                Some(RowPlace::Segment(segment, place)) => {
                    places.push((RowFile::Segment(segment), place, number));
                }
                None => {}
            }
        }
        places.sort_unstable_by_key(|(file, place, _)| (*file, place.block, place.at));
        let columns = &columns_of_files(files, &places);
        if places.len() < MIN_PARALLEL || files.threads == 1 {
            return read_places(files, resource, &places, columns, make);
        }
        let share = places.len().div_ceil(files.threads);
        let parts = parallel::map_on(files.threads, places.chunks(share), |places| {
            read_places(files, resource, places, columns, make)
        });
        let mut all = Vec::with_capacity(places.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }
}

/// Returns the columns of each file with one of these places. Equal ones are shared, so that rows of different files are
/// recognized as those of one table without a comparison of texts.
fn columns_of_files(files: &StateFiles, places: &[RowOfChain]) -> ColumnsOfFiles {
    let mut known: Vec<Arc<[Column]>> = Vec::new();
    let mut of_files = ColumnsOfFiles::new();
    for same_file in places.chunk_by(|(one, ..), (next, ..)| one == next) {
        let file = same_file[0].0;
        let tables = source_of(files, file).map(RowSource::tables);
        let columns = tables.into_iter().flat_map(|tables| &tables.columns).map(|own| {
            let shared = known.iter().find(|known| *known == own).map(Arc::clone);
            shared.unwrap_or_else(|| {
                known.push(Arc::clone(own));
                Arc::clone(own)
            })
        });
        of_files.insert(file, columns.collect());
    }
    of_files
}

/// An open file with rows.
#[derive(Clone, Copy)]
enum RowSource<'a> {
    /// The keyframe of a state, or its base.
    Keyframe(&'a Keyframe),
    Segment(&'a Segment),
}

/// Returns the open file of a state.
fn source_of(files: &StateFiles, file: RowFile) -> Option<RowSource<'_>> {
    let keyframe = files.keyframe.as_deref();
    match file {
        RowFile::Base => keyframe.and_then(Keyframe::base).map(RowSource::Keyframe),
        RowFile::Keyframe => keyframe.map(RowSource::Keyframe),
        RowFile::Segment(segment) => files.segments.get(segment as usize).map(|of| RowSource::Segment(of)),
    }
}

impl<'a> RowSource<'a> {
    fn tables(self) -> &'a Tables {
        match self {
            Self::Keyframe(keyframe) => &keyframe.footer().tables,
            Self::Segment(segment) => segment.tables(),
        }
    }

    /// Reads a block of rows.
    fn rows(self, resource: &ApiResource, block: u32) -> Result<PayloadBytes<'a>, FileError> {
        match self {
            Self::Keyframe(keyframe) => keyframe.rows(resource, block).map(PayloadBytes::Read),
            Self::Segment(segment) => segment.payload(resource, Payload::Rows, block),
        }
    }

    /// Returns the error of an invalid row in a block.
    fn invalid_row(self, resource: &ApiResource, block: u32) -> FileError {
        match self {
            Self::Keyframe(keyframe) => keyframe.invalid_row(),
            Self::Segment(segment) => {
                segment.invalid(resource, Payload::Rows, block, "a row can't be decoded")
            }
        }
    }
}

fn read_places<T>(
    files: &StateFiles,
    resource: &ApiResource,
    places: &[RowOfChain],
    columns: &ColumnsOfFiles,
    make: &Make<'_, T>,
) -> Result<Vec<(usize, T)>, FileError> {
    let mut values = Vec::with_capacity(places.len());
    for same_block in
        places.chunk_by(|(file, place, _), (next, other, _)| (file, place.block) == (next, other.block))
    {
        let (file, Place { block, .. }, _) = same_block[0];
        let (Some(source), Some(columns)) = (source_of(files, file), columns.get(&file)) else { continue };
        let rows = source.rows(resource, block)?;
        for (_, place, chain) in same_block {
            let value = place.of(&rows).and_then(|row| make(*chain, row, columns));
            values.push((*chain, value.ok_or_else(|| source.invalid_row(resource, block))?));
        }
    }
    Ok(values)
}
