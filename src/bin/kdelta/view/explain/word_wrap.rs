//! Word wrapping and indentation of the text from version 3.

/// A no-break space: kubectl does not wrap at it.
const NO_BREAK_SPACE: char = '\u{a0}';

/// Wraps lines at white space so that they have at most `limit` characters. A word that is not shorter than the limit
/// stays on its line. Line breaks and the white space at the start of lines are kept.
pub(super) fn wrap(text: &str, limit: usize) -> String {
    let mut wrapped =
        Wrapped { limit, out: String::with_capacity(text.len() + text.len() / 32), ..Wrapped::default() };
    for char in text.chars() {
        wrapped.push(char);
    }
    wrapped.finish()
}

/// Puts spaces before each line, also before an empty one.
pub(super) fn indent(text: &str, amount: usize) -> String {
    let pad = " ".repeat(amount);
    format!("{pad}{}", text.replace('\n', &format!("\n{pad}")))
}

/// The state of wrapping: a finished part, then a run of white space, then a word.
#[derive(Debug, Default)]
struct Wrapped {
    limit: usize,
    out: String,
    /// The characters of the finished part on the current line.
    column: usize,
    space: Run,
    word: Run,
}

/// A run of characters and their number.
#[derive(Debug, Default)]
struct Run {
    text: String,
    length: usize,
}

impl Run {
    fn push(&mut self, char: char) {
        self.text.push(char);
        self.length += 1;
    }

    fn clear(&mut self) {
        self.text.clear();
        self.length = 0;
    }
}

impl Wrapped {
    fn push(&mut self, char: char) {
        if char == '\n' {
            self.end_line();
        } else if char.is_whitespace() && char != NO_BREAK_SPACE {
            if self.space.text.is_empty() || !self.word.text.is_empty() {
                self.commit();
            }
            self.space.push(char);
        } else {
            self.word.push(char);
            let end = self.column + self.space.length + self.word.length;
            if end > self.limit && self.word.length < self.limit {
                self.out.push('\n');
                self.column = 0;
                self.space.clear();
            }
        }
    }

    /// Appends the white space and the word.
    fn commit(&mut self) {
        self.column += self.space.length + self.word.length;
        self.out.push_str(&self.space.text);
        self.out.push_str(&self.word.text);
        self.space.clear();
        self.word.clear();
    }

    fn end_line(&mut self) {
        if self.word.text.is_empty() && self.column + self.space.length > self.limit {
            self.space.clear();
        }
        self.commit();
        self.out.push('\n');
        self.column = 0;
    }

    fn finish(mut self) -> String {
        if !self.word.text.is_empty() || self.column + self.space.length <= self.limit {
            self.commit();
        }
        self.out
    }
}
