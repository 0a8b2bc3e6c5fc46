//! The order of printed keys in a mapping.

use std::borrow::Cow;
use std::cmp::Ordering;

use kdelta::object::JsonValue;

/// A key and its value.
pub(super) type Member<'a> = (Cow<'a, str>, JsonValue<'a>);

/// Returns the members in printing order. [`natural`] is not transitive for some keys (`a10`, `a1b`, `a2`), for which
/// the standard library's sort may panic, so insertion sort is used.
pub(super) fn in_order<'m, 't>(members: &'m [Member<'t>]) -> Vec<&'m Member<'t>> {
    let mut sorted: Vec<&Member<'t>> = Vec::with_capacity(members.len());
    for member in members {
        let at = sorted.partition_point(|(key, _)| natural(key, &member.0) != Ordering::Greater);
        sorted.insert(at, member);
    }
    sorted
}

/// Compares keys by letters, with runs of digits as numbers, and other characters before letters.
fn natural(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
    let (first, second) = (a[at], b[at]);
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => return first.cmp(&second),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // Zeros inside a number are digits; leading zeros are not.
    let inside = (first == '0' || second == '0')
        && a[..at].iter().rev().take_while(|c| c.is_ascii_digit()).any(|digit| *digit != '0');
    let number = |chars: &[char]| {
        chars[at..]
            .iter()
            .map_while(|c| c.to_digit(10))
            .fold((u64::from(inside), 0_usize), |(sum, count), digit| {
                (sum.wrapping_mul(10).wrapping_add(u64::from(digit)), count + 1)
            })
    };
    number(&a).cmp(&number(&b)).then(first.cmp(&second))
}
