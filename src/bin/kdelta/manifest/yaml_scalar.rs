//! The types of YAML's plain scalars, by the rules of kubectl's parser, which are those of YAML 1.1.

use serde_json::{Number, Value};

/// Returns the value of a plain scalar without a tag.
pub(super) fn plain(text: &str) -> Result<Value, NotFinite> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::Bool(false));
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Err(NotFinite("+Inf")),
        "-.inf" | "-.Inf" | "-.INF" => return Err(NotFinite("-Inf")),
        ".nan" | ".NaN" | ".NAN" => return Err(NotFinite("NaN")),
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'.') => float(text),
        Some(b'0'..=b'9' | b'+' | b'-') => {
            let digits = text.replace('_', "");
            integer(&digits).or_else(|| float(&digits))
        }
        _ => None,
    };
    Ok(number.map_or_else(|| Value::from(text), Value::Number))
}

/// A number that JSON can't express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("json: unsupported value: {0}")]
pub(super) struct NotFinite(&'static str);

/// Parses an integer of 64 bits: decimal, or with one of the prefixes 0x, 0o, 0b and 0.
fn integer(text: &str) -> Option<Number> {
    let (is_negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&*lower, 10),
    };
    // The parsers accept a sign of their own.
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if is_negative { 0_i64.checked_sub_unsigned(size).map(Number::from) } else { Some(Number::from(size)) }
}

/// Parses a decimal number with a point or an exponent.
fn float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = (!whole.is_empty() || !fraction.is_empty())
        && are_digits(whole)
        && are_digits(fraction)
        && exponent.is_none_or(|exponent| !exponent.is_empty() && are_digits(exponent));
    if !is_number {
        return None;
    }
    // A number that is too large is a text.
    Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // Taken from sigs.k8s.io/yaml.
    #[test]
    fn plain_scalars_have_kubectls_types() {
        for (text, value) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("y", json!(true)),
            ("No", json!(false)),
            ("off", json!(false)),
            ("oN", json!("oN")),
            ("12", json!(12)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("1_000", json!(1000)),
            ("0x1F", json!(31)),
            ("0b101", json!(5)),
            ("0o17", json!(15)),
            ("0755", json!(493)),
            ("0", json!(0)),
            ("089", json!(89.0)),
            ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
            ("-9223372036854775808", json!(-9_223_372_036_854_775_808_i64)),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("-1.5e3", json!(-1500.0)),
            ("1e999", json!("1e999")),
            ("2001-01-01", json!("2001-01-01")),
            ("1.2.3", json!("1.2.3")),
            ("-", json!("-")),
            ("--5", json!("--5")),
            ("0x", json!("0x")),
            (".", json!(".")),
            ("1e", json!("1e")),
            ("web", json!("web")),
        ] {
            assert_eq!(plain(text), Ok(value), "{text}");
        }
        assert_eq!(plain(".inf").map_err(|e| e.to_string()), Err("json: unsupported value: +Inf".into()));
    }
}
