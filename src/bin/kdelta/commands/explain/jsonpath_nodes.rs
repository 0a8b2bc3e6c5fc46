//! The nodes of a path in kubectl's jsonpath dialect, as far as `explain` distinguishes them: names of fields and anything
//! else. Errors are found in the same places, with kubectl's messages; the inside of filters is not checked.

/// A node of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// The name of a field, which may be empty.
    Field(String),
    /// The operator `..`.
    Recursive,
    /// A wildcard, index, filter, number, text, or word.
    Other,
}

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SyntaxError {
    #[error("must pass in 1 jsonpath string")]
    SeveralPaths,
    #[error("unclosed action")]
    Unclosed,
    #[error("unterminated array")]
    UnterminatedArray,
    #[error("unterminated filter")]
    UnterminatedFilter,
    #[error("unclosed array expect ]")]
    UnclosedFilter,
    #[error("unterminated quoted string")]
    UnterminatedText,
    #[error("invalid multiple recursive descent")]
    RepeatedDescent,
    #[error("invalid array index {0}")]
    Index(String),
    #[error("array index {0} is not a number")]
    IndexNumber(String),
    #[error("cannot parse number {0}")]
    Number(String),
    #[error("unrecognized character in action: {}", unicode(*.0))]
    Character(char),
}

/// Formats a character as Go does: `U+002C ','`.
fn unicode(char: char) -> String {
    let code = u32::from(char);
    if char.is_control() { format!("U+{code:04X}") } else { format!("U+{code:04X} '{char}'") }
}

/// Parses a word as kubectl does: in braces, with a dot before it, and without a dot at its end.
pub(super) fn nodes(word: &str) -> Result<Vec<Node>, SyntaxError> {
    let word = word.strip_suffix('.').unwrap_or(word);
    let text = format!(".{word}}}");
    let mut parser = Parser { rest: &text, nodes: Vec::new() };
    parser.action()?;
    if parser.rest.is_empty() { Ok(parser.nodes) } else { Err(SyntaxError::SeveralPaths) }
}

struct Parser<'a> {
    rest: &'a str,
    nodes: Vec<Node>,
}

impl<'a> Parser<'a> {
    /// Parses up to the closing brace.
    fn action(&mut self) -> Result<(), SyntaxError> {
        loop {
            if let Some(rest) = self.rest.strip_prefix('}') {
                self.rest = rest;
                return Ok(());
            }
            if let Some(rest) = self.rest.strip_prefix("[?(") {
                self.rest = rest;
                self.filter()?;
                continue;
            }
            if let Some(rest) = self.rest.strip_prefix("..") {
                if self.nodes.last() == Some(&Node::Recursive) {
                    return Err(SyntaxError::RepeatedDescent);
                }
                self.rest = rest;
                self.nodes.push(Node::Recursive);
                if rest.starts_with(is_alphanumeric) {
                    self.field();
                }
                continue;
            }
            self.simple_node()?;
        }
    }

    fn simple_node(&mut self) -> Result<(), SyntaxError> {
        let Some(first) = self.rest.chars().next() else { return Err(SyntaxError::Unclosed) };
        let after = &self.rest[first.len_utf8()..];
        match first {
            '\r' | '\n' => return Err(SyntaxError::Unclosed),
            ' ' | '@' | '$' => self.rest = after,
            '[' => {
                self.rest = after;
                self.brackets()?;
            }
            '"' | '\'' => {
                self.rest = after;
                self.text(first)?;
            }
            '.' => {
                self.rest = after;
                self.field();
            }
            '+' | '-' => self.number()?,
            _ if first.is_numeric() => self.number()?,
            _ if is_alphanumeric(first) => {
                self.take_while(|char| !is_terminator(char));
                self.nodes.push(Node::Other);
            }
            _ => return Err(SyntaxError::Character(first)),
        }
        Ok(())
    }

    /// Takes characters from the rest while they fit.
    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|char| !fits(char)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Parses the name of a field; a backslash escapes a character.
    fn field(&mut self) {
        let mut is_escaped = false;
        let end = self.rest.find(|char| {
            let ends = !is_escaped && is_terminator(char);
            is_escaped = !is_escaped && char == '\\';
            ends
        });
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        self.nodes.push(if name == "*" { Node::Other } else { Node::Field(name.replace('\\', "")) });
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let text = self.rest;
        self.rest = text.strip_prefix(['+', '-']).unwrap_or(text);
        self.take_while(|char| char == '.' || char.is_numeric());
        let number = &text[..text.len() - self.rest.len()];
        if number.parse::<f64>().is_err() {
            return Err(SyntaxError::Number(number.to_owned()));
        }
        self.nodes.push(Node::Other);
        Ok(())
    }

    /// Parses a quoted text up to its end quote.
    fn text(&mut self, quote: char) -> Result<(), SyntaxError> {
        let mut last = quote;
        for (at, char) in self.rest.char_indices() {
            match char {
                '\n' => break,
                char if char == quote && last != '\\' => {
                    self.rest = &self.rest[at + char.len_utf8()..];
                    self.nodes.push(Node::Other);
                    return Ok(());
                }
                char => last = char,
            }
        }
        Err(SyntaxError::UnterminatedText)
    }

    /// Parses a filter up to its `)]`, which may be in a quoted text.
    fn filter(&mut self) -> Result<(), SyntaxError> {
        let (mut quote, mut has_ended, mut last) = (None, false, '(');
        for (at, char) in self.rest.char_indices() {
            match char {
                '\n' => break,
                '"' | '\'' => match quote {
                    None => quote = Some(char),
                    Some(quote) => has_ended |= last != '\\' && char == quote,
                },
                ')' if quote.is_some() == has_ended => {
                    let after = &self.rest[at + 1..];
                    self.rest = after.strip_prefix(']').ok_or(SyntaxError::UnclosedFilter)?;
                    self.nodes.push(Node::Other);
                    return Ok(());
                }
                _ => {}
            }
            last = char;
        }
        Err(SyntaxError::UnterminatedFilter)
    }

    /// Parses brackets: a quoted name, an index, a slice, or several of them.
    fn brackets(&mut self) -> Result<(), SyntaxError> {
        let end = self.rest.find([']', '\n']).filter(|end| self.rest[*end..].starts_with(']'));
        let (inside, rest) = self.rest.split_at(end.ok_or(SyntaxError::UnterminatedArray)?);
        self.rest = &rest[1..];
        if inside.contains(',') {
            for element in inside.split(',') {
                Self::bracketed(element.trim_matches(' '))?;
            }
            self.nodes.push(Node::Other);
        } else {
            self.nodes.extend(Self::bracketed(inside)?);
        }
        Ok(())
    }

    fn bracketed(inside: &str) -> Result<Vec<Node>, SyntaxError> {
        let quoted = inside.strip_prefix('\'').and_then(|inside| inside.strip_suffix('\''));
        if let Some(name) = quoted.filter(|name| !name.contains('\'')) {
            // Without brackets inside, this recursion ends here.
            let text = format!(".{name}}}");
            let mut parser = Parser { rest: &text, nodes: Vec::new() };
            parser.action()?;
            return Ok(parser.nodes);
        }
        let bounds: Vec<&str> = inside.split(':').collect();
        let is_number =
            |bound: &&str| bound.strip_prefix('-').unwrap_or(bound).bytes().all(|byte| byte.is_ascii_digit());
        if inside != "*" && (bounds.len() > 3 || !bounds.iter().all(is_number)) {
            return Err(SyntaxError::Index(inside.to_owned()));
        }
        let wrong =
            bounds.iter().find(|bound| !bound.is_empty() && **bound != "*" && bound.parse::<i64>().is_err());
        match wrong {
            Some(bound) => Err(SyntaxError::IndexNumber((*bound).to_owned())),
            None => Ok(vec![Node::Other]),
        }
    }
}

fn is_alphanumeric(char: char) -> bool {
    char == '_' || char.is_alphabetic() || char.is_numeric()
}

fn is_terminator(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str) -> Node {
        Node::Field(name.to_owned())
    }

    #[test]
    fn words_become_nodes() {
        for (word, expected) in [
            ("pods", vec![field("pods")]),
            ("pods.spec.", vec![field("pods"), field("spec")]),
            ("pods..", vec![field("pods"), field("")]),
            ("", vec![field("")]),
            (".pods", vec![Node::Recursive, field("pods")]),
            ("a['b'].c", vec![field("a"), field("b"), field("c")]),
            ("a['b.c']", vec![field("a"), field("b"), field("c")]),
            (r"a\.b\[.c", vec![field("a.b["), field("c")]),
            ("*", vec![Node::Other]),
            ("a[0]", vec![field("a"), Node::Other]),
            ("a[*]", vec![field("a"), Node::Other]),
            ("a[-1:2:]", vec![field("a"), Node::Other]),
            ("a[0, 'b']", vec![field("a"), Node::Other]),
            ("a[?(@.x==')]')]", vec![field("a"), Node::Other]),
            ("a 1.5 b 'text'", vec![field("a"), Node::Other, Node::Other, Node::Other]),
        ] {
            assert_eq!(nodes(word), Ok(expected), "{word}");
        }
    }

    // The messages are those of kubectl 1.36 for the same words.
    #[test]
    fn errors_are_kubectls() {
        for (word, message) in [
            ("a[x", "unterminated array"),
            ("a[x]", "invalid array index x"),
            ("a[1:2:3:4]", "invalid array index 1:2:3:4"),
            ("a[-]", "array index - is not a number"),
            ("a,b", "unrecognized character in action: U+002C ','"),
            ("{a}", "unrecognized character in action: U+007B '{'"),
            ("a}", "must pass in 1 jsonpath string"),
            ("a}b{c", "must pass in 1 jsonpath string"),
            ("a[?(x", "unterminated filter"),
            ("a[?(x)", "unclosed array expect ]"),
            ("a 'x", "unterminated quoted string"),
            ("a 1.2.3", "cannot parse number 1.2.3"),
            ("a -", "cannot parse number -"),
            ("....a", "invalid multiple recursive descent"),
            ("a\nb", "unclosed action"),
            ("a['b[c']", "unterminated array"),
        ] {
            assert_eq!(nodes(word).map_err(|error| error.to_string()), Err(message.to_owned()), "{word:?}");
        }
    }
}
