//! Functions of strings. Positions count characters.

use super::declaration::{Declaration, MISMATCH, global, int, invalid, member};
use crate::query::cel::budget::{Budget, check_length};
use crate::query::cel::error::CelError;
use crate::query::cel::value::{Outcome, Value, list_items};

pub(super) const DECLARATIONS: &[Declaration] = &[
    member("contains", "string, string -> bool", |budget, arguments| {
        search(budget, arguments, |text, part| text.contains(part))
    }),
    member("startsWith", "string, string -> bool", |budget, arguments| {
        search(budget, arguments, |text, part| text.starts_with(part))
    }),
    member("endsWith", "string, string -> bool", |budget, arguments| {
        search(budget, arguments, |text, part| text.ends_with(part))
    }),
    member("charAt", "string, int -> string", char_at),
    member("indexOf", "string, string -> int", index_of),
    member("indexOf", "string, string, int -> int", index_of),
    member("lastIndexOf", "string, string -> int", last_index_of),
    member("lastIndexOf", "string, string, int -> int", last_index_of),
    member("lowerAscii", "string -> string", |budget, arguments| {
        mapped(budget, arguments, str::to_ascii_lowercase)
    }),
    member("upperAscii", "string -> string", |budget, arguments| {
        mapped(budget, arguments, str::to_ascii_uppercase)
    }),
    member("trim", "string -> string", |budget, arguments| {
        mapped(budget, arguments, |text| text.trim().to_owned())
    }),
    member("replace", "string, string, string -> string", replace),
    member("replace", "string, string, string, int -> string", replace),
    member("split", "string, string -> list<string>", split),
    member("split", "string, string, int -> list<string>", split),
    member("substring", "string, int -> string", substring),
    member("substring", "string, int, int -> string", substring),
    member("join", "list<string> -> string", join),
    member("join", "list<string>, string -> string", join),
    global("strings.quote", "string -> string", |budget, arguments| mapped(budget, arguments, quote)),
];

fn search<'a>(budget: &mut Budget, arguments: &[Value<'a>], holds: fn(&str, &str) -> bool) -> Outcome<'a> {
    let [Value::Text(text), Value::Text(part)] = arguments else { return Err(MISMATCH) };
    budget.read(text.len() + part.len())?;
    Ok(Value::Bool(holds(text, part)))
}

fn mapped<'a>(budget: &mut Budget, arguments: &[Value<'a>], map: fn(&str) -> String) -> Outcome<'a> {
    let [Value::Text(text)] = arguments else { return Err(MISMATCH) };
    budget.allocate(text.len())?;
    Value::made_text(map(text), budget)
}

fn out_of_range(at: i64) -> CelError {
    invalid(format!("the position {at} is out of range"))
}

/// Returns the characters of a string.
fn chars(text: &str, budget: &mut Budget) -> Result<Vec<char>, CelError> {
    budget.allocate(text.len())?;
    Ok(text.chars().collect())
}

fn char_at<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Text(text), Value::Int(at)] = arguments else { return Err(MISMATCH) };
    let chars = chars(text, budget)?;
    let position = usize::try_from(*at).map_err(|_| out_of_range(*at))?;
    match chars.get(position) {
        Some(char) => Value::made_text(char.to_string(), budget),
        None if position == chars.len() => Value::made_text(String::new(), budget),
        None => Err(out_of_range(*at)),
    }
}

/// Charges for a search that compares at each position.
fn charge_search(text: &[char], part: &[char], budget: &mut Budget) -> Result<(), CelError> {
    budget.read(text.len().saturating_mul(part.len()))
}

fn index_of<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, part, offset) = match arguments {
        [Value::Text(text), Value::Text(part)] => (text, part, 0),
        [Value::Text(text), Value::Text(part), Value::Int(offset)] => (text, part, *offset),
        _ => return Err(MISMATCH),
    };
    if part.is_empty() {
        return Ok(Value::Int(offset));
    }
    let from = usize::try_from(offset).map_err(|_| out_of_range(offset))?;
    let (text, part) = (chars(text, budget)?, chars(part, budget)?);
    charge_search(&text, &part, budget)?;
    let found = text.get(from..).and_then(|rest| rest.windows(part.len()).position(|window| window == part));
    Ok(found.map_or(Value::Int(-1), |found| int(found + from)))
}

fn last_index_of<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, part, offset) = match arguments {
        [Value::Text(text), Value::Text(part)] => (chars(text, budget)?, chars(part, budget)?, None),
        [Value::Text(text), Value::Text(part), Value::Int(offset)] => {
            (chars(text, budget)?, chars(part, budget)?, Some(*offset))
        }
        _ => return Err(MISMATCH),
    };
    if part.is_empty() {
        return Ok(offset.map_or_else(|| int(text.len()), Value::Int));
    }
    let last = match offset {
        Some(offset) => usize::try_from(offset).map_err(|_| out_of_range(offset))?,
        None => text.len().saturating_sub(1),
    };
    if last >= text.len() {
        return Ok(Value::Int(-1));
    }
    charge_search(&text, &part, budget)?;
    let found = text.windows(part.len()).take(last + 1).rposition(|window| window == part);
    Ok(found.map_or(Value::Int(-1), int))
}

fn replace<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, old, new, limit) = match arguments {
        [Value::Text(text), Value::Text(old), Value::Text(new)] => (text, old, new, -1),
        [Value::Text(text), Value::Text(old), Value::Text(new), Value::Int(limit)] => {
            (text, old, new, *limit)
        }
        _ => return Err(MISMATCH),
    };
    budget.allocate(text.len())?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let count = text.matches(&**old).take(limit).count();
    budget.allocate(text.len().saturating_add(count.saturating_mul(new.len())))?;
    Value::made_text(text.replacen(&**old, new, limit), budget)
}

fn split<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, separator, limit) = match arguments {
        [Value::Text(text), Value::Text(separator)] => (text, separator, -1),
        [Value::Text(text), Value::Text(separator), Value::Int(limit)] => (text, separator, *limit),
        _ => return Err(MISMATCH),
    };
    budget.allocate(text.len())?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut rest: &str = text;
    // An empty separator splits characters, and no text into nothing.
    let is_done = |rest: &str| separator.is_empty() && rest.is_empty();
    while parts.len() < limit && !is_done(rest) {
        budget.charge(1)?;
        let (end, next) = match rest.find(&**separator) {
            _ if parts.len() + 1 == limit => (rest.len(), None),
            Some(0) if separator.is_empty() => {
                let length = rest.chars().next().map_or(0, char::len_utf8);
                (length, Some(length))
            }
            Some(at) => (at, Some(at + separator.len())),
            None => (rest.len(), None),
        };
        parts.push(Value::made_text(rest[..end].to_owned(), budget)?);
        match next {
            Some(next) => rest = &rest[next..],
            None => break,
        }
    }
    Ok(Value::made_list(parts))
}

fn substring<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, start, end) = match arguments {
        [Value::Text(text), Value::Int(start)] => (text, *start, None),
        [Value::Text(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return Err(MISMATCH),
    };
    let chars = chars(text, budget)?;
    let end = match end {
        Some(end) => usize::try_from(end).map_err(|_| out_of_range(end))?,
        None => chars.len(),
    };
    let from = usize::try_from(start).map_err(|_| out_of_range(start))?;
    let part = chars.get(from..end).ok_or_else(|| out_of_range(start))?;
    Value::made_text(part.iter().collect(), budget)
}

fn join<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (list, separator) = match arguments {
        [list] => (list, ""),
        [list, Value::Text(separator)] => (list, &**separator),
        _ => return Err(MISMATCH),
    };
    let mut joined = String::new();
    for (at, element) in list_items(list, budget)?.iter().enumerate() {
        let Value::Text(part) = element else { return Err(CelError::NoOverload("join")) };
        if at > 0 {
            joined.push_str(separator);
        }
        joined.push_str(part);
        check_length(joined.len())?;
    }
    Value::made_text(joined, budget)
}

/// Quotes a string with CEL's escapes.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
