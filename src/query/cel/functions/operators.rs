//! The signatures of the operators. The evaluator implements them.

use super::declaration::{Declaration, MISMATCH, global};
use crate::query::cel::budget::Budget;
use crate::query::cel::value::{Outcome, Value};

fn evaluated<'a>(_: &mut Budget, _: &[Value<'a>]) -> Outcome<'a> {
    Err(MISMATCH)
}

const fn of(name: &'static str, signature: &'static str) -> Declaration {
    global(name, signature, evaluated)
}

pub(super) const DECLARATIONS: &[Declaration] = &[
    of("==", "A, A -> bool"),
    of("!=", "A, A -> bool"),
    of("in", "A, list<A> -> bool"),
    of("in", "A, map<A, B> -> bool"),
    of("+", "int, int -> int"),
    of("+", "uint, uint -> uint"),
    of("+", "double, double -> double"),
    of("+", "string, string -> string"),
    of("+", "bytes, bytes -> bytes"),
    of("+", "list<A>, list<A> -> list<A>"),
    of("+", "duration, duration -> duration"),
    of("+", "duration, timestamp -> timestamp"),
    of("+", "timestamp, duration -> timestamp"),
    of("-", "int, int -> int"),
    of("-", "uint, uint -> uint"),
    of("-", "double, double -> double"),
    of("-", "duration, duration -> duration"),
    of("-", "timestamp, duration -> timestamp"),
    of("-", "timestamp, timestamp -> duration"),
    of("*", "int, int -> int"),
    of("*", "uint, uint -> uint"),
    of("*", "double, double -> double"),
    of("/", "int, int -> int"),
    of("/", "uint, uint -> uint"),
    of("/", "double, double -> double"),
    of("%", "int, int -> int"),
    of("%", "uint, uint -> uint"),
    // One parameter for values of one type, and the numbers of two.
    of("<", "C, C -> bool"),
    of("<", "int, uint -> bool"),
    of("<", "int, double -> bool"),
    of("<", "uint, int -> bool"),
    of("<", "uint, double -> bool"),
    of("<", "double, int -> bool"),
    of("<", "double, uint -> bool"),
    of("<=", "C, C -> bool"),
    of("<=", "int, uint -> bool"),
    of("<=", "int, double -> bool"),
    of("<=", "uint, int -> bool"),
    of("<=", "uint, double -> bool"),
    of("<=", "double, int -> bool"),
    of("<=", "double, uint -> bool"),
    of(">", "C, C -> bool"),
    of(">", "int, uint -> bool"),
    of(">", "int, double -> bool"),
    of(">", "uint, int -> bool"),
    of(">", "uint, double -> bool"),
    of(">", "double, int -> bool"),
    of(">", "double, uint -> bool"),
    of(">=", "C, C -> bool"),
    of(">=", "int, uint -> bool"),
    of(">=", "int, double -> bool"),
    of(">=", "uint, int -> bool"),
    of(">=", "uint, double -> bool"),
    of(">=", "double, int -> bool"),
    of(">=", "double, uint -> bool"),
];
