//! The words of an operating system's error.
//!
//! The program compiles this file too: it is not part of the library's API.

use std::io;

/// Returns the error's text as Go programs print it, such as `no such file or directory`.
#[must_use]
pub(crate) fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words);
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_go_programs() {
        let missing = std::fs::File::open("no/such/file").expect_err("it is not there");
        assert_eq!(system_words(&missing), "no such file or directory");
        assert_eq!(system_words(&io::Error::other("Cut")), "cut");
    }
}
