//! `metadata.uid`, which distinguishes an object from earlier and later ones of the same name.

use std::fmt;

/// A UID as the server wrote it; empty where a representation carries none.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Uid(Repr);

/// Servers write lower-case UUIDs: stored in binary they take 16 bytes and no allocation. Any other text is kept as
/// text.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
enum Repr {
    #[default]
    Empty,
    /// Bytes rather than a `u128`, whose alignment would enlarge every object by 16 bytes.
    Uuid([u8; 16]),
    /// Boxed twice: the rare case must not determine the size of the type.
    Text(Box<Box<str>>),
}

impl Uid {
    /// Parses the text of a UID.
    #[must_use]
    pub fn new(text: &str) -> Self {
        match uuid(text) {
            _ if text.is_empty() => Self(Repr::Empty),
            Some(bytes) => Self(Repr::Uuid(bytes)),
            None => Self(Repr::Text(Box::new(text.into()))),
        }
    }

    /// Returns whether the UID is absent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == Repr::Empty
    }
}

/// Returns the bytes of a canonical UUID: 8-4-4-4-12 lower-case hexadecimal digits.
fn uuid(text: &str) -> Option<[u8; 16]> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    const PAIRS: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let text: &[u8; 36] = text.as_bytes().try_into().ok()?;
    // All digits are read before the check: a branch per digit is slower, and every object has a UID.
    let mut seen = 0;
    let bytes = PAIRS.map(|at| {
        let (high, low) = (digit(text[at]), digit(text[at + 1]));
        seen |= high | low;
        high << 4 | low
    });
    (seen < 16 && HYPHENS.iter().all(|at| text[*at] == b'-')).then_some(bytes)
}

/// Returns the value of a lower-case hexadecimal digit, and a value above 15 for any other byte.
fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        _ => u8::MAX,
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Empty => Ok(()),
            Repr::Text(text) => f.write_str(text),
            Repr::Uuid(bytes) => {
                let number = u128::from_be_bytes(*bytes);
                write!(
                    f,
                    "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                    number >> 96,
                    number >> 80 & 0xffff,
                    number >> 64 & 0xffff,
                    number >> 48 & 0xffff,
                    number & 0xffff_ffff_ffff,
                )
            }
        }
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_uid_prints_as_it_was_read() {
        for text in [
            "",
            "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
            "00000000-0000-0000-0000-000000000000",
            "0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9",
            "0a1b2c3d+4e5f-6071-8293-a4b5c6d7e8f9",
            "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8fg",
            "0a1b2c3d4-e5f-6071-8293-a4b5c6d7e8f9",
            "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9f",
            "mirror-4f2a",
        ] {
            assert_eq!(Uid::new(text).to_string(), text);
        }
    }
}
