//! `format`: strings with clauses such as `%s` and `%.2f`.

use super::convert::scalar_text;
use super::declaration::{Declaration, MISMATCH, invalid, member};
use crate::object::go_quote;
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::time_text::{format_duration, format_timestamp};
use crate::query::cel::value::{Outcome, Value, entries, list_items};

pub(super) const DECLARATIONS: &[Declaration] = &[member("format", "string, list<dyn> -> string", format)];

/// The digits behind the point, unless the clause has others.
const PRECISION: usize = 6;

/// The most digits behind the point.
const MAX_PRECISION: usize = 1000;

fn format<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Text(text), list] = arguments else { return Err(MISMATCH) };
    let values = list_items(list, budget)?;
    let mut values = values.iter();
    let mut formatted = String::new();
    let mut rest: &str = text;
    while let Some(at) = rest.find('%') {
        formatted.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            formatted.push('%');
            rest = behind;
            continue;
        }
        let value = values.next().ok_or_else(|| invalid("format has too few arguments"))?;
        let (precision, behind) = precision(rest)?;
        let clause = behind.chars().next().ok_or_else(|| invalid("format ends inside a clause"))?;
        formatted.push_str(&clause_text(clause, precision, value, budget)?);
        budget.allocate(formatted.len())?;
        rest = &behind[clause.len_utf8()..];
    }
    formatted.push_str(rest);
    Value::made_text(formatted, budget)
}

/// Returns the precision of a clause, and its rest.
fn precision(clause: &str) -> Result<(usize, &str), CelError> {
    let Some(digits) = clause.strip_prefix('.') else { return Ok((PRECISION, clause)) };
    let end = digits.find(|char: char| !char.is_ascii_digit()).unwrap_or(digits.len());
    match digits[..end].parse() {
        Ok(precision) if precision <= MAX_PRECISION => Ok((precision, &digits[end..])),
        _ => Err(invalid("format has an invalid precision")),
    }
}

fn clause_text(
    clause: char,
    precision: usize,
    value: &Value<'_>,
    budget: &mut Budget,
) -> Result<String, CelError> {
    let float = || match value {
        Value::Double(number) => Ok(*number),
        Value::Text(text) => match &**text {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            _ => Err(()),
        },
        _ => Err(()),
    };
    let refused =
        || invalid(format!("format does not accept a value of type {} for %{clause}", value.type_name()));
    match clause {
        's' => text_of(value, budget),
        'd' => match value {
            Value::Int(number) => Ok(number.to_string()),
            Value::Uint(number) => Ok(number.to_string()),
            _ => Err(refused()),
        },
        'f' => Ok(fixed(float().map_err(|()| refused())?, precision)),
        'e' => Ok(scientific(float().map_err(|()| refused())?, precision)),
        'b' => match value {
            Value::Bool(value) => Ok(u8::from(*value).to_string()),
            Value::Int(number) => Ok(signed(*number, format!("{:b}", number.unsigned_abs()))),
            Value::Uint(number) => Ok(format!("{number:b}")),
            _ => Err(refused()),
        },
        'o' => match value {
            Value::Int(number) => Ok(signed(*number, format!("{:o}", number.unsigned_abs()))),
            Value::Uint(number) => Ok(format!("{number:o}")),
            _ => Err(refused()),
        },
        'x' | 'X' => {
            let text = hexadecimal(value).ok_or_else(refused)?;
            Ok(if clause == 'X' { text.to_uppercase() } else { text })
        }
        other => Err(invalid(format!("format does not know %{other}"))),
    }
}

fn signed(number: i64, digits: String) -> String {
    if number < 0 { format!("-{digits}") } else { digits }
}

fn hexadecimal(value: &Value<'_>) -> Option<String> {
    let of_bytes = |bytes: &[u8]| {
        let digit = |number: u8| char::from_digit(u32::from(number), 16).unwrap_or_default();
        bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    };
    match value {
        Value::Int(number) => Some(signed(*number, format!("{:x}", number.unsigned_abs()))),
        Value::Uint(number) => Some(format!("{number:x}")),
        Value::Text(text) => Some(of_bytes(text.as_bytes())),
        Value::Bytes(bytes) => Some(of_bytes(bytes)),
        _ => None,
    }
}

/// Formats a number in the locale of the API server, `en_US`: with commas between thousands.
fn fixed(number: f64, precision: usize) -> String {
    if !number.is_finite() {
        return not_finite(number);
    }
    let digits = format!("{:.precision$}", number.abs());
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let mut text = String::new();
    if number.is_sign_negative() {
        text.push('-');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

fn not_finite(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number > 0.0 => "∞".to_owned(),
        _ => "-∞".to_owned(),
    }
}

/// Formats a number in the locale of the API server: `1.500000×10⁰³`. It takes the precision as the width.
fn scientific(number: f64, width: usize) -> String {
    if !number.is_finite() {
        return format!("{:>width$}", not_finite(number));
    }
    let text = format!("{number:.PRECISION$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(("", exponent), |digits| ("⁻", digits));
    let raised: String = format!("{digits:0>2}")
        .chars()
        .map(|digit| {
            ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize]
        })
        .collect();
    format!("{:>width$}", format!("{mantissa}×10{sign}{raised}"))
}

/// Checks the clauses of a constant text against the number of arguments.
///
/// # Errors
/// Returns the first problem of the format.
pub(in crate::query::cel) fn check_format(text: &str, count: usize) -> Result<(), String> {
    let mut clauses = 0;
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            rest = behind;
            continue;
        }
        clauses += 1;
        let (_, behind) = precision(rest).map_err(|error| error.to_string())?;
        let Some(clause) = behind.chars().next() else {
            return Err("format ends inside a clause".to_owned());
        };
        if !matches!(clause, 's' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X') {
            return Err(format!("format does not know %{clause}"));
        }
        rest = &behind[clause.len_utf8()..];
    }
    if clauses == count { Ok(()) } else { Err(format!("format has {clauses} clauses and {count} arguments")) }
}

/// Formats a value for `%s`.
fn text_of(value: &Value<'_>, budget: &mut Budget) -> Result<String, CelError> {
    match value {
        Value::Null => Ok("null".to_owned()),
        value if value.is_list() || value.is_map() => nested_text(value, budget),
        value => scalar_text(value).ok_or_else(|| {
            invalid(format!("format does not accept a value of type {}", value.type_name()))
        })?,
    }
}

/// Formats a value inside a list or a map, as a literal.
fn nested_text(value: &Value<'_>, budget: &mut Budget) -> Result<String, CelError> {
    budget.charge(1)?;
    let text = match value {
        Value::Text(text) => go_quote(text),
        Value::Bytes(bytes) => format!("b{}", go_quote(&String::from_utf8_lossy(bytes))),
        Value::Double(number) if !number.is_finite() => go_quote(&text_of(value, budget)?),
        Value::Double(number) => format!("{number:.PRECISION$}"),
        Value::Duration(nanos) => format!("duration({})", go_quote(&format_duration(*nanos))),
        Value::Timestamp(nanos) => format!("timestamp({})", go_quote(&format_timestamp(*nanos))),
        value if value.is_list() => {
            let mut parts = Vec::new();
            for element in list_items(value, budget)?.iter() {
                parts.push(budget.nested(|budget| nested_text(element, budget))?);
            }
            format!("[{}]", parts.join(", "))
        }
        value if value.is_map() => {
            let mut parts = Vec::new();
            for (key, value) in entries(value, budget)?.iter() {
                let value = budget.nested(|budget| nested_text(value, budget))?;
                parts.push((nested_text(key, budget)?, value));
            }
            parts.sort();
            let parts: Vec<String> = parts.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", parts.join(", "))
        }
        value => return text_of(value, budget),
    };
    budget.allocate(text.len())?;
    Ok(text)
}
