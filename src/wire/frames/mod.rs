//! Splitters: bytes as they arrive to complete JSON values, without holding a whole body.
//!
//! A body comes in chunks that may be cut anywhere. The splitters keep only a value that a cut went through, and
//! return every other value as a slice of the chunk. They find the start and end of values and do not validate their
//! content, which the parser of the value does. Where the parser also finds the end, the splitter does not search for
//! it: the `read` methods decode the objects of a list and the lines of a watch in place if they are complete in a
//! chunk.
//!
//! [`ListSplitter`] returns the elements of one list, [`WatchSplitter`] the frames of an endless stream;
//! [`ProtobufListSplitter`] and [`ProtobufWatchSplitter`] do the same for Protocol Buffers. All are used the same
//! way: call `next` with the unread rest of a chunk until it returns `None`, then with the next chunk, and `finish`
//! at the end of the body.

mod brackets;
mod list;
mod protobuf_list;
mod scan;
mod watch;

pub(crate) use list::Next;
pub use list::{ListSplitter, Piece};
pub(crate) use protobuf_list::{ProtobufListSplitter, ProtobufPiece, ProtobufWatchSplitter};
pub(crate) use watch::WatchFrame;
pub use watch::WatchSplitter;

use crate::listwatch::Error;

/// The nesting up to which a parser may receive values whose end was not searched for. Deeper values that it drops
/// cost it no more.
const PLAIN_DEPTH: u32 = 72;

/// The limits for the size of values that a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one object, row or frame. etcd stores objects up to 1.5 MiB unless configured otherwise, and a
    /// server's own limit for a request is 3 MiB; aggregated servers have no common limit. 64 MiB by default.
    pub frame: usize,
    /// The nesting of arrays and objects. 512 by default.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frame: 64 << 20, depth: 512 }
    }
}

setters!(Limits { frame: usize, depth: u32 });

/// Why a byte is not valid where it stands. Messages never show the byte itself, which may be part of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Expected(&'static str),
    TwoItemLists,
    TooLong(usize),
    TooDeep(u32),
}

impl Fault {
    /// Converts the fault to an error. `what` names the text that was read, and `offset` the position in the body.
    fn at(self, what: &str, offset: u64) -> Error {
        let problem = match self {
            Self::Expected(expected) => format!("expected {expected}"),
            Self::TwoItemLists => "items are given twice".to_owned(),
            Self::TooLong(limit) => format!("a value is longer than the limit of {limit} bytes"),
            Self::TooDeep(limit) => format!("a value is nested deeper than the limit of {limit} levels"),
        };
        Error::Decode(format!("malformed {what} at byte {offset}: {problem}"))
    }
}

/// The error of a body that ended too early.
fn cut_off(what: &str, offset: u64) -> Error {
    Error::Transport(format!("the connection ended in the middle of a {what}, after {offset} bytes").into())
}

#[cfg(test)]
mod testing {
    //! Texts to split, and ways to cut them.

    use proptest::prelude::*;
    use serde_json::Value;

    /// Cuts `body` into chunks. Cuts beyond its end are ignored, equal ones give empty chunks.
    pub(super) fn cut<'a>(body: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
        let mut cuts: Vec<_> = cuts.iter().map(|at| (*at).min(body.len())).collect();
        cuts.sort_unstable();
        cuts.push(body.len());
        let mut start = 0;
        cuts.into_iter().map(|end| &body[std::mem::replace(&mut start, end)..end]).collect()
    }

    pub(super) fn text(value: &Value, pretty: bool) -> String {
        if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.expect("JSON")
    }

    /// Any JSON value, with texts that are difficult for scanners.
    pub(super) fn document() -> impl Strategy<Value = Value> {
        let hard = prop::sample::select(vec![
            "\\",
            "\"",
            "\\\"",
            "}",
            "]",
            "{[",
            ",",
            "\u{7f}ü\u{1F600}",
            "\n",
            "items",
        ]);
        let words = prop_oneof![hard.prop_map(str::to_owned), "[a-z ]{0,12}", any::<String>()];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            words.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((words.clone(), inner), 0..5)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }
}
