//! The parser of templates and control structures. The order in which tokens are read is Go's: the line numbers of
//! errors depend on it.

use super::lexer::Lexer;
use super::literal::{INVALID, unquote};
use super::node::{Branch, Definition, Node, NodeKind, Pipeline, Template};
use super::reader::Reader;
use super::token::{Token, TokenKind};
use crate::query::go_template::format::quote;
use crate::query::go_template::limits::MAX_SYNTAX_DEPTH;

/// The name of kubectl's template.
pub(super) const OUTPUT: &str = "output";

/// Parses a template. The error is Go's message.
pub(in crate::query::go_template) fn parse(text: &str) -> Result<Template, String> {
    let mut parser =
        Parser { lexer: Lexer::new(text), reader: Reader::new(), definitions: Vec::new(), depth: 0 };
    parser.template()?;
    Ok(Template { definitions: parser.definitions })
}

/// A parser. Its methods for pipelines are in the file `pipeline`.
pub(super) struct Parser<'t> {
    pub(super) lexer: Lexer<'t>,
    pub(super) reader: Reader,
    definitions: Vec<Definition>,
    /// The depth of nested control structures and parentheses here.
    depth: usize,
}

/// A part of a list of nodes, or its end.
enum Item {
    Node(Node),
    End,
    Else,
}

impl Item {
    fn describe(&self) -> &'static str {
        if matches!(self, Self::End) { "{{end}}" } else { "{{else}}" }
    }
}

impl Parser<'_> {
    pub(super) fn next(&mut self) -> Token {
        self.reader.next(&mut self.lexer)
    }

    pub(super) fn peek(&mut self) -> Token {
        self.reader.peek(&mut self.lexer)
    }

    pub(super) fn next_non_space(&mut self) -> Token {
        self.reader.next_non_space(&mut self.lexer)
    }

    pub(super) fn peek_non_space(&mut self) -> Token {
        self.reader.peek_non_space(&mut self.lexer)
    }

    pub(super) fn error<T>(&self, message: &str) -> Result<T, String> {
        Err(self.reader.error(message))
    }

    pub(super) fn unexpected<T>(&self, token: &Token, context: &str) -> Result<T, String> {
        Err(self.reader.unexpected(token, context))
    }

    fn expect(&mut self, kind: TokenKind, context: &str) -> Result<(), String> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(()) } else { self.unexpected(&token, context) }
    }

    /// Calls `parse` one level deeper, unless the nesting exceeds its limit.
    pub(super) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.depth >= MAX_SYNTAX_DEPTH {
            return self.error("max expression depth exceeded");
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn template(&mut self) -> Result<(), String> {
        let mut nodes = Vec::new();
        while self.peek().kind != TokenKind::Eof {
            if self.peek().kind == TokenKind::LeftDelim {
                let delim = self.next();
                if self.next_non_space().kind == TokenKind::Define {
                    let outer = std::mem::replace(&mut self.reader, Reader::new());
                    self.definition()?;
                    self.reader = outer;
                    continue;
                }
                self.reader.backup_two(delim);
            }
            match self.item()? {
                Item::Node(node) => nodes.push(node),
                end => return self.error(&format!("unexpected {}", end.describe())),
            }
        }
        self.define(OUTPUT.into(), nodes)
    }

    /// Parses a definition behind the word `define`.
    fn definition(&mut self) -> Result<(), String> {
        const CONTEXT: &str = "define clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        self.expect(TokenKind::RightDelim, CONTEXT)?;
        let (nodes, end) = self.items()?;
        if !matches!(end, Item::End) {
            return self.error(&format!("unexpected {} in {CONTEXT}", end.describe()));
        }
        self.define(name, nodes)
    }

    /// Adds a definition. Only one of those with the same name may have content.
    fn define(&mut self, name: Box<str>, nodes: Vec<Node>) -> Result<(), String> {
        let Some(existing) = self.definitions.iter_mut().find(|definition| definition.name == name) else {
            self.definitions.push(Definition { name, nodes });
            return Ok(());
        };
        if is_blank(&existing.nodes) {
            existing.nodes = nodes;
        } else if !is_blank(&nodes) {
            let name = quote(name.as_bytes());
            return self.error(&format!("template: multiple definition of template {name}"));
        }
        Ok(())
    }

    /// Parses nodes up to an `end` or `else`.
    fn items(&mut self) -> Result<(Vec<Node>, Item), String> {
        let mut nodes = Vec::new();
        while self.peek_non_space().kind != TokenKind::Eof {
            match self.item()? {
                Item::Node(node) => nodes.push(node),
                end => return Ok((nodes, end)),
            }
        }
        self.error("unexpected EOF")
    }

    fn item(&mut self) -> Result<Item, String> {
        let token = self.next_non_space();
        match token.kind {
            TokenKind::Text => Ok(Item::Node(Node { pos: token.pos, kind: NodeKind::Text(token.text) })),
            TokenKind::LeftDelim => {
                self.reader.action_line = token.line;
                let item = self.nested(Self::action);
                if item.is_ok() {
                    self.reader.action_line = 0;
                }
                item
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Result<Item, String> {
        let token = self.next_non_space();
        let kind = match token.kind {
            TokenKind::Else => return self.otherwise(),
            TokenKind::End => {
                self.expect(TokenKind::RightDelim, "end")?;
                return Ok(Item::End);
            }
            TokenKind::Block => return self.block().map(Item::Node),
            TokenKind::Template => return self.call().map(Item::Node),
            TokenKind::Break => self.leave("{{break}}", NodeKind::Break)?,
            TokenKind::Continue => self.leave("{{continue}}", NodeKind::Continue)?,
            TokenKind::If => NodeKind::If(self.branch("if", Some(TokenKind::If))?),
            TokenKind::With => NodeKind::With(self.branch("with", Some(TokenKind::With))?),
            TokenKind::Range => NodeKind::Range(self.branch("range", None)?),
            _ => {
                self.reader.backup();
                // Variables that it declares are valid up to the end of the enclosing structure.
                let pipeline = self.pipeline("command", TokenKind::RightDelim)?;
                let node = Node { pos: token.pos, kind: NodeKind::Action(pipeline) };
                return Ok(Item::Node(node));
            }
        };
        Ok(Item::Node(Node { pos: token.pos, kind }))
    }

    fn leave(&mut self, word: &str, kind: NodeKind) -> Result<NodeKind, String> {
        let token = self.next_non_space();
        if token.kind != TokenKind::RightDelim {
            return self.unexpected(&token, word);
        }
        if self.reader.range_depth == 0 {
            return self.error(&format!("{word} outside {{{{range}}}}"));
        }
        Ok(kind)
    }

    /// Parses the rest of an `else`. The keyword of an `else if` or `else with` is left.
    fn otherwise(&mut self) -> Result<Item, String> {
        if !matches!(self.peek_non_space().kind, TokenKind::If | TokenKind::With) {
            self.expect(TokenKind::RightDelim, "else")?;
        }
        Ok(Item::Else)
    }

    /// Parses a control structure behind its keyword; `chained` is the keyword that may follow an `else`.
    fn branch(&mut self, context: &str, chained: Option<TokenKind>) -> Result<Branch, String> {
        let declared = self.reader.variables.len();
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let (pipeline, nodes, end) = self.arm(context)?;
            arms.push((pipeline, nodes));
            if matches!(end, Item::End) {
                break;
            }
            if chained.is_some_and(|keyword| self.peek().kind == keyword) {
                self.next();
                continue;
            }
            let (nodes, end) = self.items()?;
            if !matches!(end, Item::End) {
                return self.error(&format!("expected end; found {}", end.describe()));
            }
            otherwise = Some(nodes);
            break;
        }
        self.reader.variables.truncate(declared);
        Ok(Branch { arms, otherwise })
    }

    fn arm(&mut self, context: &str) -> Result<(Pipeline, Vec<Node>, Item), String> {
        let pipeline = self.pipeline(context, TokenKind::RightDelim)?;
        let is_range = usize::from(context == "range");
        self.reader.range_depth += is_range;
        let (nodes, end) = self.items()?;
        self.reader.range_depth -= is_range;
        Ok((pipeline, nodes, end))
    }

    fn block(&mut self) -> Result<Node, String> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let argument = self.pipeline(CONTEXT, TokenKind::RightDelim)?;
        let outer = std::mem::replace(&mut self.reader, Reader::new());
        let (nodes, end) = self.items()?;
        if !matches!(end, Item::End) {
            // Unlike for a definition, the line of the error is that of the action.
            self.reader = outer;
            return self.error(&format!("unexpected {} in {CONTEXT}", end.describe()));
        }
        self.define(name.clone(), nodes)?;
        self.reader = outer;
        Ok(Node { pos: token.pos, kind: NodeKind::Template { name, argument: Some(argument) } })
    }

    fn call(&mut self) -> Result<Node, String> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let mut argument = None;
        if self.next_non_space().kind != TokenKind::RightDelim {
            self.reader.backup();
            argument = Some(self.pipeline(CONTEXT, TokenKind::RightDelim)?);
        }
        Ok(Node { pos: token.pos, kind: NodeKind::Template { name, argument } })
    }

    fn template_name(&mut self, token: &Token, context: &str) -> Result<Box<str>, String> {
        if !matches!(token.kind, TokenKind::String | TokenKind::RawString) {
            return self.unexpected(token, context);
        }
        match unquote(&token.text) {
            Some(name) => Ok(String::from_utf8_lossy(&name).into()),
            None => self.error(INVALID),
        }
    }
}

/// Returns whether nodes print only white space.
fn is_blank(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| matches!(&node.kind, NodeKind::Text(text) if text.trim().is_empty()))
}
