//! Random UIDs and name suffixes.

/// Returns a version 4 UUID.
pub(in crate::demo) fn uuid(rng: &mut fastrand::Rng) -> String {
    let bits = (rng.u128(..) & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Returns five characters without vowels, as a server appends to generated names.
pub(in crate::demo) fn suffix(rng: &mut fastrand::Rng) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    (0..5).map(|_| char::from(LETTERS[rng.usize(..LETTERS.len())])).collect()
}
