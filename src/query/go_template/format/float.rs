//! Floating-point numbers with the verbs `%e %E %f %F %g %G %b %x %X`, as Go's `strconv` formats them.

use super::buffer::Buffer;
use super::flags::Flags;

/// No float64 has more decimal digits; more are zeros.
const MAX_DIGITS: usize = 1_100;

impl Flags {
    /// Writes a number, or returns false if the verb is not for floating-point numbers.
    pub(super) fn float(&self, value: f64, verb: char, out: &mut Buffer<'_>) -> bool {
        let (verb, default) = match verb {
            'v' => ('g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => (verb, None),
            'f' | 'e' | 'E' => (verb, Some(6)),
            'F' => ('f', Some(6)),
            _ => return false,
        };
        let precision = self.precision.or(default);
        let sign = match (value.is_sign_negative() && !value.is_nan(), self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        if !value.is_finite() {
            let sign = if value.is_infinite() && sign.is_empty() { "+" } else { sign };
            let word = if value.is_nan() { "NaN" } else { "Inf" };
            Self { zero: false, ..*self }.pad(format!("{sign}{word}").as_bytes(), out);
            return true;
        }
        // The digits that exceed the precision of the number are zeros, which are not kept in memory.
        let mut number = format_float(value.abs(), verb, precision);
        if self.sharp && verb != 'b' {
            number.keep_point(verb, precision);
        }
        let length = sign.len() + number.len();
        let padding = self.width.unwrap_or(0).saturating_sub(length);
        let has_zero_padding = self.zero && !self.minus;
        if !self.minus && !has_zero_padding {
            out.repeat(b' ', padding);
        }
        out.text(sign);
        if has_zero_padding {
            out.repeat(b'0', padding);
        }
        out.text(&number.digits);
        out.repeat(b'0', number.zeros);
        out.text(&number.exponent);
        if self.minus {
            out.repeat(b' ', padding);
        }
        true
    }
}

/// A formatted number: digits with a point, zeros behind them, and the exponent.
#[derive(Debug, Default)]
struct Formatted {
    digits: String,
    zeros: usize,
    exponent: String,
}

impl Formatted {
    fn len(&self) -> usize {
        self.digits.len() + self.zeros + self.exponent.len()
    }

    /// Adds the point and the zeros that the flag `#` keeps.
    fn keep_point(&mut self, verb: char, precision: Option<usize>) {
        let mut wanted = match verb {
            'g' | 'G' | 'x' => precision.unwrap_or(6),
            _ => 0,
        };
        let has_point = self.digits.contains('.');
        // Hexadecimal digits follow their prefix, whose letter counts as a digit.
        let significant =
            self.digits.chars().filter(|digit| *digit != '.').skip_while(|digit| *digit == '0').count();
        wanted = wanted.saturating_sub(significant + self.zeros);
        if !has_point {
            if self.digits == "0" {
                wanted = wanted.saturating_sub(1);
            }
            self.digits.push('.');
        }
        self.zeros += wanted;
    }
}

fn format_float(value: f64, verb: char, precision: Option<usize>) -> Formatted {
    match verb {
        'f' => fixed(value, precision),
        'e' | 'E' => {
            let (digits, exponent) = decimal(value, precision.map(|precision| precision + 1));
            scientific(&digits, exponent, precision, verb)
        }
        'b' => binary(value),
        'x' | 'X' => hexadecimal(value, precision, verb),
        _ => general(value, precision, verb),
    }
}

fn fixed(value: f64, precision: Option<usize>) -> Formatted {
    let Some(precision) = precision else {
        return Formatted { digits: format!("{value}"), ..Formatted::default() };
    };
    let shown = precision.min(MAX_DIGITS);
    Formatted { digits: format!("{value:.shown$}"), zeros: precision - shown, exponent: String::new() }
}

/// Returns significant digits and the exponent of the first: as few as round-trip, or `count`.
fn decimal(value: f64, count: Option<usize>) -> (String, i32) {
    let text = match count {
        None => format!("{value:e}"),
        Some(count) => format!("{value:.*e}", count.clamp(1, MAX_DIGITS) - 1),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

fn scientific(digits: &str, exponent: i32, precision: Option<usize>, verb: char) -> Formatted {
    let (first, rest) = digits.split_at(digits.len().min(1));
    let mut text = first.to_owned();
    let after = precision.unwrap_or(rest.len());
    let shown = &rest[..rest.len().min(after)];
    if after > 0 {
        text.push('.');
        text.push_str(shown);
    }
    let letter = if verb == 'E' || verb == 'G' { 'E' } else { 'e' };
    let sign = if exponent < 0 { '-' } else { '+' };
    Formatted {
        digits: text,
        zeros: after - shown.len(),
        exponent: format!("{letter}{sign}{:02}", exponent.unsigned_abs()),
    }
}

/// `%g`: with an exponent if it is below -4 or not below the precision.
fn general(value: f64, precision: Option<usize>, verb: char) -> Formatted {
    let (digits, exponent) = decimal(value, precision);
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        digits => digits,
    };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let limit = match precision {
        None => 6,
        Some(precision) => {
            let limit = i32::try_from(precision.max(1)).unwrap_or(i32::MAX);
            if limit > count && count > exponent { count } else { limit }
        }
    };
    // Go takes a zero as a number without digits.
    let exponent_of_digits = if value == 0.0 { -1 } else { exponent };
    if exponent_of_digits < -4 || exponent_of_digits >= limit {
        return scientific(digits, exponent, Some(digits.len() - 1), verb);
    }
    let text = match usize::try_from(exponent) {
        Err(_) => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            format!("0.{zeros}{digits}")
        }
        Ok(whole) if digits.len() <= whole + 1 => format!("{digits:0<width$}", width = whole + 1),
        Ok(whole) => format!("{}.{}", &digits[..=whole], &digits[whole + 1..]),
    };
    Formatted { digits: text, ..Formatted::default() }
}

/// Returns the mantissa with its implicit bit and the exponent of its last bit.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    match i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0) {
        0 => (mantissa, -1_074),
        exponent => (mantissa | 1 << 52, exponent - 1_075),
    }
}

/// `%b`: the mantissa and a power of two.
fn binary(value: f64) -> Formatted {
    let (mantissa, exponent) = parts(value);
    let sign = if exponent < 0 { "" } else { "+" };
    Formatted { digits: mantissa.to_string(), zeros: 0, exponent: format!("p{sign}{exponent}") }
}

/// `%x`: a mantissa of 1 and hexadecimal digits, and a power of two.
fn hexadecimal(value: f64, precision: Option<usize>, verb: char) -> Formatted {
    let (mut mantissa, mut exponent) = parts(value);
    if mantissa == 0 {
        exponent = 0;
    } else {
        exponent += 52;
        while mantissa >> 52 == 0 {
            mantissa <<= 1;
            exponent -= 1;
        }
    }
    // 13 digits behind the point.
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let dropped = (13 - precision) * 4;
        let (half, rest) = (1_u64 << (dropped - 1), mantissa & ((1 << dropped) - 1));
        mantissa >>= dropped;
        if rest > half || rest == half && mantissa & 1 == 1 {
            mantissa += 1;
        }
        mantissa <<= dropped;
        if mantissa >> 53 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let all = format!("{:013x}", mantissa & ((1 << 52) - 1));
    let (shown, zeros) = match precision {
        None => (all.trim_end_matches('0'), 0),
        Some(precision) => (&all[..precision.min(13)], precision.saturating_sub(13)),
    };
    let point = if shown.is_empty() && zeros == 0 { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let mut text = format!("0x{}{point}{shown}", mantissa >> 52);
    let mut power = format!("p{sign}{:02}", exponent.unsigned_abs());
    if verb == 'X' {
        text.make_ascii_uppercase();
        power.make_ascii_uppercase();
    }
    Formatted { digits: text, zeros, exponent: power }
}
