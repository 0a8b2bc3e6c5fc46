//! The options of a source's reflector, tuned for a person who waits for the output.

use std::time::Duration;

use kdelta::object::ResourceVersion;
use kdelta::reflector::{BackoffOptions, Observer, ReflectorOptions};

use super::PartSource;
use crate::settings::{ListMode, Selection};

/// The longest wait between two attempts, jitter included. Shorter than a controller's, because a person is watching.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(5);

/// The default of `--chunk-size`, which leaves the page size to the reflector.
const KUBECTL_PAGE_SIZE: u32 = 500;

/// Returns the options of a source's reflector, tuned for a person who waits for the output.
pub(crate) fn reflector_options(
    selection: &Selection,
    source: &PartSource,
    observer: Option<Observer>,
) -> ReflectorOptions {
    let defaults = ReflectorOptions::default();
    let first_version = if selection.cached { ResourceVersion::ANY } else { ResourceVersion::UNSET };
    let page_size = match selection.page_size {
        KUBECTL_PAGE_SIZE => source.needs_single_page().then_some(0),
        page_size => Some(page_size),
    };
    defaults
        .first_version(first_version)
        .page_size(page_size)
        .watch_list(match selection.list_mode {
            ListMode::Auto => !source.lists_directly(),
            ListMode::WatchList => true,
            ListMode::List => false,
        })
        .backoff(backoff())
        .observer(observer)
        .give_up(Some(source.gives_up(false)))
}

/// Returns client-go's back-off with a cap that includes the jitter: at the cap, waits are uniform between 2.5 and 5 s.
fn backoff() -> BackoffOptions {
    let defaults = BackoffOptions::default();
    defaults.cap(MAX_RETRY_WAIT.div_f64(1.0 + defaults.jitter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_wait_includes_jitter() {
        let BackoffOptions { start, cap, jitter, .. } = backoff();
        assert_eq!(cap, Duration::from_millis(2500));
        assert_eq!(cap.mul_f64(1.0 + jitter), MAX_RETRY_WAIT);
        assert!(start < cap);
    }
}
