//! Floating-point numbers in Go's format: the shortest digits that round-trip, and Go's choice of exponents.

/// Formats a number as `encoding/json` does: with an exponent below 1e-6 and from 1e21.
#[must_use]
pub fn format_json_float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        // encoding/json shortens `e-07` to `e-7`; positive exponents are above 20 here.
        with_exponent(value, 1)
    } else {
        format!("{value}")
    }
}

/// Formats a number as kubectl does in YAML, which it converts from JSON. A whole number that fits an integer is printed as one;
/// others use `strconv`'s `'g'` with the shortest precision: an exponent of two digits below 1e-4 and from 1e6.
#[must_use]
pub fn format_yaml_float(value: f64) -> String {
    let is_integer = value.fract() == 0.0 && (-9.3e18..1.844_674_407_370_955_2e19).contains(&value);
    if is_integer { format_json_float(value) } else { format_go_float(value) }
}

/// Formats a number as `fmt` does with `%v`: `strconv`'s `'g'` with the shortest precision, which has an exponent of two
/// digits below 1e-4 and from 1e6 on.
#[must_use]
pub fn format_go_float(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) { format!("{value}") } else { with_exponent(value, 2) }
}

/// Formats `1.5e+300`, `5e-324`; the exponent has at least `digits` digits.
fn with_exponent(value: f64, digits: usize) -> String {
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{mantissa}e-{exponent:0>digits$}"),
        None => format!("{mantissa}e+{exponent:0>digits$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Taken from kubectl's output of an object with these numbers.
    #[test]
    fn json_floats_match_go() {
        for (value, text) in [
            (1.5, "1.5"),
            (3.0, "3"),
            (0.0, "0"),
            (0.000_001, "0.000001"),
            (1e-7, "1e-7"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.5e300, "-1.5e+300"),
            (5e-324, "5e-324"),
            (1.234_567_890_123_456_8e29, "1.2345678901234568e+29"),
            (18_446_744_073_709_551_615.0, "18446744073709552000"),
        ] {
            assert_eq!(format_json_float(value), text);
        }
    }

    #[test]
    fn go_floats_match_go() {
        for (value, text) in [
            (1.5, "1.5"),
            (3.0, "3"),
            (-0.0, "-0"),
            (999_999.5, "999999.5"),
            (1e6, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(format_go_float(value), text);
        }
    }

    #[test]
    fn yaml_floats_match_kubectl() {
        for (value, text) in [
            (1.5, "1.5"),
            (1e6, "1000000"),
            (1e15, "1000000000000000"),
            (1_234_567.5, "1.2345675e+06"),
            (123_456.5, "123456.5"),
            (0.0001, "0.0001"),
            (0.000_123_45, "0.00012345"),
            (0.000_01, "1e-05"),
            (1e-7, "1e-07"),
            (12_345_678_901_234.25, "1.234567890123425e+13"),
            (1e20, "1e+20"),
            (1e21, "1e+21"),
            (f64::MAX, "1.7976931348623157e+308"),
            (18_446_744_073_709_551_615.0, "1.8446744073709552e+19"),
        ] {
            assert_eq!(format_yaml_float(value), text);
        }
    }
}
