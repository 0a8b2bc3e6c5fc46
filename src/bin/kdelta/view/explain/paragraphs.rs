//! Wrapping of the text from version 2, which joins the lines of a paragraph.

/// The start of a line of preformatted text.
const PREFORMATTED: &str = "    ";

/// Returns the lines of a text, joined and wrapped so that they have at most `limit` bytes where words allow it.
/// Preformatted lines, empty lines after the first line, and the starts of list items are kept, as are line breaks
/// after a colon.
pub(super) fn paragraphs(text: &str, limit: usize) -> Vec<String> {
    let mut wrapped = Paragraphs { limit, lines: Vec::new(), line: String::new(), last_word: "" };
    for line in text.split('\n') {
        wrapped.push(line);
    }
    wrapped.flush();
    wrapped.lines
}

struct Paragraphs<'a> {
    limit: usize,
    lines: Vec<String>,
    /// The current line; without words it is empty.
    line: String,
    /// The last word since the last flush.
    last_word: &'a str,
}

impl<'a> Paragraphs<'a> {
    fn push(&mut self, line: &'a str) {
        let is_empty = line.trim().is_empty();
        if line.starts_with(PREFORMATTED) || (is_empty && !self.lines.is_empty()) {
            self.flush();
            self.lines.push(if line.starts_with(PREFORMATTED) { line.to_owned() } else { String::new() });
            return;
        }
        if is_empty || self.last_word.ends_with(':') || starts_item(line.trim()) {
            self.flush();
        }
        for word in line.split_whitespace() {
            self.word(word);
        }
    }

    fn word(&mut self, word: &'a str) {
        self.last_word = word;
        if !self.line.is_empty() {
            if self.line.len() + 1 + word.len() <= self.limit {
                self.line.push(' ');
            } else {
                self.flush();
            }
        }
        self.line.push_str(word);
    }

    fn flush(&mut self) {
        if !self.line.is_empty() {
            self.last_word = "";
            self.lines.push(std::mem::take(&mut self.line));
        }
    }
}

/// Returns whether a line starts a list item: `- `, `* `, `1. ` or `1 `.
fn starts_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let rest = if digits.len() < line.len() {
        digits.strip_prefix('.').unwrap_or(digits)
    } else {
        match line.strip_prefix(['-', '*']) {
            Some(rest) => rest,
            None => return false,
        }
    };
    rest.starts_with([' ', '\t', '\x0c', '\r'])
}
