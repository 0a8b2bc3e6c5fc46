//! The cluster in the program.

use jiff::Timestamp;
use kdelta::demo::{Demo, Error, Options};

use crate::settings;

/// Starts a demo as it was asked for.
///
/// # Errors
/// The port can't be had.
pub(crate) async fn start(asked: settings::Demo) -> Result<Demo, Error> {
    let settings::Demo { port, objects, speed, seed } = asked;
    let objects = usize::try_from(objects).unwrap_or(usize::MAX);
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    Demo::start(Options { port, objects, speed, seed, start: Timestamp::now() }).await
}
