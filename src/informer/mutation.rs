//! Detection of changes to cached objects.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::object::{Key, Object};

/// The environment variable that enables the detector in client-go. The library reads no environment: a program that
/// supports the variable passes a detector to [`Builder::mutation_detector`](super::Builder::mutation_detector).
pub const MUTATION_DETECTOR_VARIABLE: &str = "KUBE_CACHE_MUTATION_DETECTOR";

/// The time between two comparisons.
const PERIOD: Duration = Duration::from_secs(1);

/// A cached object that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mutation {
    /// The key of the object.
    pub key: Key,
}

/// A hook that is called for each mutation, on the informer's task.
pub type MutationHook = Arc<dyn Fn(&Mutation) + Send + Sync>;

/// A value whose changes can be detected by its fingerprint.
pub trait Fingerprint: Send + Sync + 'static {
    /// Returns the key of the value.
    fn key(&self) -> Key;

    /// Returns a hash of the value: equal as long as the value does not change.
    fn fingerprint(&self) -> u64;
}

impl Fingerprint for Object {
    fn key(&self) -> Key {
        Self::key(self).clone()
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        Self::key(self).hash(&mut hasher);
        self.uid().hash(&mut hasher);
        self.resource_version().hash(&mut hasher);
        self.json().hash(&mut hasher);
        hasher.finish()
    }
}

/// Compares cached objects with their state when they were cached (client-go: `MutationDetector`).
///
/// An `Arc<Object>` gives no `&mut` access, and an `Object` has no interior mutability. The detector therefore finds what
/// can't happen in safe code: a broken body codec, corrupted memory, or `unsafe` code elsewhere in the program. It hashes
/// every cached body once a second and is meant for tests and debugging.
///
/// It holds weak references, so it keeps no object alive. (client-go keeps copies of all objects for up to four minutes.)
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::informer::{MUTATION_DETECTOR_VARIABLE, MutationDetector, SharedIndexInformer};
/// # use kdelta::testing::FakeSource;
/// let mut builder = SharedIndexInformer::builder(FakeSource::new());
/// if std::env::var(MUTATION_DETECTOR_VARIABLE).is_ok_and(|value| value == "true") {
///     let panic_as_client_go = Arc::new(|mutation: &_| panic!("cached object was changed: {mutation:?}"));
///     builder = builder.mutation_detector(MutationDetector::new(panic_as_client_go));
/// }
/// let informer = builder.build();
/// ```
pub struct MutationDetector<T = Object> {
    /// A std mutex: it is held while an object is added, and while all are compared. Bounded by the live objects and those
    /// that were dropped since the last comparison.
    cached: Mutex<Vec<Cached<T>>>,
    on_mutation: MutationHook,
}

struct Cached<T> {
    object: Weak<T>,
    fingerprint: u64,
}

impl<T: Fingerprint> MutationDetector<T> {
    /// Creates a detector that calls this hook once for each mutation. Mutations are also logged as errors.
    #[must_use]
    pub fn new(on_mutation: MutationHook) -> Self {
        Self { cached: Mutex::default(), on_mutation }
    }

    /// Adds an object, which must not change from now on.
    pub fn add_object(&self, object: &Arc<T>) {
        let cached = Cached { object: Arc::downgrade(object), fingerprint: object.fingerprint() };
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).push(cached);
    }

    /// Compares all objects and returns those that changed since they were added or last compared.
    pub fn compare_objects(&self) -> Vec<Mutation> {
        let mut mutations = Vec::new();
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|cached| {
            let Some(object) = cached.object.upgrade() else { return false };
            let fingerprint = object.fingerprint();
            if fingerprint != cached.fingerprint {
                cached.fingerprint = fingerprint;
                mutations.push(Mutation { key: object.key() });
            }
            true
        });
        mutations
    }

    /// Compares once a second until `stop`, then one last time.
    pub async fn run(&self, clock: &dyn Clock, stop: &CancellationToken) {
        tracing::debug!("the mutation detector compares cached objects");
        loop {
            let is_last = tokio::select! {
                biased;
                () = stop.cancelled() => true,
                () = clock.sleep(PERIOD) => false,
            };
            for mutation in self.compare_objects() {
                tracing::error!(key = %mutation.key, "a cached object was changed");
                (self.on_mutation)(&mutation);
            }
            if is_last {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::clock::TokioClock;
    use crate::informer::SharedIndexInformer;
    use crate::informer::testing::fixtures::pod;
    use crate::testing::FakeSource;

    /// A value that changes behind an `Arc`.
    struct Broken(AtomicU64);

    impl Fingerprint for Broken {
        fn key(&self) -> Key {
            "shop/broken".into()
        }

        fn fingerprint(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn mutation() -> Mutation {
        Mutation { key: "shop/broken".into() }
    }

    // I23
    #[tokio::test(start_paused = true)]
    async fn each_mutation_is_reported_once() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let hook: MutationHook = {
            let reported = Arc::clone(&reported);
            Arc::new(move |mutation| reported.lock().expect("no panic").push(mutation.clone()))
        };
        let detector = Arc::new(MutationDetector::new(hook));
        let (broken, whole) = (Arc::new(Broken(AtomicU64::new(1))), Arc::new(Broken(AtomicU64::new(1))));
        detector.add_object(&broken);
        detector.add_object(&whole);
        let stop = CancellationToken::new();
        let run = tokio::spawn({
            let (detector, stop) = (Arc::clone(&detector), stop.clone());
            async move { detector.run(&TokioClock, &stop).await }
        });
        tokio::time::sleep(Duration::from_millis(2500)).await;
        assert_eq!(*reported.lock().expect("no panic"), []);
        broken.0.store(2, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(*reported.lock().expect("no panic"), [mutation()]);
        broken.0.store(3, Ordering::Relaxed);
        stop.cancel();
        run.await.expect("no panic");
        assert_eq!(*reported.lock().expect("no panic"), [mutation(), mutation()]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_mutation_is_reported_for_an_informer_in_use() {
        let source = FakeSource::new();
        source.add(crate::testing::pod("a"));
        let reported = Arc::new(Mutex::new(Vec::new()));
        let hook = Arc::clone(&reported);
        let hook = MutationDetector::new(Arc::new(move |mutation| {
            hook.lock().expect("no panic").push(mutation.clone());
        }));
        let informer = SharedIndexInformer::builder(source.clone()).mutation_detector(hook).build();
        let stop = CancellationToken::new();
        let run = tokio::spawn(informer.run(stop.clone()));
        assert!(informer.synced().await);
        for _ in 0..5 {
            source.modify(crate::testing::pod("a"));
            tokio::time::sleep(PERIOD).await;
        }
        stop.cancel();
        run.await.expect("no panic").expect("no error");
        assert_eq!(*reported.lock().expect("no panic"), []);
    }

    #[test]
    fn dropped_objects_are_removed() {
        let detector = MutationDetector::new(Arc::new(|_| ()));
        let object = pod("a", 1);
        detector.add_object(&object);
        assert_eq!(Arc::strong_count(&object), 1);
        assert_eq!(detector.compare_objects(), []);
        drop(object);
        assert_eq!(detector.compare_objects(), []);
        assert!(detector.cached.lock().expect("no panic").is_empty());
    }

    #[test]
    fn the_fingerprint_covers_the_whole_object() {
        let prints = [pod("a", 1), pod("a", 2), pod("b", 1)].map(|object| object.fingerprint());
        assert!(prints[0] != prints[1] && prints[0] != prints[2]);
        assert_eq!(prints[0], pod("a", 1).fingerprint());
    }
}
