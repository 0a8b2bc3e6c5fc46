//! Sizes in decimal units.

const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];

/// Returns a number of bytes with a unit: `812 B`, `33.1 MB`.
pub(crate) fn human_size(bytes: u64) -> String {
    let mut tenths = bytes.saturating_mul(10) / 1000;
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while tenths >= 10_000
        && let Some(next) = units.next()
    {
        tenths /= 1000;
        unit = Some(next);
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, unit.unwrap_or(&"kB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (999_999, "999.9 kB"),
            (33_149_000, "33.1 MB"),
            (2_000_000_000, "2.0 GB"),
            (u64::MAX, "1844.6 PB"),
        ] {
            assert_eq!(human_size(bytes), text, "{bytes}");
        }
    }
}
