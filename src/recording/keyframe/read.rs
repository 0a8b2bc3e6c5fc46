//! Reads a keyframe.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::objects::KeyframeObjects;
use crate::object::ApiResource;
use crate::recording::bytes::Cursor;
use crate::recording::encryption::Cipher;
use crate::recording::files::{self, FileError, Header, Kind, RandomAccess};
use crate::recording::journal::{take_optional, take_version};
use crate::recording::names::GROUP;
use crate::recording::position::Position;
use crate::recording::segment::{
    BlockRef, DOCUMENT, Footer, ITEMS, KEYFRAME_FOOTER, NAMES, ROWS, TypeFooter, read_footer, read_header,
};
use crate::recording::tables::{take_size, take_string};

/// The positions of watches, and the documents.
type Items = (Vec<Position>, BTreeMap<Arc<str>, Bytes>);

/// A keyframe.
#[derive(Debug)]
pub(in crate::recording) struct Keyframe {
    access: RandomAccess,
    header: Header,
    footer: Footer,
    /// The earlier keyframe to which states refer, or the reason why it can't be read.
    base: Option<Result<Box<Self>, BaseDamage>>,
}

/// The damage of a base: its file, the position and the reason. Names and documents do not need the base.
type BaseDamage = (PathBuf, u64, String);

impl Keyframe {
    /// Opens the keyframe with this number, and the one to which it refers.
    pub(in crate::recording) fn open(
        dir: &Path,
        number: u64,
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Self, FileError> {
        let path = files::path_of(dir, Kind::Keyframe, number);
        let mut keyframe = Self::open_alone(path.clone(), number, cipher)?;
        if let Some(base) = keyframe.header.base {
            keyframe.base = match Self::open_base(dir, base, number, cipher) {
                Ok(base) => Some(Ok(Box::new(base))),
                Err(FileError::Damaged(path, offset, reason)) => Some(Err((path, offset, reason))),
                // Retention removes a keyframe before its base.
                Err(FileError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound && path.exists() => {
                    Some(Err((path, 0, "the keyframe to which it refers is missing".to_owned())))
                }
                Err(error) => return Err(error),
            };
        }
        Ok(keyframe)
    }

    /// Opens a keyframe to which a later one refers: retention may have renamed it.
    fn open_base(
        dir: &Path,
        number: u64,
        later: u64,
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Self, FileError> {
        let open = |kind| Self::open_alone(files::path_of(dir, kind, number), number, cipher);
        let base = match open(Kind::Keyframe) {
            Err(FileError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => open(Kind::Base),
            opened => opened,
        }?;
        match base.header.base {
            None if number < later => Ok(base),
            _ => Err(base.access.damaged(0, "another keyframe refers to it, but it is no earlier whole one")),
        }
    }

    fn open_alone(path: PathBuf, number: u64, cipher: Option<&Arc<Cipher>>) -> Result<Self, FileError> {
        let access = RandomAccess::open(path, cipher)?;
        let (header, start) = read_header(&access, Kind::Keyframe)?;
        if header.first != number {
            return Err(access.damaged(0, "the file has another name"));
        }
        let (payload, at) = read_footer(&access, KEYFRAME_FOOTER)?;
        let mut cursor = Cursor::new(&payload);
        let footer = Footer::take(&mut cursor, start..at).filter(|_| cursor.is_empty());
        let footer = footer.ok_or_else(|| access.damaged(at, "the footer is invalid"))?;
        Ok(Self { access, header, footer, base: None })
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

    /// Returns the earlier keyframe to which states refer, if it can be read.
    pub(in crate::recording) fn base(&self) -> Option<&Self> {
        self.base.as_ref()?.as_deref().ok()
    }

    /// Returns the types with objects.
    pub(in crate::recording) fn types_with_objects(&self) -> impl Iterator<Item = &Arc<ApiResource>> {
        let with_objects = self.footer.types.iter().filter(|of_type| of_type.objects > 0);
        with_objects.filter_map(|of_type| self.footer.tables.resources.get(of_type.resource))
    }

    pub(super) fn block(&self, tag: u8, block: &BlockRef) -> Result<Vec<u8>, FileError> {
        self.access.block(tag, block.offset, block.length)
    }

    /// Reads every block, for its checksum, and returns the damaged ones.
    pub(in crate::recording) fn damaged_blocks(&self) -> Vec<FileError> {
        self.footer.damaged_blocks(&self.access)
    }

    pub(super) fn of_type(&self, resource: &ApiResource) -> Option<&TypeFooter> {
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
            let mut cursor = Cursor::new(&payload);
            let taken = all.take_group(number, &mut cursor, self.access.len(), self.base.is_some());
            taken.ok_or_else(|| self.access.damaged(block.offset, "the names are invalid"))?;
        }
        if all.objects.len() != of_type.objects as usize {
            return Err(self.access.damaged(0, "the names are incomplete"));
        }
        if let Some(base) = self.base.as_ref().filter(|_| all.refers_to_base()) {
            let base = base.as_ref().map_err(|(path, offset, reason)| {
                FileError::Damaged(path.clone(), *offset, reason.clone())
            })?;
            let resolved = all.resolve(base.objects(resource)?);
            resolved.ok_or_else(|| self.access.damaged(0, "an object of its base is missing"))?;
        }
        Ok(all)
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

    /// Returns the error of names that do not have their texts in the file.
    pub(super) fn invalid_names(&self) -> FileError {
        self.access.damaged(0, "the names are invalid")
    }

    /// Returns the error of an invalid text in a block.
    pub(super) fn invalid_text(&self, block: &BlockRef) -> FileError {
        self.access.damaged(block.offset, "a text is invalid")
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
