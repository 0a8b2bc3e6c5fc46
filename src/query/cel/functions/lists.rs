//! Functions of lists and sets.

use std::cmp::Ordering;

use super::declaration::{Declaration, MISMATCH, global, int, invalid, member};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::syntax::Binary;
use crate::query::cel::value::{Outcome, Value, calculate, compare, equal, list_items};

pub(super) const DECLARATIONS: &[Declaration] = &[
    member("isSorted", "list<C> -> bool", is_sorted),
    member("sum", "list<S> -> S", sum),
    member("min", "list<C> -> C", |budget, arguments| extreme(budget, arguments, Ordering::Greater, "min")),
    member("max", "list<C> -> C", |budget, arguments| extreme(budget, arguments, Ordering::Less, "max")),
    member("indexOf", "list<T>, T -> int", |budget, arguments| position(budget, arguments, false)),
    member("lastIndexOf", "list<T>, T -> int", |budget, arguments| position(budget, arguments, true)),
    member("sort", "list<C> -> list<C>", sort),
    member("slice", "list<T>, int, int -> list<T>", slice),
    member("flatten", "list<T> -> list<dyn>", flatten),
    member("flatten", "list<T>, int -> list<dyn>", flatten),
    member("reverse", "list<T> -> list<T>", reverse),
    member("distinct", "list<T> -> list<T>", distinct),
    global("lists.range", "int -> list<int>", range),
    global("sets.contains", "list<T>, list<T> -> bool", contains),
    global("sets.equivalent", "list<T>, list<T> -> bool", equivalent),
    global("sets.intersects", "list<T>, list<T> -> bool", intersects),
];

fn is_sorted<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    let elements = list_items(list, budget)?;
    for (before, element) in elements.iter().zip(elements.iter().skip(1)) {
        if order(before, element, budget)? == Some(Ordering::Greater) {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// Returns the order of two elements; `None` if they have none, which cel-go ignores in these functions if
/// their types have an order.
fn order<'a>(a: &Value<'a>, b: &Value<'a>, budget: &mut Budget) -> Result<Option<Ordering>, CelError> {
    if !a.static_type().fits('C') || !b.static_type().fits('C') {
        return Err(CelError::NoOverload("a function of lists"));
    }
    match compare(a, b, budget) {
        Ok(ordering) => Ok(Some(ordering)),
        Err(CelError::TooManySteps) => Err(CelError::TooManySteps),
        Err(_) => Ok(None),
    }
}

fn sum<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    let elements = list_items(list, budget)?;
    let mut total = match elements.first() {
        Some(Value::Uint(_)) => Value::Uint(0),
        Some(Value::Double(_)) => Value::Double(0.0),
        Some(Value::Duration(_)) => Value::Duration(0),
        _ => Value::Int(0),
    };
    for element in elements.iter() {
        total = calculate(Binary::Add, &total, element, budget)?;
    }
    Ok(total)
}

/// Returns the element that no other replaces: one with the order `replaced` to it does.
fn extreme<'a>(budget: &mut Budget, arguments: &[Value<'a>], replaced: Ordering, name: &str) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    let elements = list_items(list, budget)?;
    let mut elements = elements.iter();
    let mut found = elements.next().ok_or_else(|| invalid(format!("{name} of an empty list")))?;
    for element in elements {
        if order(found, element, budget)? == Some(replaced) {
            found = element;
        }
    }
    Ok(found.clone())
}

fn position<'a>(budget: &mut Budget, arguments: &[Value<'a>], is_last: bool) -> Outcome<'a> {
    let [list, value] = arguments else { return Err(MISMATCH) };
    let elements = list_items(list, budget)?;
    let mut found = None;
    for (at, element) in elements.iter().enumerate() {
        if equal(element, value, budget)? {
            found = Some(at);
            if !is_last {
                break;
            }
        }
    }
    Ok(found.map_or(Value::Int(-1), int))
}

fn slice<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [list, Value::Int(start), Value::Int(end)] = arguments else { return Err(MISMATCH) };
    let elements = list_items(list, budget)?;
    let bounds = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
    let part = bounds.and_then(|(start, end)| elements.get(start..end));
    let part = part.ok_or_else(|| invalid(format!("slice({start}, {end}) is out of range")))?;
    Ok(Value::List(part.into()))
}

fn flatten<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (list, depth) = match arguments {
        [list] => (list, 1),
        [list, Value::Int(depth)] => (list, *depth),
        _ => return Err(MISMATCH),
    };
    let depth = u64::try_from(depth).map_err(|_| invalid("flatten with a negative level"))?;
    let mut flat = Vec::new();
    append_flat(list, depth, &mut flat, budget)?;
    Ok(Value::made_list(flat))
}

fn append_flat<'a>(
    list: &Value<'a>,
    depth: u64,
    flat: &mut Vec<Value<'a>>,
    budget: &mut Budget,
) -> Result<(), CelError> {
    for element in list_items(list, budget)?.iter() {
        if element.is_list() && depth > 0 {
            budget.nested(|budget| append_flat(element, depth - 1, flat, budget))?;
        } else {
            flat.push(element.clone());
        }
    }
    Ok(())
}

fn reverse<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    Ok(Value::made_list(list_items(list, budget)?.iter().rev().cloned().collect()))
}

fn distinct<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    let mut unique: Vec<Value<'a>> = Vec::new();
    for element in list_items(list, budget)?.iter() {
        if !is_element(element, &unique, budget)? {
            unique.push(element.clone());
        }
    }
    Ok(Value::made_list(unique))
}

fn range<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Int(count)] = arguments else { return Err(MISMATCH) };
    budget.charge(u64::try_from(*count).unwrap_or(0))?;
    Ok(Value::made_list((0..*count).map(Value::Int).collect()))
}

fn is_element<'a>(value: &Value<'a>, elements: &[Value<'a>], budget: &mut Budget) -> Result<bool, CelError> {
    for element in elements {
        if equal(element, value, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether all elements of the second list are in the first.
fn is_superset<'a>(all: &[Value<'a>], some: &[Value<'a>], budget: &mut Budget) -> Result<bool, CelError> {
    for element in some {
        if !is_element(element, all, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [all, some] = arguments else { return Err(MISMATCH) };
    let (all, some) = (list_items(all, budget)?, list_items(some, budget)?);
    Ok(Value::Bool(is_superset(&all, &some, budget)?))
}

fn equivalent<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [a, b] = arguments else { return Err(MISMATCH) };
    let (a, b) = (list_items(a, budget)?, list_items(b, budget)?);
    Ok(Value::Bool(is_superset(&a, &b, budget)? && is_superset(&b, &a, budget)?))
}

fn intersects<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [a, b] = arguments else { return Err(MISMATCH) };
    let (a, b) = (list_items(a, budget)?, list_items(b, budget)?);
    for element in a.iter() {
        if is_element(element, &b, budget)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn sort<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    let elements = list_items(list, budget)?;
    sorted_by(elements.iter().map(|element| (element.clone(), element.clone())).collect(), budget)
}

/// Sorts values by their keys, which have one type.
pub(in crate::query::cel) fn sorted_by<'a>(
    mut keyed: Vec<(Value<'a>, Value<'a>)>,
    budget: &mut Budget,
) -> Outcome<'a> {
    let mut failure: Option<CelError> = None;
    if let Some((first, _)) = keyed.first() {
        let kind = first.type_name();
        if keyed.iter().any(|(key, _)| key.type_name() != kind) {
            return Err(invalid("the keys of a sort have several types"));
        }
        if keyed.len() == 1 {
            compare(first, first, budget)?;
        }
    }
    keyed.sort_by(|(a, _), (b, _)| {
        if failure.is_some() {
            return Ordering::Equal;
        }
        compare(a, b, budget).unwrap_or_else(|error| {
            failure = Some(error);
            Ordering::Equal
        })
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(Value::made_list(keyed.into_iter().map(|(_, value)| value).collect())),
    }
}
