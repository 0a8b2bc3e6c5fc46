//! Encrypted recordings: their keys, and the sealing of their bytes.

mod age_keys;
mod cipher;
mod creation;
mod key_files;
mod keyring;
#[cfg(feature = "age")]
mod with_age;
// The tests of a package can't switch off a feature, so they compile it in any case.
#[cfg(any(test, not(feature = "age")))]
#[cfg_attr(
    feature = "age",
    allow(dead_code, unreachable_pub, clippy::unused_self, reason = "only its tests use it")
)]
mod without_age;

pub use age_keys::{Identities, Recipients};
pub(in crate::recording) use cipher::{Cipher, FileCipher, RecordingId};
pub use creation::Encryption;
pub(in crate::recording) use key_files::KEY_FILE;
pub use keyring::Keyring;
