//! The syntax of JSON as Go's decoder checks it, with its error texts, since kubectl prints them.

use kdelta::object::go_quote;

use super::limits::DEPTH;

/// Why a text is not a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum JsonError {
    /// A byte that can't occur in its place.
    #[error("{message}")]
    Syntax {
        /// The number of bytes up to the wrong one, itself included.
        offset: usize,
        message: String,
    },
    #[error("unexpected EOF")]
    UnexpectedEnd,
}

/// Returns the end of the value that begins at `at`, which is no white space. Nothing after the value is read, except the
/// byte that ends a number.
pub(super) fn value_end(text: &[u8], at: usize) -> Result<usize, JsonError> {
    let mut scanner = Scanner { text, at, around: Vec::new() };
    scanner.value()?;
    Ok(scanner.at)
}

/// Returns whether JSON treats a byte as white space.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// An open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// The open brackets, outermost first.
    around: Vec<Container>,
}

impl Scanner<'_> {
    /// Reads one value with everything in it.
    fn value(&mut self) -> Result<(), JsonError> {
        loop {
            if !self.opened()? {
                continue;
            }
            // A value has ended, and so have the enclosing ones that a bracket closes here.
            loop {
                let Some(container) = self.around.last().copied() else { return Ok(()) };
                match (self.next_token()?, container) {
                    (b',', Container::Array) => break,
                    (b',', Container::Object) => {
                        self.next_token()?;
                        self.step_back();
                        self.key()?;
                        break;
                    }
                    (b']', Container::Array) | (b'}', Container::Object) => {
                        self.around.pop();
                    }
                    (_, Container::Array) => return Err(self.wrong("after array element")),
                    (_, Container::Object) => return Err(self.wrong("after object key:value pair")),
                }
            }
        }
    }

    /// Reads the beginning of a value: a whole scalar, an empty container, or an opening bracket with the key after it.
    /// Returns whether the value has ended.
    fn opened(&mut self) -> Result<bool, JsonError> {
        match self.next_token()? {
            b'{' => {
                self.enter(Container::Object)?;
                if self.next_token()? == b'}' {
                    self.around.pop();
                    return Ok(true);
                }
                self.step_back();
                self.key()?;
                Ok(false)
            }
            b'[' => {
                self.enter(Container::Array)?;
                if self.next_token()? == b']' {
                    self.around.pop();
                    return Ok(true);
                }
                self.step_back();
                Ok(false)
            }
            b'"' => self.string().map(|()| true),
            first @ (b'-' | b'0'..=b'9') => self.number(first).map(|()| true),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => Err(self.wrong("looking for beginning of value")),
        }
    }

    fn enter(&mut self, container: Container) -> Result<(), JsonError> {
        if self.around.len() == DEPTH {
            return Err(JsonError::Syntax { offset: self.at, message: "exceeded max depth".to_owned() });
        }
        self.around.push(container);
        Ok(())
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(), JsonError> {
        if self.next_token()? != b'"' {
            return Err(self.wrong("looking for beginning of object key string"));
        }
        self.string()?;
        if self.next_token()? == b':' { Ok(()) } else { Err(self.wrong("after object key")) }
    }

    /// Reads the rest of a string.
    fn string(&mut self) -> Result<(), JsonError> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => match self.next()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            if !self.next()?.is_ascii_hexdigit() {
                                return Err(self.wrong("in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    _ => return Err(self.wrong("in string escape code")),
                },
                0..0x20 => return Err(self.wrong("in string literal")),
                _ => {}
            }
        }
    }

    /// Reads the rest of a number.
    fn number(&mut self, first: u8) -> Result<(), JsonError> {
        let first = if first == b'-' { self.next()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return Err(self.wrong("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
        }
        Ok(())
    }

    /// Reads at least one digit.
    fn digit(&mut self, place: &str) -> Result<(), JsonError> {
        if !self.next()?.is_ascii_digit() {
            return Err(self.wrong(place));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// Reads the rest of a literal.
    fn literal(&mut self, word: &str) -> Result<bool, JsonError> {
        for expected in word.chars().skip(1) {
            if char::from(self.next()?) != expected {
                return Err(self.wrong(&format!("in literal {word} (expecting '{expected}')")));
            }
        }
        Ok(true)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Result<u8, JsonError> {
        let byte = self.peek().ok_or(JsonError::UnexpectedEnd)?;
        self.at += 1;
        Ok(byte)
    }

    /// Returns the next byte that is no white space.
    fn next_token(&mut self) -> Result<u8, JsonError> {
        loop {
            let byte = self.next()?;
            if !is_space(byte) {
                return Ok(byte);
            }
        }
    }

    fn step_back(&mut self) {
        self.at -= 1;
    }

    /// Returns the error of the byte that was read last.
    fn wrong(&self, place: &str) -> JsonError {
        let byte = self.text[self.at - 1];
        let character = match byte {
            b'\'' => r"\'".to_owned(),
            b'"' => "\"".to_owned(),
            // As in Go, a byte is a character of its own.
            byte => {
                let quoted = go_quote(&char::from(byte).to_string());
                quoted[1..quoted.len() - 1].to_owned()
            }
        };
        JsonError::Syntax { offset: self.at, message: format!("invalid character '{character}' {place}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_a_value_is_found() {
        for (text, rest) in [
            (r#"{"a": [1, -0.5e+3, "x\u00e9\"", true, null, {}], "b": []} {"c"#, r#" {"c"#),
            ("{}{}", "{}"),
            ("[1]2", "2"),
            ("12 ", " "),
            ("\"a\"x", "x"),
        ] {
            let end = value_end(text.as_bytes(), 0).expect(text);
            assert_eq!(&text[end..], rest, "{text}");
        }
    }

    // Taken from Go's decoder.
    #[test]
    fn errors_are_gos() {
        for (text, offset, message) in [
            (r#"{"a": "b", }"#, 12, "invalid character '}' looking for beginning of object key string"),
            (r#"{"a": Pod }"#, 7, "invalid character 'P' looking for beginning of value"),
            (r#"{"a" 1}"#, 6, "invalid character '1' after object key"),
            (r#"{"a": 1 2}"#, 9, "invalid character '2' after object key:value pair"),
            ("[1 'x']", 4, r"invalid character '\'' after array element"),
            ("[01]", 3, "invalid character '1' after array element"),
            ("[-x]", 3, "invalid character 'x' in numeric literal"),
            ("[1.x]", 4, "invalid character 'x' after decimal point in numeric literal"),
            ("[1e\"]", 4, "invalid character '\"' in exponent of numeric literal"),
            ("[trux]", 5, "invalid character 'x' in literal true (expecting 'e')"),
            ("[\"a\nb\"]", 4, r"invalid character '\n' in string literal"),
            (r#"["\x"]"#, 4, "invalid character 'x' in string escape code"),
            (r#"["\u00g0"]"#, 7, "invalid character 'g' in \\u hexadecimal character escape"),
            ("{é", 2, "invalid character 'Ã' looking for beginning of object key string"),
        ] {
            let message = message.to_owned();
            assert_eq!(value_end(text.as_bytes(), 0), Err(JsonError::Syntax { offset, message }), "{text}");
        }
        for text in ["{", r#"{"a"#, r#"{"a":"#, "[1", "tru", "-"] {
            assert_eq!(value_end(text.as_bytes(), 0), Err(JsonError::UnexpectedEnd), "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(value_end(nested(DEPTH).as_bytes(), 0).is_ok());
        let error = value_end(nested(1_000_000).as_bytes(), 0).expect_err("too deep");
        assert_eq!(error.to_string(), "exceeded max depth");
    }
}
