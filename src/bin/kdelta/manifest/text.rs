//! The text of a source, of limited size.

use std::fs::File;
use std::io::{self, Read};

use super::limits::TEXT_LIMIT;
use crate::system_words::system_words;

/// Why a source has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadError {
    /// The file can't be opened.
    #[error("open {path}: {reason}")]
    Open { path: String, reason: String },
    /// Reading failed.
    #[error("read {path}: {reason}")]
    Read { path: String, reason: String },
    #[error("it is larger than {} MiB", TEXT_LIMIT >> 20)]
    TooLarge,
}

/// Reads a file, which may be a pipe.
pub(super) fn of_file(path: &str) -> Result<String, ReadError> {
    let opened = File::open(path);
    let file =
        opened.map_err(|error| ReadError::Open { path: path.to_owned(), reason: system_words(&error) })?;
    read(path, file)
}

/// Reads standard input to its end.
pub(super) fn of_standard_input() -> Result<String, ReadError> {
    read("/dev/stdin", io::stdin().lock())
}

fn read(path: &str, from: impl Read) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(TEXT_LIMIT + 1).unwrap_or(u64::MAX);
    from.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| ReadError::Read { path: path.to_owned(), reason: system_words(&error) })?;
    if bytes.len() > TEXT_LIMIT { Err(ReadError::TooLarge) } else { Ok(decoded(bytes)) }
}

/// Decodes UTF-16 by its byte order mark, and everything else as UTF-8 without one. Invalid sequences are replaced.
pub(super) fn decoded(bytes: Vec<u8>) -> String {
    let utf_16 = |unit: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let units = bytes.chunks(2).map(|pair| pair.try_into().map_or(0xfffd, unit));
        char::decode_utf16(units).map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes.as_slice() {
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        [0xff, 0xfe, rest @ ..] => utf_16(u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => utf_16(u16::from_be_bytes, rest),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_recognized_by_their_mark() {
        for (bytes, text) in [
            (&b"a"[..], "a"),
            (b"\xef\xbb\xbfa", "a"),
            (b"\xff\xfea\0\xe9\0", "aé"),
            (b"\xfe\xff\0a\0\xe9", "aé"),
            (b"\xff\xfea\0b", "a\u{fffd}"),
            (b"a\xffb", "a\u{fffd}b"),
        ] {
            assert_eq!(decoded(bytes.to_vec()), text, "{bytes:?}");
        }
    }

    #[test]
    fn endless_texts_are_refused() {
        assert_eq!(read("x", io::repeat(b' ')), Err(ReadError::TooLarge));
    }

    #[test]
    fn unreadable_files_have_gos_texts() {
        assert_eq!(
            of_file("no/such").map_err(|error| error.to_string()),
            Err("open no/such: no such file or directory".to_owned())
        );
        assert_eq!(of_file("/").map_err(|error| error.to_string()), Err("read /: is a directory".to_owned()));
    }
}
