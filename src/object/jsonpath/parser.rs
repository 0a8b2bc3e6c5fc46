//! The parser: text to nodes, with the rules and error texts of client-go's `util/jsonpath/parser.go`.

use super::error::JsonPathError;
use super::node::{Filter, Node, Slice, Test};
use super::unquote::unquote;

/// The maximum depth of nested expressions.
const MAX_DEPTH: usize = 32;

/// Parses a template.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, JsonPathError> {
    Parser { input: text, at: 0, start: 0, depth: 0 }.template()
}

struct Parser<'t> {
    input: &'t str,
    /// The position of the next character.
    at: usize,
    /// The start of the current token.
    start: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn template(mut self) -> Result<Vec<Node>, JsonPathError> {
        if self.depth > MAX_DEPTH {
            return Err(JsonPathError::syntax("expression is nested too deeply"));
        }
        let mut root = Vec::new();
        loop {
            let length = self.rest().find('{').unwrap_or(self.rest().len());
            self.at += length;
            let text = self.token();
            if !text.is_empty() {
                root.push(Node::Text(text.as_bytes().to_vec()));
            }
            if self.rest().is_empty() {
                return Ok(root);
            }
            self.skip(1);
            root.push(Node::List(self.action()?));
        }
    }

    /// Parses `text` as the content of braces. A brace inside closes the action early, and what follows must be valid
    /// but is ignored, as in client-go.
    fn nested(&self, text: &str) -> Result<Vec<Node>, JsonPathError> {
        let input = format!("{{{text}}}");
        let root = Parser { input: &input, at: 0, start: 0, depth: self.depth + 1 }.template()?;
        match root.into_iter().next() {
            Some(Node::List(nodes)) => Ok(nodes),
            _ => Err(JsonPathError::syntax("unclosed action")),
        }
    }

    /// Parses up to and including the closing brace.
    fn action(&mut self) -> Result<Vec<Node>, JsonPathError> {
        let mut nodes = Vec::new();
        loop {
            let rest = self.rest();
            if rest.starts_with('}') {
                self.skip(1);
                return Ok(nodes);
            } else if rest.starts_with("[?(") {
                nodes.push(self.filter()?);
                continue;
            } else if rest.starts_with("..") {
                self.recursive(&mut nodes)?;
                continue;
            }
            match self.next() {
                None | Some('\r' | '\n') => return Err(JsonPathError::syntax("unclosed action")),
                Some(' ' | '@' | '$') => {
                    self.token();
                }
                Some('[') => self.array(&mut nodes)?,
                Some(quote @ ('"' | '\'')) => nodes.push(self.quoted(quote)?),
                Some('.') => nodes.push(self.field()),
                Some(first) if first == '+' || first == '-' || first.is_ascii_digit() => {
                    nodes.push(self.number()?);
                }
                Some(first) if is_word(first) => nodes.push(self.identifier()),
                Some(other) => {
                    let text = format!("unrecognized character in action: {}", go_character(other));
                    return Err(JsonPathError::syntax(text));
                }
            }
        }
    }

    fn recursive(&mut self, nodes: &mut Vec<Node>) -> Result<(), JsonPathError> {
        if nodes.last() == Some(&Node::Recursive) {
            return Err(JsonPathError::syntax("invalid multiple recursive descent"));
        }
        self.skip(2);
        nodes.push(Node::Recursive);
        if self.peek().is_some_and(is_word) {
            nodes.push(self.field());
        }
        Ok(())
    }

    /// Parses a field's name after its dot. Every backslash is removed, and the character after it ends no name.
    fn field(&mut self) -> Node {
        self.token();
        while let Some(next) = self.peek() {
            if is_terminator(next) {
                break;
            }
            self.at += next.len_utf8();
            if next == '\\' {
                self.next();
            }
        }
        match self.token() {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "")),
        }
    }

    fn identifier(&mut self) -> Node {
        let length = self.rest().find(is_terminator).unwrap_or(self.rest().len());
        self.at += length;
        match self.token() {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            name => Node::Identifier(name.to_owned()),
        }
    }

    fn number(&mut self) -> Result<Node, JsonPathError> {
        while self.peek().is_some_and(|next| next == '.' || next.is_ascii_digit()) {
            self.at += 1;
        }
        let text = self.token();
        if let Ok(number) = text.parse() {
            return Ok(Node::Int(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Node::Float(number)),
            _ => Err(JsonPathError::Syntax(format!("cannot parse number {text}"))),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Node, JsonPathError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::syntax("unterminated quoted string")),
                Some(next) if next == quote && !self.is_escaped() => break,
                Some(_) => {}
            }
        }
        let text = self.token();
        unquote(text)
            .map(Node::Text)
            .ok_or_else(|| JsonPathError::Syntax(format!("unquote string {text} error invalid syntax")))
    }

    /// Parses what follows `[`: a slice, an index, a quoted key, or a union of them. Quotes do not protect `]` and `,`.
    fn array(&mut self, nodes: &mut Vec<Node>) -> Result<(), JsonPathError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::syntax("unterminated array")),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let token = self.token();
        let text = match &token[1..token.len() - 1] {
            "*" => ":",
            text => text,
        };
        if text.contains(',') {
            let members =
                text.split(',').map(|member| self.nested(&format!("[{}]", member.trim_matches(' '))));
            nodes.push(Node::Union(members.collect::<Result<_, _>>()?));
        } else if let Some(key) = quoted_key(text) {
            nodes.extend(self.nested(&format!(".{key}"))?);
        } else {
            nodes.push(Node::Array(slice(text)?));
        }
        Ok(())
    }

    fn filter(&mut self) -> Result<Node, JsonPathError> {
        self.skip(3);
        // The quote that opens the first string, and whether it was closed. Further strings do not protect a `)`.
        let mut open = None;
        let mut is_closed = false;
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::syntax("unterminated filter")),
                Some(quote @ ('"' | '\'')) => match open {
                    None => open = Some(quote),
                    Some(first) => is_closed |= quote == first && !self.is_escaped(),
                },
                Some(')') if open.is_some() == is_closed => break,
                Some(_) => {}
            }
        }
        if self.next() != Some(']') {
            return Err(JsonPathError::syntax("unclosed array expect ]"));
        }
        let token = self.token();
        let text = &token[..token.len() - 2];
        let filter = match split_comparison(text) {
            None => Filter { left: self.nested(text)?, test: Test::Exists },
            Some((left, operator, right)) => Filter {
                left: self.nested(left)?,
                test: Test::Compare { operator: operator.to_owned(), right: self.nested(right)? },
            },
        };
        Ok(Node::Filter(Box::new(filter)))
    }

    fn rest(&self) -> &'t str {
        &self.input[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Returns whether a backslash is in front of the character that was read last, a quote.
    fn is_escaped(&self) -> bool {
        self.input[..self.at - 1].ends_with('\\')
    }

    /// Returns the text since the last token.
    fn token(&mut self) -> &'t str {
        let token = &self.input[self.start..self.at];
        self.start = self.at;
        token
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        self.token();
    }
}

/// Returns the key of `'key'`.
fn quoted_key(text: &str) -> Option<&str> {
    let key = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!key.contains('\'')).then_some(key)
}

/// Parses `[start:end:step]` without the brackets.
fn slice(text: &str) -> Result<Slice, JsonPathError> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_number =
        |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(is_number) {
        return Err(JsonPathError::Syntax(format!("invalid array index {text}")));
    }
    let number = |part: Option<&&str>| match part {
        None | Some(&"") => Ok(None),
        Some(part) => match part.parse::<i64>() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(JsonPathError::Syntax(format!("array index {part} is not a number"))),
        },
    };
    let start = number(parts.first())?;
    let is_index = parts.len() == 1;
    let end = if is_index { Some(start.unwrap_or(0).wrapping_add(1)) } else { number(parts.get(1))? };
    Ok(Slice { start, end, is_index, step: number(parts.get(2))? })
}

/// Splits a comparison at its first run of operator characters; `None` where a side is missing.
fn split_comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |character| matches!(character, '!' | '<' | '>' | '=');
    let begin = text.find(is_operator).filter(|begin| *begin > 0)?;
    let length = text[begin..].find(|character| !is_operator(character));
    // The right side needs one character, be it an operator's.
    let end = length.map_or(text.len() - 1, |length| begin + length);
    (end > begin).then(|| (&text[..begin], &text[begin..end], &text[end..]))
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphabetic() || character.is_ascii_digit()
}

/// Returns whether a name ends in front of this character.
fn is_terminator(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// Formats a character as Go's `%#U`: `U+0027 '''`, without the character if it can't be printed.
fn go_character(character: char) -> String {
    let code = format!("U+{:04X}", u32::from(character));
    let is_escape = matches!(character, '"' | '\'' | '\\');
    if is_escape || character.escape_debug().count() == 1 { format!("{code} '{character}'") } else { code }
}
