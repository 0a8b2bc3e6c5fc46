//! The write operations, with a real server's validation and defaulting.

mod body;
mod change;
mod create;
mod definitions;
mod delete;
mod evict;
mod ownership;
mod patch;
mod protobuf;
mod scale;
mod validate;
mod write_result;

pub(super) use body::{decode, is_protobuf, read};
pub(super) use change::{PatchKind, patch, replace};
pub(super) use create::create;
pub(super) use delete::{Deletion, begin_deletion, delete};
pub(super) use evict::{evict, selects};
pub(super) use scale::scale;
pub(super) use write_result::WriteResult;
