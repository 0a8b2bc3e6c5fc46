//! Reads a keyframe.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::object::ApiResource;
use crate::recording::bytes::Cursor;
use crate::recording::encryption::Cipher;
use crate::recording::files::{FileError, Header, Kind, RandomAccess};
use crate::recording::flags::Flags;
use crate::recording::frame::FrameContext;
use crate::recording::journal::{take_optional, take_version};
use crate::recording::names::{GROUP, Names};
use crate::recording::payload::split_version;
use crate::recording::position::Position;
use crate::recording::segment::{
    BODIES, BlockRef, DOCUMENT, Footer, ITEMS, KEYFRAME_FOOTER, NAMES, ROWS, TypeFooter, WholeTextReader,
    read_footer, read_header,
};
use crate::recording::tables::{take_size, take_string, take_u32};
use crate::recording::type_log::Place;

/// The positions of watches, and the documents.
type Items = (Vec<Position>, BTreeMap<Arc<str>, Bytes>);

/// A keyframe.
#[derive(Debug)]
pub(in crate::recording) struct Keyframe {
    access: RandomAccess,
    header: Header,
    footer: Footer,
}

/// The objects of one type, without their texts.
#[derive(Debug, Default)]
pub(in crate::recording) struct KeyframeObjects {
    pub(in crate::recording) names: Names,
    pub(in crate::recording) objects: Vec<KeyframeObject>,
}

/// An object of a keyframe.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct KeyframeObject {
    pub(in crate::recording) version: u64,
    /// Whether the object's own version precedes the body.
    pub(in crate::recording) has_own_version: bool,
    pub(in crate::recording) body: Place,
    /// The row, if there is one.
    pub(in crate::recording) row: Option<Place>,
}

impl Keyframe {
    pub(in crate::recording) fn open(path: PathBuf, cipher: Option<&Arc<Cipher>>) -> Result<Self, FileError> {
        let access = RandomAccess::open(path, cipher)?;
        let (header, start) = read_header(&access, Kind::Keyframe)?;
        let (payload, at) = read_footer(&access, KEYFRAME_FOOTER)?;
        let mut cursor = Cursor::new(&payload);
        let footer = Footer::take(&mut cursor, start..at).filter(|_| cursor.is_empty());
        let footer = footer.ok_or_else(|| access.damaged(at, "the footer is invalid"))?;
        Ok(Self { access, header, footer })
    }

    pub(in crate::recording) fn len(&self) -> u64 {
        self.access.len()
    }

    pub(in crate::recording) fn header(&self) -> &Header {
        &self.header
    }

    pub(in crate::recording) fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Returns the types with objects.
    pub(in crate::recording) fn types_with_objects(&self) -> impl Iterator<Item = &Arc<ApiResource>> {
        let with_objects = self.footer.types.iter().filter(|of_type| of_type.objects > 0);
        with_objects.filter_map(|of_type| self.footer.tables.resources.get(of_type.resource))
    }

    fn block(&self, tag: u8, block: &BlockRef) -> Result<Vec<u8>, FileError> {
        self.access.block(tag, block.offset, block.length)
    }

    /// Reads every block, for its checksum, and returns the damaged ones.
    pub(in crate::recording) fn damaged_blocks(&self) -> Vec<FileError> {
        self.footer.damaged_blocks(&self.access)
    }

    fn of_type(&self, resource: &ApiResource) -> Option<&TypeFooter> {
        let number = self.footer.tables.resource(resource)?;
        self.footer.types.iter().find(|of_type| of_type.resource == number)
    }

    /// Returns the names and versions of the objects of a type.
    pub(in crate::recording) fn objects(&self, resource: &ApiResource) -> Result<KeyframeObjects, FileError> {
        let mut all = KeyframeObjects::default();
        let Some(of_type) = self.of_type(resource) else { return Ok(all) };
        // Reserved exactly: a buffer that grows would take up to twice the memory. A false number reserves little.
        let count = (of_type.objects as usize).min(of_type.names.len() * GROUP);
        all.objects.reserve_exact(count);
        all.names.reserve(count);
        for (number, block) in (0u32..).zip(&of_type.names) {
            let payload = self.block(NAMES, block)?;
            let taken = all.take_group(number, &mut Cursor::new(&payload), self.access.len());
            taken.ok_or_else(|| self.access.damaged(block.offset, "the names are invalid"))?;
        }
        if all.objects.len() != of_type.objects as usize {
            return Err(self.access.damaged(0, "the names are incomplete"));
        }
        Ok(all)
    }

    /// Reads the texts of the objects for which `wanted` returns true, and passes each to `receive` with the number
    /// of its object and the object's own version, if it differs from the one in the columns.
    pub(in crate::recording) fn bodies(
        &self,
        resource: &ApiResource,
        all: &KeyframeObjects,
        wanted: impl Fn(usize) -> bool,
        mut receive: impl FnMut(usize, Option<&str>, &[u8]),
    ) -> Result<(), FileError> {
        let Some(of_type) = self.of_type(resource) else { return Ok(()) };
        for (number, block) in of_type.bodies.iter().enumerate() {
            let first = block.first as usize;
            let end = of_type.bodies.get(number + 1).map_or(all.objects.len(), |next| next.first as usize);
            let Some(last) = (first..end.min(all.objects.len())).rfind(|at| wanted(*at)) else { continue };
            let payload = self.block(BODIES, block)?;
            let mut whole_texts = WholeTextReader::default();
            for (at, object) in all.objects.iter().enumerate().take(last + 1).skip(first) {
                let mut read = || {
                    let flags = if object.has_own_version { Flags::OWN_VERSION } else { 0 };
                    let (own, frame) =
                        split_version(object.body.of(&payload)?, Flags::from_number(flags.into())?)?;
                    let context = FrameContext::new(object.version, self.header.first_time);
                    let text = whole_texts.read(frame, all.names.get(at).0, context)?;
                    if wanted(at) {
                        receive(at, own, text);
                    }
                    Some(())
                };
                read().ok_or_else(|| self.access.damaged(block.offset, "a text is invalid"))?;
            }
        }
        Ok(())
    }

    /// Reads the block of rows with this number.
    pub(in crate::recording) fn rows(
        &self,
        resource: &ApiResource,
        number: u32,
    ) -> Result<Vec<u8>, FileError> {
        let block = self.of_type(resource).and_then(|of_type| of_type.rows.get(number as usize));
        match block {
            Some(block) => self.block(ROWS, block),
            None => Err(self.access.damaged(0, "a block is missing")),
        }
    }

    /// Returns the error of an invalid row.
    pub(in crate::recording) fn invalid_row(&self) -> FileError {
        self.access.damaged(0, "a row is invalid")
    }

    /// Returns the error of a text that belongs to another object.
    pub(in crate::recording) fn invalid_object(&self) -> FileError {
        self.access.damaged(0, "a text is not that of its object")
    }

    /// Returns the positions of watches, and the documents. Bodies of documents are read on request only.
    pub(in crate::recording) fn items(&self, with_documents: bool) -> Result<Items, FileError> {
        let mut positions: Vec<Position> = Vec::new();
        let mut paths = Vec::new();
        for block in &self.footer.items {
            let payload = self.block(ITEMS, block)?;
            let mut take = || {
                let mut cursor = Cursor::new(&payload);
                for _ in 0..cursor.take_number()? {
                    let resource = Arc::clone(self.footer.tables.resources.get(take_size(&mut cursor)?)?);
                    let namespace: Arc<str> = take_string(&mut cursor)?.into();
                    let mut name = None;
                    take_optional(&mut cursor, &mut name)?;
                    let version = take_version(&mut cursor)?;
                    let of_watch = |last: &&mut Position| {
                        (&last.resource, &last.namespace, &last.name) == (&resource, &namespace, &name)
                    };
                    // The version to continue from follows that of the state.
                    if let Some(last) = positions.last_mut().filter(of_watch) {
                        last.version = version;
                    } else {
                        let state_version = version.clone();
                        positions.push(Position { resource, namespace, name, version, state_version });
                    }
                }
                for _ in 0..cursor.take_number()? {
                    paths.push(take_string(&mut cursor)?.into());
                }
                Some(())
            };
            take().ok_or_else(|| self.access.damaged(block.offset, "the positions are invalid"))?;
        }
        let mut documents = BTreeMap::new();
        if with_documents {
            for (path, block) in paths.into_iter().zip(&self.footer.documents) {
                documents.insert(path, Bytes::from(self.block(DOCUMENT, block)?));
            }
        }
        Ok((positions, documents))
    }
}

impl KeyframeObjects {
    fn take_group(&mut self, block: u32, cursor: &mut Cursor<'_>, file_len: u64) -> Option<()> {
        let count = take_size(cursor)?;
        self.names.take(count, cursor, file_len)?;
        let start = self.objects.len();
        let mut version = 0u64;
        for _ in 0..count {
            version = version.wrapping_add_signed(cursor.take_signed()?);
            let body = Place { block, ..Place::default() };
            self.objects.push(KeyframeObject { version, has_own_version: false, body, row: None });
        }
        let mut at = 0u32;
        for object in &mut self.objects[start..] {
            let number = cursor.take_number()?;
            object.has_own_version = number & 1 != 0;
            (object.body.at, object.body.len) = (at, u32::try_from(number / 2).ok()?);
            at = at.checked_add(object.body.len)?;
        }
        let mut at = 0u32;
        for object in &mut self.objects[start..] {
            if let Some(len) = take_u32(cursor)?.checked_sub(1) {
                object.row = Some(Place { block, at, len });
                at = at.checked_add(len)?;
            }
        }
        Some(())
    }
}
