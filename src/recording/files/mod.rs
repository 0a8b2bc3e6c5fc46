//! The files of a recording: names, headers, access.

mod directory;
mod header;
mod lock;
mod new_file;
mod random_access;

pub(in crate::recording) use directory::{
    Kind, MAX_EMPTY_JOURNAL, append_to, cipher_of, context_directory, context_of, create_empty,
    create_private, hidden_directory, is_hidden, list, path_of, rename_directory, sync_directory,
};
pub(in crate::recording) use header::{Clear, Header, HeaderError};
pub(in crate::recording) use lock::Lock;
pub(in crate::recording) use new_file::{NewFile, replace};
pub(in crate::recording) use random_access::{FileError, RandomAccess};
