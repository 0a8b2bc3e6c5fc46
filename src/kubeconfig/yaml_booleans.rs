//! The words that the YAML library takes for booleans and kubectl's parser for text, such as `oN`. Pure.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};

/// The booleans of kubectl's parser, as Go programs know them: lower case, upper case and capitalized.
const WORDS: [&str; 8] = ["y", "yes", "true", "on", "n", "no", "false", "off"];

/// Returns the text with quotes around each plain scalar that is a boolean only if case is ignored.
pub(super) fn with_quoted_words(text: &str) -> Cow<'_, str> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    if !words.any(is_only_a_word) {
        return Cow::Borrowed(text);
    }
    let Some(places) = places(text) else { return Cow::Borrowed(text) };
    let mut quoted = String::with_capacity(text.len() + 2 * places.len());
    let mut end = 0;
    for Range { start, end: word_end } in places {
        quoted.push_str(&text[end..start]);
        quoted.push('\'');
        quoted.push_str(&text[start..word_end]);
        quoted.push('\'');
        end = word_end;
    }
    quoted.push_str(&text[end..]);
    Cow::Owned(quoted)
}

/// Returns the places of these scalars; `None` if the text is not YAML, which is reported by its parser.
fn places(text: &str) -> Option<Vec<Range<usize>>> {
    let mut places = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        if let Event::Scalar(word, ScalarStyle::Plain, _, None) = event
            && is_only_a_word(&word)
        {
            let start = span.start.byte_offset()?;
            let place = start..start + word.len();
            // An anchor may precede it.
            if text.get(place.clone()) == Some(&*word) {
                places.push(place);
            }
        }
    }
    Some(places)
}

/// Whether a word is a boolean only if case is ignored.
fn is_only_a_word(word: &str) -> bool {
    let capitalized = |known: &str| {
        word.len() == known.len() && word[..1] == known[..1].to_ascii_uppercase() && word[1..] == known[1..]
    };
    WORDS.iter().any(|known| {
        word.eq_ignore_ascii_case(known)
            && word != *known
            && word != known.to_ascii_uppercase()
            && !capitalized(known)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_of_kubectl_stay() {
        for word in [
            "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No",
            "NO", "false", "False", "FALSE", "off", "Off", "OFF", "only", "noN", "",
        ] {
            assert!(!is_only_a_word(word), "{word}");
        }
        for word in ["oN", "yEs", "yES", "YEs", "tRUE", "TrUE", "nO", "oFF", "OfF", "faLse"] {
            assert!(is_only_a_word(word), "{word}");
        }
    }

    #[test]
    fn plain_scalars_only_are_quoted() {
        for (text, expected) in [
            ("a: oN", "a: 'oN'"),
            ("a: oN # oN", "a: 'oN' # oN"),
            ("{a: oN, yEs: [nO, on]}", "{a: 'oN', 'yEs': ['nO', on]}"),
            ("a: 'oN'\nb: \"yEs\"\nc: oN x\n", "a: 'oN'\nb: \"yEs\"\nc: oN x\n"),
            ("\u{e9}: oN\n---\n- yEs\n", "\u{e9}: 'oN'\n---\n- 'yEs'\n"),
            ("a: !!str oN", "a: !!str oN"),
            ("a: |\n  oN\n", "a: |\n  oN\n"),
            ("a: [oN", "a: [oN"),
        ] {
            assert_eq!(with_quoted_words(text), expected, "{text}");
        }
    }
}
