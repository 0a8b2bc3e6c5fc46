//! `base64decode`: the standard alphabet with padding. Line breaks are ignored.

/// Decodes base64. The error is kubectl's message with Go's position.
pub(super) fn decode(encoded: &[u8]) -> Result<Vec<u8>, String> {
    decode_at(encoded).map_err(|at| format!("base64 decode failed: illegal base64 data at input byte {at}"))
}

fn decode_at(encoded: &[u8]) -> Result<Vec<u8>, usize> {
    let mut decoded = Vec::with_capacity(encoded.len() / 4 * 3);
    let mut symbols = encoded.iter().enumerate().filter(|(_, byte)| !matches!(byte, b'\n' | b'\r'));
    let (mut bits, mut count) = (0_u32, 0_u32);
    for (at, byte) in symbols.by_ref() {
        if let Some(value) = value_of(*byte) {
            bits = bits << 6 | u32::from(value);
            count += 1;
            if count == 4 {
                decoded.extend_from_slice(&bits.to_be_bytes()[1..]);
                (bits, count) = (0, 0);
            }
            continue;
        }
        if *byte != b'=' || count < 2 {
            return Err(at);
        }
        if count == 2 {
            match symbols.next() {
                None => return Err(encoded.len()),
                Some((_, b'=')) => {}
                // Go reports the byte before.
                Some((at, _)) => return Err(at - 1),
            }
        }
        let bytes = (bits << (6 * (4 - count))).to_be_bytes();
        decoded.extend_from_slice(&bytes[1..count as usize]);
        return symbols.next().map_or(Ok(decoded), |(at, _)| Err(at));
    }
    // Go reports the start of an incomplete group, without the line breaks in it.
    if count == 0 { Ok(decoded) } else { Err(encoded.len() - count as usize) }
}

fn value_of(symbol: u8) -> Option<u8> {
    match symbol {
        b'A'..=b'Z' => Some(symbol - b'A'),
        b'a'..=b'z' => Some(symbol - b'a' + 26),
        b'0'..=b'9' => Some(symbol - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
