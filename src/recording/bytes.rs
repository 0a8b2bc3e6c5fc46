//! Encodes and decodes numbers and texts.

/// Appends a number in groups of seven bits, the lowest first (LEB128).
pub(in crate::recording) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Appends a signed number in zigzag encoding: numbers near zero take few bytes.
pub(in crate::recording) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

/// Appends the length of a text, then its bytes.
pub(in crate::recording) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// Decodes values from the front of bytes. Every method returns `None` if the bytes hold no such value.
#[derive(Debug, Clone)]
pub(in crate::recording) struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(in crate::recording) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns whether no bytes are left.
    pub(in crate::recording) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the number of bytes that are left.
    pub(in crate::recording) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(in crate::recording) fn take_number(&mut self) -> Option<u64> {
        // Most numbers have one byte.
        match self.bytes {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.bytes = rest;
                Some(u64::from(*byte))
            }
            _ => self.take_long_number(),
        }
    }

    fn take_long_number(&mut self) -> Option<u64> {
        let mut number = 0;
        for (at, byte) in self.bytes.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            if at == 9 && bits > 1 {
                return None;
            }
            number |= bits << (7 * at);
            if *byte < 0x80 {
                self.bytes = &self.bytes[at + 1..];
                return Some(number);
            }
        }
        None
    }

    pub(in crate::recording) fn take_signed(&mut self) -> Option<i64> {
        let number = self.take_number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(in crate::recording) fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    pub(in crate::recording) fn take_text(&mut self) -> Option<&'a [u8]> {
        let length = self.take_number()?;
        self.take_bytes(usize::try_from(length).ok()?)
    }
}
