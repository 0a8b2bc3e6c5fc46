//! A limit on the recursion of an expression's own definitions.
//!
//! The interpreter recurses on the thread's stack, and a stack overflow aborts the process. Each definition of an
//! expression is therefore compiled with a check of the stack at its start. The interpreter's own definitions need none:
//! they recurse only as deeply as a value is nested, or by tail calls.

use std::cell::Cell;

use jaq_core::load::lex::{Lexer, StrPart, Tok, Token};
use jaq_core::native::{Fun, bome, v};
use jaq_core::{Error, Native, ValR};
use jaq_json::Val;

use super::value::Data;

/// The native function that fails when the stack is used up. No identifier of a user starts like this by accident.
const CHECK: &str = "_kdelta_check_stack";

thread_local! {
    /// The address of the stack at the start of the evaluation, and the bytes that it may use.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, usize::MAX)) };
}

/// Returns the expression with a check at the start of each definition. The expression must be valid.
pub(super) fn with_checks(text: &str) -> String {
    let mut bodies = Vec::new();
    if let Ok(tokens) = Lexer::new(text).lex() {
        find_bodies(text, &tokens, &mut bodies);
    }
    bodies.sort_unstable();
    // A binding instead of a plain pipe: the body must stay usable as a path.
    let check = format!(" {CHECK} as ${CHECK} | ");
    let mut checked = String::with_capacity(text.len());
    let mut copied = 0;
    for body in bodies {
        checked.push_str(&text[copied..body]);
        checked.push_str(&check);
        copied = body;
    }
    checked.push_str(&text[copied..]);
    checked
}

/// Appends the byte at which the body of each definition starts.
fn find_bodies(text: &str, tokens: &[Token<&str>], bodies: &mut Vec<usize>) {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token("def", Tok::Word) => {
                let head = match &tokens[at + 1..] {
                    [Token(_, Tok::Word | Tok::Fmt), Token(_, Tok::Block(_)), Token(":", Tok::Sym), ..] => 3,
                    [Token(_, Tok::Word | Tok::Fmt), Token(":", Tok::Sym), ..] => 2,
                    // A key of an object, as in `{def: 1}`.
                    _ => continue,
                };
                let Token(colon, _) = &tokens[at + head];
                bodies.push(jaq_core::load::span(text, colon).end);
            }
            Token(_, Tok::Block(inner)) => find_bodies(text, inner, bodies),
            Token(_, Tok::Str(parts)) => {
                for part in parts {
                    if let StrPart::Term(term) = part {
                        find_bodies(text, std::slice::from_ref(term), bodies);
                    }
                }
            }
            Token(..) => {}
        }
    }
}

/// Returns the native function that the checks call.
pub(super) fn check() -> Fun<Data> {
    (CHECK, v(0), Native::new(|_| bome(check_stack())))
}

fn check_stack() -> ValR<Val> {
    let (start, limit) = STACK.get();
    if start.abs_diff(stack_address()) < limit {
        Ok(Val::Null)
    } else {
        Err(Error::str("the recursion of the expression is too deep"))
    }
}

/// Allows evaluations on this thread to use that many more bytes of its stack.
pub(super) fn limit_stack(bytes: usize) {
    STACK.set((stack_address(), bytes));
}

/// Returns an address in the present frame.
#[inline(never)]
fn stack_address() -> usize {
    let frame = 0_u8;
    std::ptr::from_ref(&std::hint::black_box(frame)).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_has_a_check() {
        let check = format!(" {CHECK} as ${CHECK} | ");
        for (text, expected) in [
            ("def f: .a; f", "def f:! .a; f"),
            ("def f($x; g): def h: 1; $x + h; f(1; 2)", "def f($x; g):! def h:! 1; $x + h; f(1; 2)"),
            ("[.[] | (def @x: 1; 2)]", "[.[] | (def @x:! 1; 2)]"),
            (r#""a\(def f: 1; f)""#, r#""a\(def f:! 1; f)""#),
            ("{def: 1, a: (def g: 2; g)} | .def", "{def: 1, a: (def g:! 2; g)} | .def"),
            (". # def f: 1", ". # def f: 1"),
        ] {
            assert_eq!(with_checks(text), expected.replace('!', &check), "{text}");
        }
    }
}
