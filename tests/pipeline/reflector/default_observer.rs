//! The log of a reflector whose caller sets no observer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kdelta::listwatch::Error;
use kdelta::reflector::{Reflector, ReflectorOptions};
use kdelta::store::Cache;
use kdelta::testing::{FakeSource, InitialEvents};
use tokio_util::sync::CancellationToken;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::status_with;

/// Counts warnings of the reflector.
struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN && metadata.target().starts_with("kdelta::reflector")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns the warnings of a reflector whose lists and watches are refused three times.
fn warnings(options: ReflectorOptions, error: impl Fn() -> Error) -> usize {
    let warnings = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::with_default(Warnings(Arc::clone(&warnings)), || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let source = FakeSource::new();
            source.set_initial_events(InitialEvents::Unsupported);
            for _ in 0..3 {
                source.fail_list(error());
            }
            let reflector = Reflector::new(source, Arc::new(Cache::new()), options);
            let run = reflector.run(CancellationToken::new());
            assert!(tokio::time::timeout(Duration::from_mins(1), run).await.is_err(), "it goes on");
        });
    });
    warnings.load(Ordering::Relaxed)
}

#[test]
fn refused_reflector_logs_a_warning_for_each_try_unless_it_has_an_observer() {
    let forbidden = || Error::Forbidden(status_with("pods is forbidden"));
    assert_eq!(warnings(ReflectorOptions::default(), forbidden), 3);
    assert_eq!(warnings(ReflectorOptions::default().observer(None), forbidden), 0);
    let expired = || Error::Expired(status_with("too old"));
    assert_eq!(warnings(ReflectorOptions::default(), expired), 0);
}
