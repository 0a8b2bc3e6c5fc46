//! Reads a journal, even while it is written.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::{DecodedChunk, JournalObject, Position};
use super::kept_texts::{KeptTexts, WantedObject};
use super::stored_chunk::{ChunkTexts, StoredChunk, whole_chunk};
use super::stream::STEP;
use crate::recording::encryption::{Cipher, FileCipher};
use crate::recording::files::{FileError, Header, HeaderError, Kind, cipher_of};
use crate::recording::tables::Tables;

/// The length of all texts of a journal, in relation to that of the file, beyond which it is not one that a writer
/// wrote: a small file can't take much memory. Writers seal a journal long before.
const MAX_TEXT_RATIO: u64 = 1024;
const MAX_SHORT_TEXT: u64 = 48 << 20;

/// The number of entries of a journal, likewise.
const MAX_ENTRIES_RATIO: u64 = 16;
const MAX_FEW_ENTRIES: u64 = 400_000;

/// The length of the text of joined chunks. The threads that decode journals would ask the system for memory for each of
/// many short texts.
pub(super) const JOINED: usize = 1 << 20;

/// The second copy of the header begins within this many bytes.
const MAX_HEADER: usize = 64 << 10;

/// The number of bytes of the file from which the header is read.
pub(super) const MAX_FRONT: u64 = 2 * MAX_HEADER as u64;

/// The number of bytes that have both copies of the header, unless the context has a very long name.
const SHORT_FRONT: u64 = 1 << 10;

/// The entries of a journal up to some moment. Cloning copies no entries.
#[derive(Debug, Clone)]
pub(in crate::recording) struct Journal {
    pub(in crate::recording) path: PathBuf,
    pub(in crate::recording) header: Header,
    /// Without bytes if not all texts were kept.
    pub(in crate::recording) chunks: Vec<Arc<DecodedChunk>>,
    /// `None` if all were.
    pub(in crate::recording) kept: Option<Arc<KeptTexts>>,
    pub(in crate::recording) tables: Tables,
    pub(in crate::recording) entries: u64,
    /// The length of all texts.
    pub(in crate::recording) text_len: u64,
    /// The time of the last entry, or of the creation.
    pub(in crate::recording) last_time: i64,
    /// The length of the chunk of the file that was read.
    pub(in crate::recording) length: u64,
}

impl Journal {
    /// Returns the objects by number.
    pub(in crate::recording) fn objects(&self) -> Vec<&JournalObject> {
        self.chunks.iter().flat_map(|chunk| &chunk.objects).collect()
    }
}

/// Reads a journal chunk by chunk.
pub(in crate::recording) struct JournalReader {
    journal: Journal,
    context: Arc<str>,
    texts: ChunkTexts,
    position: Position,
    /// The end of the last whole chunk, and of the file.
    end: u64,
    file_end: u64,
    /// Whether a chunk other than the last one is damaged: nothing after it can be decoded.
    is_broken: bool,
}

impl JournalReader {
    /// Reads all whole chunks of a journal from the bytes of its file.
    pub(in crate::recording) fn of_bytes(
        path: PathBuf,
        bytes: &[u8],
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Self, FileError> {
        let (mut reader, length) = Self::of_front(path, bytes, bytes.len() as u64, cipher)?;
        reader.decode(&bytes[length..], None);
        Ok(reader)
    }

    /// Reads a journal from the bytes of its file, and keeps only the texts of one object, or none.
    pub(in crate::recording) fn for_object(
        path: PathBuf,
        bytes: &[u8],
        cipher: Option<&Arc<Cipher>>,
        object: Option<WantedObject>,
    ) -> Result<Self, FileError> {
        let (mut reader, length) = Self::of_front(path, bytes, bytes.len() as u64, cipher)?;
        reader.decode(&bytes[length..], Some(KeptTexts::new(object)));
        Ok(reader)
    }

    /// Reads the headers of a journal from the first bytes of its file, and returns their length.
    pub(super) fn of_front(
        path: PathBuf,
        front: &[u8],
        file_end: u64,
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<(Self, usize), FileError> {
        let cipher = cipher_of(&path, cipher);
        let (header, length, _) =
            read_header(front, cipher.as_ref()).map_err(|error| FileError::of_header(&path, &error))?;
        let position = Position { received: header.first_time, ..Position::default() };
        let texts = ChunkTexts::new(cipher).map_err(|error| FileError::Io(path.clone(), error))?;
        let last_time = header.first_time;
        let journal = Journal {
            path,
            header,
            chunks: Vec::new(),
            kept: None,
            tables: Tables::default(),
            entries: 0,
            text_len: 0,
            last_time,
            length: length as u64,
        };
        let reader = Self {
            context: journal.header.context.as_str().into(),
            journal,
            texts,
            position,
            end: length as u64,
            file_end,
            is_broken: false,
        };
        Ok((reader, length))
    }

    /// Returns the context in the header of a journal, if it can be read.
    pub(in crate::recording) fn context(path: &Path, cipher: Option<&Arc<Cipher>>) -> Option<String> {
        let mut file = File::open(path).ok()?;
        let cipher = cipher_of(path, cipher);
        let mut front = Vec::new();
        for length in [SHORT_FRONT, MAX_FRONT] {
            (&mut file).take(length - front.len() as u64).read_to_end(&mut front).ok()?;
            if let Ok((header, ..)) = read_header(&front, cipher.as_ref()) {
                return Some(header.context);
            }
        }
        None
    }

    /// Ends the reading of a journal of whose chunks only the objects are kept.
    pub(super) fn finish_with(&mut self, objects: Vec<JournalObject>) -> Result<(), FileError> {
        self.journal.chunks = vec![Arc::new(DecodedChunk { objects, ..DecodedChunk::default() })];
        self.texts.free_decompressor().map_err(|error| FileError::Io(self.journal.path.clone(), error))
    }

    pub(in crate::recording) fn path(&self) -> &Path {
        &self.journal.path
    }

    /// Returns the entries read.
    pub(in crate::recording) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Returns whether unreadable entries follow the readable ones.
    pub(in crate::recording) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns the entries, and the cipher.
    pub(in crate::recording) fn into_journal(self) -> (Journal, Option<FileCipher>) {
        (self.journal, self.texts.into_cipher())
    }

    /// Returns the entries, and the time and version of the last one, and the cipher, with which a writer continues the journal.
    pub(in crate::recording) fn into_end(self) -> (Journal, i64, u64, Option<FileCipher>) {
        (self.journal, self.position.received, self.position.version, self.texts.into_cipher())
    }

    /// Returns the range of bytes after the last whole chunk.
    pub(in crate::recording) fn torn(&self) -> (u64, u64) {
        (self.end, self.file_end)
    }

    /// Decodes all whole chunks, and joins them to long ones. With `kept`, only those of its texts are kept.
    fn decode(&mut self, mut bytes: &[u8], mut kept: Option<KeptTexts>) {
        let with_bytes = |bytes| DecodedChunk { bytes, ..DecodedChunk::default() };
        let room = || Vec::with_capacity(JOINED + STEP);
        // `length` is that of its texts, whether they are kept or not.
        let (mut joined, mut length) = (with_bytes(room()), 0);
        while let Some(stored) = whole_chunk(bytes) {
            let start = joined.bytes.len();
            let before = (self.journal.entries, self.position.objects);
            let Some(chunk) = self.decode_chunk(&stored, &mut joined.bytes) else {
                joined.bytes.truncate(start);
                break;
            };
            let text_len = joined.bytes.len() - start;
            if let Some(texts) = &mut kept {
                texts.add(&chunk, &joined.bytes, before, &self.position.tables);
                joined.bytes.clear();
            }
            joined.append(chunk, length);
            length += text_len;
            if length >= JOINED {
                let next = if kept.is_some() { std::mem::take(&mut joined.bytes) } else { room() };
                // Texts of that length have about as many entries.
                let entries = Vec::with_capacity(joined.entries.len());
                let next = DecodedChunk { entries, ..with_bytes(next) };
                self.journal.chunks.push(Arc::new(std::mem::replace(&mut joined, next)));
                length = 0;
            }
            bytes = &bytes[stored.length..];
        }
        joined.bytes.shrink_to_fit();
        self.journal.chunks.push(Arc::new(joined));
        self.journal.kept = kept.map(Arc::new);
        if !self.is_broken {
            self.end_before(bytes);
        }
    }

    /// Returns the entries of the next chunk, and appends its text. Without them, the rest of the journal can't be read, and a
    /// part of the text may have been appended.
    pub(super) fn decode_chunk(
        &mut self,
        stored: &StoredChunk<'_>,
        text: &mut Vec<u8>,
    ) -> Option<DecodedChunk> {
        let StoredChunk { entries, length, .. } = *stored;
        let file_len = self.end + length as u64;
        let max_entries = MAX_FEW_ENTRIES + MAX_ENTRIES_RATIO * file_len;
        let max_text = MAX_SHORT_TEXT + MAX_TEXT_RATIO * file_len;
        let max_len = usize::try_from(max_text.saturating_sub(self.journal.text_len)).unwrap_or(usize::MAX);
        self.is_broken |= self.journal.entries + entries as u64 > max_entries;
        if self.is_broken {
            return None;
        }
        self.is_broken = true;
        let start = text.len();
        self.texts.append(stored, self.end, max_len, text).ok()?;
        let text = &text[start..];
        self.journal.text_len += text.len() as u64;
        let chunk = self.position.decode(text, entries, file_len, &self.context)?;
        if chunk.entries.len() != entries {
            return None;
        }
        self.is_broken = false;
        self.journal.entries += entries as u64;
        self.journal.last_time = self.position.received;
        self.journal.tables.extend_to(&self.position.tables);
        self.end += length as u64;
        self.journal.length = self.end;
        Some(chunk)
    }

    /// Ends before bytes that are not a whole chunk. A killed writer leaves an incomplete chunk only at the end. Any other
    /// damage happened later.
    pub(super) fn end_before(&mut self, bytes: &[u8]) {
        self.is_broken |= (1..bytes.len()).any(|at| whole_chunk(&bytes[at..]).is_some());
    }
}

/// Reads the header, which is stored twice, because the whole journal depends on it. Returns its length, and
/// whether a copy is damaged.
pub(super) fn read_header(
    bytes: &[u8],
    cipher: Option<&FileCipher>,
) -> Result<(Header, usize, bool), HeaderError> {
    match Header::read(bytes, Kind::Journal, cipher) {
        Ok((header, length)) => {
            let copy = bytes.get(..2 * length).ok_or(HeaderError::Damaged("the header is incomplete"))?;
            Ok((header, 2 * length, copy[..length] != copy[length..]))
        }
        Err(error @ HeaderError::Newer(_)) => Err(error),
        Err(error) => {
            let front = &bytes[..bytes.len().min(MAX_HEADER)];
            let copies = (1..front.len()).filter(|at| Header::is_at(&front[*at..]));
            let mut whole =
                copies.filter_map(|at| Some((at, Header::read(&bytes[at..], Kind::Journal, cipher).ok()?)));
            let found = whole.find(|(at, (_, length))| at == length);
            found.map(|(_, (header, length))| (header, 2 * length, true)).ok_or(error)
        }
    }
}

impl fmt::Debug for JournalReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalReader").field("path", &self.journal.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunk::{AUTHOR, COLUMNS, OBJECT, OTHER, RESOURCE};
    use super::super::texts::journal_of;
    use super::super::writer::{JournalWriter, NewChange};
    use super::*;
    use crate::object::{ApiResource, Column};
    use crate::recording::bytes::{put_number, put_text};
    use crate::recording::files;
    use crate::recording::flags::Flags;
    use crate::recording::names::MAX_KEY;
    use crate::recording::tables::put_resource;

    /// Reads a journal of one stream with these texts, each with its number of entries.
    fn read(texts: &[(&[u8], u32)]) -> JournalReader {
        let dir = tempfile::tempdir().expect("a directory");
        let path = files::path_of(dir.path(), Kind::Journal, 0);
        JournalReader::of_bytes(path, &journal_of(texts).expect("a journal"), None).expect("a journal")
    }

    /// Returns that many starts of recorders, 3 bytes each.
    fn starts(count: u32) -> Vec<u8> {
        let mut text = Vec::new();
        for _ in 0..count {
            put_number(&mut text, OTHER);
            put_number(&mut text, 0);
            put_number(&mut text, 5);
        }
        text
    }

    #[test]
    fn a_small_journal_takes_little_memory() {
        let some = starts(1000);
        let reader = read(&[(&some, 1000)]);
        assert_eq!((reader.journal.entries, reader.is_broken), (1000, false));
        let many = starts(300_000);
        let reader = read(&[(&many, 300_000), (&many, 300_000)]);
        assert_eq!((reader.journal.entries, reader.is_broken), (300_000, true));
        // Long texts: an unknown kind of record would be an error only after the text is read.
        let long = vec![0; 70 << 20];
        let reader = read(&[(&some, 1000), (&long, 0)]);
        assert_eq!((reader.journal.entries, reader.is_broken), (1000, true));
        assert!(reader.journal.text_len < 10_000, "{}", reader.journal.text_len);
        // Definitions without entries.
        let mut names = Vec::new();
        for number in [OBJECT, 0, 0, 0, 0] {
            put_number(&mut names, number);
        }
        assert!(read(&[(&names, 0)]).is_broken);
    }
    /// Returns definitions of one kind, each of these bytes, with the entries that need them.
    fn definitions(kind: u64, definition: &[u8], count: u32) -> (Vec<u8>, u32) {
        let entries = count.div_ceil(4);
        let mut text = Vec::new();
        for _ in 0..count {
            put_number(&mut text, kind);
            text.extend_from_slice(definition);
        }
        text.extend(starts(entries));
        (text, entries)
    }

    #[test]
    fn definitions_of_a_small_journal_take_little_memory() {
        let mut resource = Vec::new();
        put_number(&mut resource, RESOURCE);
        let [group, version, plural, kind] = [const { String::new() }; 4];
        let untyped = ApiResource { group, version, resource: plural, kind, namespaced: false };
        put_resource(&mut resource, &untyped);
        let mut key = Vec::from([0, 0, 0]);
        put_text(&mut key, &[b'a'; MAX_KEY]);
        let mut columns = Vec::new();
        put_number(&mut columns, 5_000_000);
        columns.resize(columns.len() + 3 * 5_000_000, 0);
        for (kind, definition, count) in [
            (RESOURCE, &resource[1..], 1_000_000),
            (AUTHOR, &[0, 0], 1_000_000),
            (COLUMNS, &columns, 1),
            (COLUMNS, &[1, 0, 0, 0], 1_000_000),
            (OBJECT, &[0, 0, 0, 0], 1_000_000),
            (OBJECT, &key, 11_000),
        ] {
            let few = definitions(kind, definition, if kind == COLUMNS { 0 } else { 1000 });
            let many = definitions(kind, definition, count);
            let first = [&resource, few.0.as_slice(), &starts(1)].concat();
            let reader = read(&[(&first, few.1 + 1), (&many.0, many.1)]);
            let entries = u64::from(few.1) + 1;
            assert_eq!((reader.journal.entries, reader.is_broken), (entries, true), "{kind}");
            assert!(reader.file_end < 100_000, "{}", reader.file_end);
            let Tables { resources, authors, columns } = &reader.journal.tables;
            assert!(resources.len() + authors.len() + columns.len() <= 1001);
        }
        let mut long = Vec::from([0, 0, 0]);
        put_text(&mut long, &[b'a'; MAX_KEY + 1]);
        let (text, entries) = definitions(OBJECT, &long, 1);
        let text = [resource, text].concat();
        assert!(read(&[(&text, entries)]).is_broken);
    }

    #[test]
    fn journal_of_many_objects_is_read() {
        const OBJECTS: u32 = 200_000;
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = JournalWriter::create(dir.path(), "test", 0, 0, None).expect("a journal");
        let [group, version, resource, kind] = ["", "v1", "pods", "Pod"].map(str::to_owned);
        let pods = Arc::new(ApiResource { group, version, resource, kind, namespaced: true });
        let columns: Arc<[Column]> = ["Name", "Ready", "Status"]
            .map(|name| Column { name: name.to_owned(), format: String::new(), priority: 0 })
            .into();
        writer.columns(&columns);
        let flags = Flags::from_number(1 << 6).expect("a whole text");
        for number in 0..OBJECTS {
            let resource = writer.resource(&pods);
            let key: Arc<str> =
                format!("namespace-{}/deployment-of-a-long-name-{number:06}", number % 7).into();
            let object = writer.object(resource, &key, 11, 0);
            let body = b"{}";
            let change = NewChange { received: 1, version: 1, object, flags, author: 0, row: b"", body };
            writer.change(&change);
            if number % 10_000 == 0 {
                writer.write().expect("written");
            }
        }
        writer.write().expect("written");
        let bytes = std::fs::read(writer.path()).expect("the file");
        let reader = JournalReader::of_bytes(writer.path().to_owned(), &bytes, None).expect("a journal");
        assert_eq!((reader.journal.entries, reader.is_broken), (OBJECTS.into(), false));
        assert_eq!(reader.journal.objects().len(), OBJECTS as usize);
        assert_eq!(reader.journal.tables.columns, [columns]);
    }
}
