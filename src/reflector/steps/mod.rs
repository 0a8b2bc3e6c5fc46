//! The steps of a reflector: requests to the source, whose results go to the store.

mod flush;
pub(super) mod list;
pub(super) mod live_watch;
mod read_ahead;
mod source_deadline;
pub(super) mod version_check;
pub(super) mod watch_list;
mod whole_state;
