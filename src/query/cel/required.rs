//! Values that an object must have for an expression to be true.

use super::syntax::{Binary, Expr, ExprKind, Literal};

/// The values of a field, one of which an object must have for an expression to be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredValue {
    /// The names of the fields on the way from the object.
    pub path: Vec<String>,
    /// The values, all of which are texts.
    pub values: Vec<String>,
}

/// Returns the values that the terms of a conjunction compare a field of the object with. Such a term has no result, or is
/// false, for every other object, and then the conjunction is not true.
pub(super) fn required_values(expr: &Expr) -> Vec<RequiredValue> {
    match &expr.kind {
        ExprKind::And(terms) => terms.iter().flat_map(required_values).collect(),
        ExprKind::Binary(Binary::Equal, one, other) => {
            equal(one, other).or_else(|| equal(other, one)).into_iter().collect()
        }
        ExprKind::Binary(Binary::In, field, list) => one_of(field, list).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether an object for which [`required_values`] hold matches: the expression is a conjunction of such terms.
pub(super) fn required_values_suffice(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::And(terms) => terms.iter().all(required_values_suffice),
        ExprKind::Binary(Binary::Equal, one, other) => {
            equal(one, other).or_else(|| equal(other, one)).is_some()
        }
        ExprKind::Binary(Binary::In, field, list) => one_of(field, list).is_some(),
        _ => false,
    }
}

fn equal(field: &Expr, value: &Expr) -> Option<RequiredValue> {
    Some(RequiredValue { path: path(field)?, values: vec![text(value)?.to_owned()] })
}

fn one_of(field: &Expr, list: &Expr) -> Option<RequiredValue> {
    let ExprKind::List(elements) = &list.kind else { return None };
    let value = |(element, is_optional): &(Expr, bool)| match is_optional {
        true => None,
        false => text(element).map(str::to_owned),
    };
    let values: Vec<String> = elements.iter().map(value).collect::<Option<_>>()?;
    (!values.is_empty()).then_some(RequiredValue { path: path(field)?, values })
}

fn text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Literal(Literal::Text(text)) => Some(text),
        _ => None,
    }
}

/// Returns the names on the way from `object`; empty for the object itself.
fn path(expr: &Expr) -> Option<Vec<String>> {
    let (operand, name) = match &expr.kind {
        ExprKind::Ident(name) => return (name == "object").then(Vec::new),
        ExprKind::Select { operand, field, is_optional: false } => (operand, field.as_str()),
        ExprKind::Index { operand, index, is_optional: false } => (operand, text(index)?),
        _ => return None,
    };
    let mut names = path(operand)?;
    names.push(name.to_owned());
    Some(names)
}

#[cfg(test)]
mod tests {
    use crate::query::CelFilter;

    fn required(expression: &str) -> Vec<String> {
        let filter = CelFilter::parse(expression, false).expect(expression);
        let show = |required: &super::RequiredValue| {
            format!("{}={}", required.path.join("/"), required.values.join("|"))
        };
        filter.required_values().iter().map(show).collect()
    }

    #[test]
    fn comparisons_with_texts_that_must_hold_are_found() {
        for (expression, expected) in [
            ("object.spec.nodeName == 'a'", &["spec/nodeName=a"][..]),
            ("'a' == object.spec.nodeName", &["spec/nodeName=a"]),
            ("object.metadata.labels['a.b/c'] == 'x' && object.n > 1", &["metadata/labels/a.b/c=x"]),
            ("object.kind in ['A', 'B'] && (object.x == 'y' && true)", &["kind=A|B", "x=y"]),
            ("object.a == 'x' || object.b == 'y'", &[]),
            ("!(object.a == 'x')", &[]),
            ("object.a != 'x'", &[]),
            ("object.a == 1", &[]),
            ("object.a == object.b", &[]),
            ("object.?a.orValue('x') == 'x'", &[]),
            ("object.a in []", &[]),
            ("object.a in [object.b]", &[]),
            ("object.a == 'x' ? true : object.b == 'y'", &[]),
            ("object.list.exists(object, object.a == 'x')", &[]),
        ] {
            assert_eq!(required(expression), expected, "{expression}");
        }
    }

    #[test]
    fn conjunctions_of_comparisons_need_nothing_else() {
        for (expression, expected) in [
            ("object.spec.nodeName == 'a'", true),
            ("object.a == 'x' && (object.b in ['y', 'z'] && 'c' == object.c)", true),
            ("object.a == 'x' && object.n > 1", false),
            ("object.a == 'x' || object.a == 'x'", false),
            ("object.a == 'x' && true", false),
            ("object.a == 1", false),
            ("object.a in []", false),
            ("!(object.a == 'x')", false),
        ] {
            let filter = CelFilter::parse(expression, false).expect(expression);
            assert_eq!(filter.required_values_suffice(), expected, "{expression}");
        }
    }
}
