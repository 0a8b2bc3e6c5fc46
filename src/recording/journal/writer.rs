//! Appends to a journal.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::{AUTHOR, CHANGE, COLUMNS, OBJECT, OTHER, RESOURCE};
use super::reader::JournalReader;
use super::record::{item_version, put_item};
use super::stored_chunk::RESTART;
use super::stream::Compression;
use crate::object::{ApiResource, Column};
use crate::recording::bytes::{put_number, put_signed, put_text};
use crate::recording::encryption::{Cipher, FileCipher};
use crate::recording::entry::{Author, Item};
use crate::recording::files::{self, Header, Kind};
use crate::recording::flags::Flags;
use crate::recording::tables::{Tables, put_author, put_columns, put_resource};

/// A change to append.
pub(in crate::recording) struct NewChange<'a> {
    pub(in crate::recording) received: i64,
    pub(in crate::recording) version: u64,
    pub(in crate::recording) object: u32,
    pub(in crate::recording) flags: Flags,
    pub(in crate::recording) author: u32,
    pub(in crate::recording) row: &'a [u8],
    pub(in crate::recording) body: &'a [u8],
}

/// A journal that is being written.
pub(in crate::recording) struct JournalWriter {
    path: PathBuf,
    file: File,
    stream: Compression,
    /// `None` if the recording is not encrypted.
    cipher: Option<FileCipher>,
    /// Whether the next chunk begins a compressed stream.
    is_restart: bool,
    /// The number of the first entry.
    first: u64,
    /// The records since the last chunk, and the number of entries among them.
    pending: Vec<u8>,
    pending_entries: u32,
    tables: Tables,
    authors: HashMap<Author, u32>,
    /// The numbers of the objects, by resource.
    objects: Vec<HashMap<Arc<str>, u32>>,
    object_count: u32,
    received: i64,
    version: u64,
    /// The number of entries.
    entries: u64,
    /// The length of the file, and of the records before compression.
    length: u64,
    text_length: u64,
}

impl JournalWriter {
    /// Creates the journal whose first entry has the number `first`.
    pub(in crate::recording) fn create(
        dir: &Path,
        context: &str,
        first: u64,
        time: i64,
        cipher: Option<&Arc<Cipher>>,
    ) -> io::Result<Self> {
        let path = files::path_of(dir, Kind::Journal, first);
        let cipher = files::cipher_of(&path, cipher);
        let mut bytes = Vec::new();
        let header = Header {
            context: context.to_owned(),
            first,
            first_time: time,
            last_time: time,
            time_before: time,
            first_gap: i64::MAX,
            ..Header::default()
        };
        header.put(Kind::Journal, cipher.as_ref(), &mut bytes)?;
        // Twice: without its header, the whole journal would be lost.
        bytes.extend_from_within(..);
        let mut file = files::create_empty(&path)?;
        file.write_all(&bytes)?;
        let length = bytes.len() as u64;
        Self::new(path, file, first, time, length, cipher)
    }

    /// Continues a journal after its last whole chunk, and truncates the rest.
    pub(in crate::recording) fn resume(reader: JournalReader) -> io::Result<Self> {
        let (journal, received, version, cipher) = reader.into_end();
        let file = files::append_to(&journal.path, journal.length)?;
        let mut writer =
            Self::new(journal.path.clone(), file, journal.header.first, received, journal.length, cipher)?;
        writer.version = version;
        writer.entries = journal.entries;
        writer.text_length = journal.text_len;
        for (number, author) in (1u32..).zip(&journal.tables.authors) {
            writer.authors.insert(author.clone(), number);
        }
        writer.objects.resize_with(journal.tables.resources.len(), HashMap::new);
        for object in journal.objects() {
            writer.objects[object.resource as usize].insert(Arc::clone(&object.key), writer.object_count);
            writer.object_count += 1;
        }
        writer.tables = journal.tables;
        Ok(writer)
    }

    fn new(
        path: PathBuf,
        file: File,
        first: u64,
        received: i64,
        length: u64,
        cipher: Option<FileCipher>,
    ) -> io::Result<Self> {
        Ok(Self {
            path,
            file,
            stream: Compression::new()?,
            cipher,
            is_restart: true,
            first,
            pending: Vec::new(),
            pending_entries: 0,
            tables: Tables::default(),
            authors: HashMap::new(),
            objects: Vec::new(),
            object_count: 0,
            received,
            version: 0,
            entries: 0,
            length,
            text_length: 0,
        })
    }

    pub(in crate::recording) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of the next entry.
    pub(in crate::recording) fn next(&self) -> u64 {
        self.first + self.entries
    }

    /// Returns the version of the last entry that has one.
    pub(in crate::recording) fn version(&self) -> u64 {
        self.version
    }

    pub(in crate::recording) fn entries(&self) -> u64 {
        self.entries
    }

    pub(in crate::recording) fn len(&self) -> u64 {
        self.length
    }

    /// Returns the length of the records before compression, which a reader needs as memory.
    pub(in crate::recording) fn text_len(&self) -> u64 {
        self.text_length + self.pending.len() as u64
    }

    /// Returns the number of bytes that are not in the file yet.
    pub(in crate::recording) fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// Returns the number of a resource, and defines it if needed.
    pub(in crate::recording) fn resource(&mut self, resource: &Arc<ApiResource>) -> usize {
        if let Some(at) = self.tables.resource(resource) {
            return at;
        }
        put_number(&mut self.pending, RESOURCE);
        put_resource(&mut self.pending, resource);
        self.tables.resources.push(Arc::clone(resource));
        self.objects.push(HashMap::new());
        self.tables.resources.len() - 1
    }

    /// Returns the number of an object, and defines it if needed.
    pub(in crate::recording) fn object(
        &mut self,
        resource: usize,
        key: &Arc<str>,
        namespace_len: usize,
        workload: u32,
    ) -> u32 {
        if let Some(number) = self.objects[resource].get(key) {
            return *number;
        }
        put_number(&mut self.pending, OBJECT);
        put_number(&mut self.pending, resource as u64);
        put_number(&mut self.pending, workload.into());
        put_number(&mut self.pending, namespace_len as u64);
        put_text(&mut self.pending, key.as_bytes());
        let number = self.object_count;
        self.objects[resource].insert(Arc::clone(key), number);
        self.object_count += 1;
        number
    }

    /// Returns the number of an author plus 1, and defines it if needed.
    pub(in crate::recording) fn author(&mut self, author: &Author) -> u32 {
        if let Some(number) = self.authors.get(author) {
            return *number;
        }
        put_number(&mut self.pending, AUTHOR);
        put_author(&mut self.pending, author);
        self.tables.authors.push(author.clone());
        let number = u32::try_from(self.tables.authors.len()).unwrap_or_default();
        self.authors.insert(author.clone(), number);
        number
    }

    /// Returns the number of columns, and defines them if needed.
    pub(in crate::recording) fn columns(&mut self, columns: &Arc<[Column]>) -> usize {
        let (number, is_new) = self.tables.add_columns(columns);
        if is_new {
            put_number(&mut self.pending, COLUMNS);
            put_columns(&mut self.pending, columns);
        }
        number
    }

    /// Appends a change. Its time must not be before that of the last entry.
    pub(in crate::recording) fn change(&mut self, change: &NewChange<'_>) {
        let NewChange { received, version, object, flags, author, row, body } = *change;
        let out = &mut self.pending;
        put_number(out, CHANGE);
        put_number(out, (received - self.received).unsigned_abs());
        put_signed(out, version.wrapping_sub(self.version).cast_signed());
        put_number(out, object.into());
        put_number(out, flags.number());
        put_number(out, author.into());
        if flags.has(Flags::NEW_ROW) {
            put_text(out, row);
        }
        put_text(out, body);
        self.version = version;
        self.appended(received);
    }

    /// Appends an item that is not a change. Its time must not be before that of the last entry.
    pub(in crate::recording) fn item(&mut self, item: &Item, received: i64) {
        if let Item::Mark(mark) = item {
            self.resource(&mark.resource);
        } else if let Item::Bookmark { resource, .. } = item {
            self.resource(resource);
        }
        put_number(&mut self.pending, OTHER);
        put_number(&mut self.pending, (received - self.received).unsigned_abs());
        put_item(item, &self.tables, &mut self.pending);
        self.version = item_version(item).unwrap_or(self.version);
        self.appended(received);
    }

    fn appended(&mut self, received: i64) {
        self.received = received;
        self.pending_entries += 1;
        self.entries += 1;
    }

    /// Writes the appended records as one chunk. [`JournalWriter::sync`] makes it durable.
    pub(in crate::recording) fn write(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut payload = self.stream.chunk(&self.pending)?;
        let sealed_len = self.cipher.as_ref().map_or(0, FileCipher::overhead) + payload.len();
        let length = u32::try_from(sealed_len).map_err(io::Error::other)?;
        let mut chunk = Vec::with_capacity(12 + sealed_len);
        chunk.extend_from_slice(&length.to_le_bytes());
        let restart = if std::mem::take(&mut self.is_restart) { RESTART } else { 0 };
        chunk.extend_from_slice(&(self.pending_entries | restart).to_le_bytes());
        if let Some(cipher) = &self.cipher {
            let mut sealed = Vec::new();
            cipher.seal(self.length, &chunk, &payload, &mut sealed)?;
            payload = sealed;
        }
        let mut sum = crc32fast::Hasher::new();
        sum.update(&chunk);
        sum.update(&payload);
        chunk.extend_from_slice(&sum.finalize().to_le_bytes());
        chunk.extend_from_slice(&payload);
        self.file.write_all(&chunk)?;
        self.length += chunk.len() as u64;
        self.text_length += self.pending.len() as u64;
        // The large buffer that a list of huge objects needs is freed here.
        self.pending.clear();
        self.pending.shrink_to(1 << 20);
        self.pending_entries = 0;
        Ok(())
    }

    pub(in crate::recording) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

impl fmt::Debug for JournalWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalWriter").field("path", &self.path).finish_non_exhaustive()
    }
}
