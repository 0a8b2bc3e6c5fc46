//! A source with faults on a time of its own, for tests of this library and of programs built on it.
//!
//! [`FakeSource`] is a [`ListerWatcher`](crate::listwatch::ListerWatcher) that keeps objects in memory, with one
//! version for each change and a log of all changes, as a Kubernetes server does; it can lose events, cut watches,
//! forget its log, refuse requests and misbehave in the ways servers do, and it records what it was asked.
//! Its time, where it needs one, is that of a [`FakeClock`].
//!
//! What a test asks of these doubles that makes no sense, such as modifying an object that is not there, panics.

mod fake_clock;
mod log;
mod serve;
mod source;

pub use fake_clock::FakeClock;
pub use log::pod;
pub use serve::{FakeList, FakeWatch};
pub use source::{FakeSource, InitialEvents, Request};
