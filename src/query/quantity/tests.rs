//! Tests of quantities: apimachinery's rules, and comparison with exact numbers.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn suffixes_are_factors() {
    for (text, nanos) in [
        ("1", "1000000000"),
        ("100m", "100000000"),
        ("0.1", "100000000"),
        ("5u", "5000"),
        ("7n", "7"),
        ("2k", "2000000000000"),
        ("1.5Gi", "1610612736000000000"),
        ("1Ei", "1152921504606846976000000000"),
        ("3E", "3000000000000000000000000000"),
        ("-2e3", "-2000000000000"),
        ("+1E-3", "1000000"),
        ("0.1Ki", "102400000000"),
        ("12.345678901234567890", "12345678902"),
        ("00012.500", "12500000000"),
    ] {
        assert_eq!(
            quantity(text).as_nanos().map(|nanos| nanos.to_string()).as_deref(),
            Some(nanos),
            "{text}"
        );
    }
}

#[test]
fn finest_step_is_a_billionth_rounded_up() {
    for (text, nanos) in [
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1.000000001n", 2),
        ("1e-30", 1),
        ("1e-2000000000", 1),
        ("9.9999999999999999999999999999999", 10_000_000_000),
        ("0.0000000009999999999999999", 1),
        ("0e-30", 0),
        ("0.0000000000000000000000000000", 0),
    ] {
        assert_eq!(quantity(text).as_nanos(), Some(nanos), "{text}");
    }
}

#[test]
fn binary_quantities_are_capped() {
    for text in ["8Ei", "10Ei", "99999999999999999999999999999999999999999999Ki"] {
        assert_eq!(quantity(text), quantity("9223372036854775807"), "{text}");
    }
    assert!(quantity("-10Ei") < quantity("-7Ei"));
    assert!(quantity("10E") > quantity("10Ei"));
}

#[test]
fn missing_digits_are_zero() {
    for text in ["k", "m", "-", "+", ".", "-.", "Ki", "Ti", "e5", "e-9", "0", "-0"] {
        assert_eq!(quantity(text), quantity("0"), "{text}");
    }
    for text in ["Pi", "Ei", "e-10", ".e-10", "-e-10"] {
        assert_eq!(Quantity::parse(text), Err(QuantityError::Number), "{text}");
    }
}

#[test]
fn other_texts_are_errors() {
    for text in ["", "abc", "1 ", " 1", "1.2.3", "1e5x", "0x10", "1_000", "2024-01-01T00:00:00Z", "१"] {
        assert_eq!(Quantity::parse(text), Err(QuantityError::Format), "{text}");
    }
    for text in ["1K", "1mi", "1e", "1e-", "1ee5", "5-", "1-5", "2024-01", "1e99999999999999999999"] {
        assert_eq!(Quantity::parse(text), Err(QuantityError::Suffix), "{text}");
    }
}

#[test]
fn exponents_keep_lower_32_bits() {
    assert_eq!(quantity("1e4294967298"), quantity("100"));
}

#[test]
fn huge_quantities_compare_exactly() {
    let ascending = [
        "-2e2000000000",
        "-1e2000000000",
        "-1e60",
        "-1",
        "0",
        "1e20",
        "1e60",
        "1.01e60",
        "11e59",
        "1e2000000000",
    ];
    for (at, a) in ascending.iter().enumerate() {
        for (other, b) in ascending.iter().enumerate() {
            assert_eq!(quantity(a).cmp(&quantity(b)), at.cmp(&other), "{a} and {b}");
        }
    }
    assert_eq!(quantity(&format!("1{}", "0".repeat(60))), quantity("1e60"));
    assert_eq!(
        quantity("123456789012345678901234567890123456789012345e10"),
        quantity("1234567890123456789012345678901234567890123.45e12")
    );
}

/// A quantity's text, and its exact value in units of 10^-12.
fn exact() -> impl Strategy<Value = (String, i128)> {
    let factors = prop::sample::select(vec![
        ("n", 1_000),
        ("u", 1_000_000),
        ("m", 1_000_000_000),
        ("", 1_000_000_000_000),
        ("k", 1_000_000_000_000_000),
        ("M", 1_000_000_000_000_000_000),
        ("e1", 10_000_000_000_000),
        ("E-2", 10_000_000_000),
        ("Ki", 1024 * 1_000_000_000_000),
        ("Mi", 1024 * 1024 * 1_000_000_000_000),
    ]);
    (any::<bool>(), 0..1_000_000_i128, 0..1_000_i128, factors).prop_map(
        |(is_negative, whole, thousandths, factor)| {
            let (suffix, factor) = factor;
            let sign = if is_negative { "-" } else { "" };
            // Every factor is a multiple of a thousand.
            let value = (whole * 1_000 + thousandths) * (factor / 1_000);
            (format!("{sign}{whole}.{thousandths:03}{suffix}"), if is_negative { -value } else { value })
        },
    )
}

proptest! {
    #[test]
    fn comparison_matches_exact_numbers((a, a_value) in exact(), (b, b_value) in exact()) {
        // A step is 1000 units; values are rounded away from zero.
        let nanos = |value: i128| value.signum() * ((value.abs() + 999) / 1_000);
        prop_assert_eq!(quantity(&a).as_nanos(), Some(nanos(a_value)));
        prop_assert_eq!(quantity(&a).cmp(&quantity(&b)), nanos(a_value).cmp(&nanos(b_value)));
    }

    #[test]
    fn spellings_of_a_number_are_equal(digits in "[1-9][0-9]{0,60}", exponent in 0..100_i32, shift in 0..60_usize) {
        let number = quantity(&format!("{digits}e{exponent}"));
        let long = format!("{digits}{}", "0".repeat(shift));
        prop_assert_eq!(&number, &quantity(&format!("{long}e{}", exponent - i32::try_from(shift).expect("small"))));
        let next = quantity(&format!("{long}1e{exponent}"));
        prop_assert_eq!(number.cmp(&next), Ordering::Less);
        prop_assert_eq!(quantity(&format!("-{digits}e{exponent}")).cmp(&quantity(&format!("-{long}1e{exponent}"))), Ordering::Greater);
    }

    #[test]
    fn no_text_panics(text in "[-+]?[0-9.]{0,50}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,12}|.*") {
        if let Ok(quantity) = Quantity::parse(&text) {
            prop_assert_eq!(quantity.cmp(&quantity), Ordering::Equal);
        }
    }
}
