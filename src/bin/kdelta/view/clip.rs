//! Texts cut to a width on the screen.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands for the text that is cut off.
const ELLIPSIS: char = '…';

/// Returns the number of terminal columns that the text takes: 2 for most East Asian characters.
pub(crate) fn display_width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Returns the text if it is at most `width` columns wide, or else its beginning with `…`, which is at most that wide.
pub(crate) fn clip(text: &str, width: usize) -> Cow<'_, str> {
    if display_width(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else { return Cow::Borrowed("") };
    let mut used = 0;
    let mut kept = 0;
    for (start, c) in text.char_indices() {
        used += c.width().unwrap_or_default();
        if used > room {
            break;
        }
        kept = start + c.len_utf8();
    }
    // A sequence of characters can be wider than each of them.
    while display_width(&text[..kept]) > room {
        kept = text[..kept].char_indices().next_back().map_or(0, |(start, _)| start);
    }
    Cow::Owned(format!("{}{ELLIPSIS}", &text[..kept]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_text_ends_in_an_ellipsis() {
        for (text, width, expected) in [
            ("web-1", 5, "web-1"),
            ("web-12", 5, "web-…"),
            ("web", 1, "…"),
            ("web", 0, ""),
            ("", 0, ""),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("日本語", 2, "…"),
            ("e\u{301}te\u{301}", 2, "e\u{301}…"),
        ] {
            assert_eq!(clip(text, width), expected, "{text} {width}");
        }
    }

    proptest! {
        #[test]
        fn clipped_text_fits(text in "[a-z日本é👩\u{200d}👧☁\u{fe0f}\u{301} ]{0,20}", width in 0..20_usize) {
            let clipped = clip(&text, width);
            prop_assert!(display_width(&clipped) <= width, "{clipped:?}");
            prop_assert_eq!(clipped == text.as_str(), display_width(&text) <= width);
        }
    }
}
