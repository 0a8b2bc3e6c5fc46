//! Comparison of texts without regard to case, as Go's `strings.EqualFold`.

/// Whether the texts are equal under simple case folding.
pub(super) fn equal_fold(left: &str, right: &str) -> bool {
    left.chars().map(folded).eq(right.chars().map(folded))
}

/// Returns the representative of a character's case variants. Variants of several characters do not count.
fn folded(c: char) -> char {
    match c {
        // They are variants of `i` in Turkish only.
        'İ' | 'ı' => c,
        c => single(single(c, char::to_uppercase), char::to_lowercase),
    }
}

fn single<I: Iterator<Item = char>>(c: char, map: impl Fn(char) -> I) -> char {
    let mut mapped = map(c);
    match (mapped.next(), mapped.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Taken from Go's strings.EqualFold.
    #[test]
    fn case_variants_are_equal() {
        for (one, other) in [
            ("", ""),
            ("Ready", "ready"),
            ("READY", "rEaDy"),
            ("σς", "ΣΣ"),
            ("\u{212a}", "k"),
            ("ẞ", "ß"),
            ("ſ", "S"),
        ] {
            assert!(equal_fold(one, other), "{one} {other}");
        }
        for (one, other) in [("Ready", "Read"), ("ß", "ss"), ("ı", "I"), ("İ", "i"), ("True", "False")] {
            assert!(!equal_fold(one, other), "{one} {other}");
        }
    }
}
