//! A source with injectable faults and a fake clock, for tests of this library and of programs that use it.
//!
//! [`FakeSource`] is a [`ListerWatcher`](crate::listwatch::ListerWatcher) that keeps objects in memory, with one
//! version per change and a log of all changes, as a Kubernetes server does. It can lose events, break watches, expire
//! its log, refuse requests and misbehave in the ways of real servers, and it records the requests. [`FakeClock`]
//! supplies the time where one is needed.
//!
//! Invalid calls by a test, such as modifying an object that does not exist, panic.

mod channel;
mod errors;
mod fake_clock;
mod log;
mod serve;
mod source;

pub use fake_clock::FakeClock;
pub use log::pod;
pub use serve::{FakeList, FakeWatch};
pub use source::{FakeSource, InitialEvents, Request};
