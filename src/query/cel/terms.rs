//! Expressions that combine the words of a caller with CEL by `&&`, `||` and `!`.

use std::ops::Range;

use super::error::{CelSyntaxError, Problem};
use super::filter::CelFilter;
use super::syntax::{self, Expr, ExprKind, operands, without_parentheses};

/// A combination of words, which the caller evaluates, and CEL expressions.
#[derive(Debug)]
pub(in crate::query) enum Terms<W> {
    Word(W),
    Filter(CelFilter),
    Not(Box<Term<W>>),
    And(Vec<Term<W>>),
    Or(Vec<Term<W>>),
}

/// A part of a combination, with its text.
#[derive(Debug)]
pub(in crate::query) struct Term<W> {
    pub(in crate::query) text: String,
    pub(in crate::query) terms: Terms<W>,
}

impl<W> Term<W> {
    /// Parses an expression in which some variables are words. `word` returns the word of a name.
    ///
    /// # Errors
    /// The first problem, with its position.
    pub(in crate::query) fn parse(
        text: &str,
        word: &dyn Fn(&str) -> Option<W>,
    ) -> Result<Self, CelSyntaxError> {
        let parsed = syntax::parse(text).and_then(|expr| term(text, 0..text.len(), &expr, word));
        parsed.map_err(|problem| problem.in_text(text))
    }
}

fn term<W>(
    text: &str,
    part: Range<usize>,
    expr: &Expr,
    word: &dyn Fn(&str) -> Option<W>,
) -> Result<Term<W>, Problem> {
    let part = without_parentheses(text, part);
    let joined = |exprs: &[Expr], operator: &str| {
        let parts = operands(text, part.clone(), operator);
        let of_each = exprs.iter().zip(parts).map(|(expr, part)| term(text, part, expr, word));
        of_each.collect::<Result<Vec<_>, _>>()
    };
    let terms = match &expr.kind {
        ExprKind::Or(exprs) => Terms::Or(joined(exprs, "||")?),
        ExprKind::And(exprs) => Terms::And(joined(exprs, "&&")?),
        ExprKind::Not(negated) => {
            let after = if text[part.clone()].starts_with('!') { part.start + 1 } else { part.start };
            Terms::Not(Box::new(term(text, after..part.end, negated, word)?))
        }
        ExprKind::Ident(name) if let Some(found) = word(name) => Terms::Word(found),
        _ => Terms::Filter(CelFilter::compile(expr, &text[part.clone()], false)?),
    };
    Ok(Term { text: text[part].to_owned(), terms })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Term<String>, CelSyntaxError> {
        Term::parse(text, &|name| name.starts_with('w').then(|| name.to_owned()))
    }

    fn shown(term: &Term<String>) -> String {
        let each = |terms: &[Term<String>]| terms.iter().map(shown).collect::<Vec<_>>().join(" ");
        match &term.terms {
            Terms::Word(word) => word.clone(),
            Terms::Filter(_) => format!("<{}>", term.text),
            Terms::Not(negated) => format!("!{}", shown(negated)),
            Terms::And(terms) => format!("and({})", each(terms)),
            Terms::Or(terms) => format!("or({})", each(terms)),
        }
    }

    #[test]
    fn words_are_distinguished_from_expressions() {
        for (text, expected) in [
            ("word", "word"),
            ("!word", "!word"),
            ("w1 || !(w2 && object.a == 'x || y')", "or(w1 !and(w2 <object.a == 'x || y'>))"),
            ("(w1 || w2) && object.n > 1", "and(or(w1 w2) <object.n > 1>)"),
            ("object.w1 ? true : false", "<object.w1 ? true : false>"),
            ("object.l.exists(w, w == 1) || w1", "or(<object.l.exists(w, w == 1)> w1)"),
            ("((w1))", "w1"),
            ("!!w1", "!!w1"),
            ("! ( object.a )", "!<object.a>"),
        ] {
            assert_eq!(shown(&parsed(text).expect(text)), expected, "{text}");
        }
    }

    #[test]
    fn errors_have_positions() {
        for (text, expected) in [
            ("w1 || other", "line 1, column 7: unknown variable \"other\""),
            ("w1 && 1 + 1", "line 1, column 9: the expression is of type int"),
            ("w1 ||", "line 1, column 6"),
            ("w1.field == 1", "line 1, column 1: unknown variable \"w1\""),
        ] {
            let error = parsed(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
