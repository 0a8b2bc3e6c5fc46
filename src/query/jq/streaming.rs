//! Expressions over the items of a list that need one item at a time.

use jaq_core::load;
use jaq_core::load::parse::{BinaryOp, Term};
use jaq_core::path::{Opt, Part, Path};

const ITEMS: &str = ".items[]";

/// Returns the expression for one item; `None` if the expression is not `.items[]`, continued by a path or a pipe.
pub(super) fn per_item(text: &str) -> Option<String> {
    let rest = text.trim_start().strip_prefix(ITEMS)?;
    let term = load::parse(text, |parser| parser.term())?;
    let path = match &term {
        // `.items[] as $x | …` has a pattern, and may use the list after it.
        Term::BinOp(left, BinaryOp::Pipe(None), _) => left,
        whole => whole,
    };
    let Term::Path(root, Path(parts)) = path else { return None };
    let starts_with_items = matches!(**root, Term::Id)
        && matches!(
            &parts[..],
            [(Part::Index(_), Opt::Essential), (Part::Range(None, None), Opt::Essential), ..]
        );
    if !starts_with_items {
        return None;
    }
    let dot = if rest.starts_with('.') { "" } else { "." };
    Some(format!("{dot}{rest}"))
}
