//! The directory of a recording, and the names of its files.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::recording::encryption::{Cipher, FileCipher};

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recording) enum Kind {
    Journal,
    Segment,
    Keyframe,
    /// A keyframe before the beginning of the recording, to which the first keyframe refers.
    Base,
    /// Only a header: the state before the entry is unknown, because files before it were damaged.
    Loss,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Journal, Self::Segment, Self::Keyframe, Self::Base, Self::Loss];

    fn extension(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Segment => "segment",
            Self::Keyframe => "keyframe",
            Self::Base => "base",
            Self::Loss => "loss",
        }
    }

    /// Returns the letter in the header. A keyframe is renamed to a base, and keeps its content.
    pub(in crate::recording) fn letter(self) -> u8 {
        match self {
            Self::Base => Self::Keyframe.letter(),
            kind => kind.extension().as_bytes()[0],
        }
    }
}

/// Returns the path of a file whose first entry has this number.
pub(in crate::recording) fn path_of(dir: &Path, kind: Kind, first: u64) -> PathBuf {
    dir.join(format!("{first:016x}.{}", kind.extension()))
}

/// The length up to which a journal without a readable header has no entries: its writer was killed while it was
/// creating the file.
pub(in crate::recording) const MAX_EMPTY_JOURNAL: u64 = 4 << 10;

/// Returns the cipher of a file with this path, whose name determines its place in the recording.
pub(in crate::recording) fn cipher_of(path: &Path, cipher: Option<&Arc<Cipher>>) -> Option<FileCipher> {
    let (first, kind) = path.file_name()?.to_str().and_then(parse)?;
    Some(FileCipher::new(cipher?, kind.letter(), first))
}

/// Returns the files of a recording, sorted by number. Other files are ignored, such as those of an interrupted write.
pub(in crate::recording) fn list(dir: &Path) -> io::Result<Vec<(u64, Kind)>> {
    let mut files = Vec::new();
    for file in fs::read_dir(dir)? {
        let name = file?.file_name();
        files.extend(name.to_str().and_then(parse));
    }
    files.sort_unstable_by_key(|(first, kind)| (*first, kind.letter()));
    Ok(files)
}

fn parse(name: &str) -> Option<(u64, Kind)> {
    let (number, extension) = name.split_once('.')?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.extension() == extension)?;
    let is_number =
        number.len() == 16 && number.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    Some((u64::from_str_radix(number, 16).ok().filter(|_| is_number)?, kind))
}

/// Returns the name of a context's directory: bytes outside `[A-Za-z0-9._@-]` are percent-encoded, and so is a leading
/// dot.
pub(in crate::recording) fn context_directory(context: &str) -> String {
    let mut name = String::new();
    for (at, byte) in context.bytes().enumerate() {
        match byte {
            b'.' if at == 0 => name.push_str("%2E"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'@' | b'-' => name.push(byte.into()),
            _ => {
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    if name.is_empty() { "%".to_owned() } else { name }
}

/// Returns the directory in which the files of a new recording are written until it is complete. The name of a context's
/// directory begins with no dot.
pub(in crate::recording) fn hidden_directory(dir: &Path) -> PathBuf {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    dir.with_file_name(format!(".{name}.incomplete"))
}

/// Whether a path is that of a hidden directory.
pub(in crate::recording) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Renames a directory, durably. One of the new name must be empty.
pub(in crate::recording) fn rename_directory(from: &Path, to: &Path) -> io::Result<()> {
    if cfg!(windows) && to.exists() {
        fs::remove_dir(to)?;
    }
    fs::rename(from, to)?;
    sync_directory(to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Returns the context that a directory is named after.
pub(in crate::recording) fn context_of(directory: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = directory.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let encoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *byte == b'%');
        bytes.push(encoded.unwrap_or(*byte));
        rest = if encoded.is_some() { &after[2..] } else { after };
    }
    if directory == "%" { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() }
}

/// Creates a directory that only its owner can read, with its parents.
pub(in crate::recording) fn create_private(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Returns the options of a new file that only its owner can read.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates an empty file.
pub(in crate::recording) fn create_empty(path: &Path) -> io::Result<File> {
    private_file().truncate(true).open(path)
}

/// Truncates a file to `length` bytes and opens it to append to it.
pub(in crate::recording) fn append_to(path: &Path, length: u64) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Makes renames and removals in a directory durable.
pub(in crate::recording) fn sync_directory(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_become_file_names() {
        for (context, name) in [
            ("kind-a.b_c@d", "kind-a.b_c@d"),
            ("arn:aws:eks/x", "arn%3Aaws%3Aeks%2Fx"),
            ("..", "%2E."),
            ("", "%"),
            ("ü%", "%C3%BC%25"),
        ] {
            assert_eq!(context_directory(context), name);
            assert_eq!(context_of(name), context);
        }
    }

    #[test]
    fn only_whole_names_are_files_of_a_recording() {
        assert_eq!(parse("00000000000000ff.segment"), Some((255, Kind::Segment)));
        for name in [
            "ff.segment",
            "00000000000000FF.segment",
            "00000000000000ff.segment.tmp",
            "lock",
            "+0000000000000ff.journal",
        ] {
            assert_eq!(parse(name), None, "{name}");
        }
    }
}
