//! Encodes and decodes numbers and texts.

/// Appends a number in groups of seven bits, the lowest first (LEB128).
pub(in crate::recording) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Returns the number at the front of eight bytes, and its length. `None` if it is longer. Without branches for each length:
/// those of times differ too much to be predicted.
fn number_in(word: u64) -> Option<(u64, usize)> {
    let ends = !word & 0x8080_8080_8080_8080;
    if ends == 0 {
        return None;
    }
    // The bits up to the first end, then groups of 7, 14 and 28 bits moved together.
    let bits = word & (ends ^ (ends - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
    let bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) >> 1;
    let bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) >> 2;
    let bits = bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) >> 4;
    Some((bits, ends.trailing_zeros() as usize / 8 + 1))
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
        if let Some(word) = self.bytes.first_chunk()
            && let Some((number, length)) = number_in(u64::from_le_bytes(*word))
        {
            self.bytes = &self.bytes[length..];
            return Some(number);
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_every_length_are_read_back(
            numbers in prop::collection::vec((any::<u64>(), 0..64u32), 0..20),
            rest in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let mut bytes = Vec::new();
            let numbers: Vec<u64> = numbers.iter().map(|(number, shift)| number >> shift).collect();
            numbers.iter().for_each(|number| put_number(&mut bytes, *number));
            let length = bytes.len();
            bytes.extend_from_slice(&rest);
            let mut cursor = Cursor::new(&bytes);
            for number in &numbers {
                prop_assert_eq!(cursor.take_number(), Some(*number));
            }
            prop_assert_eq!(cursor.len(), bytes.len() - length);
        }
    }
}
