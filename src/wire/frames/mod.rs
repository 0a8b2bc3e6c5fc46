//! Bytes as they arrive → whole JSON values, without ever holding a body.
//!
//! A body comes in chunks, cut anywhere. The splitters keep only the value that a cut went through, and hand on every
//! other value as a slice of the chunk itself. They find where values begin and end and do not validate what is inside:
//! whoever reads the value does. Where that tells the end too, the splitter does not look for it: the objects of a list
//! and the lines of a watch are read so (`read`) where they lie whole in a chunk.
//!
//! [`ListSplitter`] takes the elements out of one list, [`WatchSplitter`] the frames out of an endless stream;
//! [`ProtobufListSplitter`] and [`ProtobufWatchSplitter`] do so where a server writes Protocol Buffers. All are fed the same
//! way: call `next` with the unread rest of a chunk until it answers `None`, then with the next
//! chunk, and `finish` at the end of the body.

mod brackets;
mod list;
mod protobuf_list;
mod scan;
mod watch;

pub(crate) use list::Next;
pub use list::{ListSplitter, Piece};
pub(crate) use protobuf_list::{Packed, ProtobufListSplitter, ProtobufWatchSplitter};
pub use watch::WatchSplitter;
pub(crate) use watch::{FrameType, WatchFrame};

use crate::listwatch::Error;

/// A reader that keeps nothing that is nested deeper than this may be given what nobody followed. What it throws away
/// costs it no more for being deep.
const PLAIN_DEPTH: u32 = 72;

/// How much a server may ask us to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one object, row or frame. etcd holds objects up to 1.5 MiB unless told otherwise and a server's own
    /// limit for a request is 3 MiB; aggregated servers may hold what they like. 64 MiB by default.
    pub frame: usize,
    /// Arrays and objects inside each other. 512 by default.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frame: 64 << 20, depth: 512 }
    }
}

/// Why a byte can't be part of what was expected. What it is instead is never said: it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Expected(&'static str),
    TwoItemLists,
    TooLong(usize),
    TooDeep(u32),
}

impl Fault {
    /// As an error of the seam; `what` was being read, and `offset` is where in the body it went wrong.
    fn at(self, what: &str, offset: u64) -> Error {
        let problem = match self {
            Self::Expected(wanted) => format!("expected {wanted}"),
            Self::TwoItemLists => "items are given twice".to_owned(),
            Self::TooLong(limit) => format!("a value is longer than the limit of {limit} bytes"),
            Self::TooDeep(limit) => format!("a value is nested deeper than the limit of {limit} levels"),
        };
        Error::Decode(format!("malformed {what} at byte {offset}: {problem}"))
    }
}

/// The end came too early.
fn cut_off(what: &str, offset: u64) -> Error {
    Error::Transport(format!("the connection ended in the middle of a {what}, after {offset} bytes"))
}

#[cfg(test)]
mod testing {
    //! Texts to split, and ways to cut them.

    use proptest::prelude::*;
    use serde_json::Value;

    /// `body` in pieces; cuts beyond its end are none, equal ones give empty chunks.
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

    /// Any JSON value, with texts that are hard on scanners.
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
