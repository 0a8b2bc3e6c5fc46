//! Semantic versions.

use std::cmp::Ordering;

use super::declaration::{Declaration, MISMATCH, global, invalid, member, quoted};
use crate::query::cel::kubernetes::SemanticVersion;
use crate::query::cel::value::{Outcome, Value};

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("semver", "string -> semver", |_, arguments| parsed(arguments)),
    global("semver", "string, bool -> semver", |_, arguments| parsed(arguments)),
    global("isSemver", "string -> bool", |_, arguments| is_semver(arguments)),
    global("isSemver", "string, bool -> bool", |_, arguments| is_semver(arguments)),
    member("isGreaterThan", "semver, semver -> bool", |_, arguments| {
        compared(arguments, |ordering| Value::Bool(ordering.is_gt()))
    }),
    member("isLessThan", "semver, semver -> bool", |_, arguments| {
        compared(arguments, |ordering| Value::Bool(ordering.is_lt()))
    }),
    member("compareTo", "semver, semver -> int", |_, arguments| {
        compared(arguments, |ordering| Value::Int(ordering as i64))
    }),
    member("major", "semver -> int", |_, arguments| number(arguments, |version| version.numbers[0])),
    member("minor", "semver -> int", |_, arguments| number(arguments, |version| version.numbers[1])),
    member("patch", "semver -> int", |_, arguments| number(arguments, |version| version.numbers[2])),
];

fn parsed<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, is_tolerant) = match arguments {
        [Value::Text(text)] => (text, false),
        [Value::Text(text), Value::Bool(is_tolerant)] => (text, *is_tolerant),
        _ => return Err(MISMATCH),
    };
    let version = SemanticVersion::parse(text, is_tolerant);
    let version = version.ok_or_else(|| invalid(format!("{} is no semantic version", quoted(text))))?;
    Ok(Value::Semver(version.into()))
}

fn is_semver<'a>(arguments: &[Value<'a>]) -> Outcome<'a> {
    match parsed(arguments) {
        Err(MISMATCH) => Err(MISMATCH),
        result => Ok(Value::Bool(result.is_ok())),
    }
}

fn compared<'a>(arguments: &[Value<'a>], result: fn(Ordering) -> Value<'static>) -> Outcome<'a> {
    match arguments {
        [Value::Semver(a), Value::Semver(b)] => Ok(result(a.cmp(b))),
        _ => Err(MISMATCH),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "Kubernetes converts it so")]
fn number<'a>(arguments: &[Value<'a>], field: fn(&SemanticVersion) -> u64) -> Outcome<'a> {
    match arguments {
        [Value::Semver(version)] => Ok(Value::Int(field(version) as i64)),
        _ => Err(MISMATCH),
    }
}
