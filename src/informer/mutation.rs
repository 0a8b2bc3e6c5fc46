//! Proof that nobody changed what is cached.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::object::{Key, Object};

/// The variable by which users of client-go ask for a detector. The library reads no environment: a program that
/// honours it hands a detector to [`Builder::mutation_detector`](super::Builder::mutation_detector).
pub const MUTATION_DETECTOR_VARIABLE: &str = "KUBE_CACHE_MUTATION_DETECTOR";

/// How often the cached objects are compared with what they were.
const PERIOD: Duration = Duration::from_secs(1);

/// An object that is not what it was when it was cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// Its key.
    pub key: Key,
}

/// Is told of mutations, on the informer's task.
pub type MutationHook = Arc<dyn Fn(&Mutation) + Send + Sync>;

/// What can be told from a copy of it that was taken earlier.
pub trait Fingerprint: Send + Sync + 'static {
    /// Under what it is cached.
    fn key(&self) -> Key;

    /// Equal as long as nothing about it has changed.
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

/// Compares cached objects with what they were when they were cached (client-go: `MutationDetector`).
///
/// An `Arc<Object>` has no `&mut` and an `Object` nothing that changes inside, so this finds what can't happen in safe
/// code: a broken body codec, memory that went bad, `unsafe` elsewhere in the program. It hashes every cached body once
/// a second, and is for tests and doubts.
///
/// It keeps nothing alive: an object that nobody holds any more is forgotten. (client-go keeps copies of all, for up to
/// four minutes.)
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::informer::{MUTATION_DETECTOR_VARIABLE, MutationDetector, SharedIndexInformer};
/// # use kdelta::testing::FakeSource;
/// let mut builder = SharedIndexInformer::builder(FakeSource::new());
/// if std::env::var(MUTATION_DETECTOR_VARIABLE).is_ok_and(|wish| wish == "true") {
///     let panic_as_client_go = Arc::new(|mutation: &_| panic!("cached object was changed: {mutation:?}"));
///     builder = builder.mutation_detector(MutationDetector::new(panic_as_client_go));
/// }
/// let informer = builder.build();
/// ```
pub struct MutationDetector<T = Object> {
    /// A std mutex: it is held while an object is added, and while all are compared. Bounded by the objects that
    /// others hold, and those that were let go since the last comparison.
    cached: Mutex<Vec<Cached<T>>>,
    on_mutation: MutationHook,
}

struct Cached<T> {
    object: Weak<T>,
    fingerprint: u64,
}

impl<T: Fingerprint> MutationDetector<T> {
    /// A detector that tells this hook, once for each change it finds. They are also errors in the log.
    #[must_use]
    pub fn new(on_mutation: MutationHook) -> Self {
        Self { cached: Mutex::default(), on_mutation }
    }

    /// From now on that object is to stay as it is.
    pub fn add_object(&self, object: &Arc<T>) {
        let cached = Cached { object: Arc::downgrade(object), fingerprint: object.fingerprint() };
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).push(cached);
    }

    /// Compares all, and answers those that changed since they were added or last compared.
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

    /// Compares once a second until `stop`, and then a last time.
    pub async fn run(&self, clock: &dyn Clock, stop: &CancellationToken) {
        tracing::debug!("cached objects are compared with what they were");
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

    /// What an object must never be: it changes behind an `Arc`.
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
    async fn an_object_that_changes_is_told_of_once() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hook: MutationHook = {
            let told = Arc::clone(&told);
            Arc::new(move |mutation| told.lock().expect("no panic").push(mutation.clone()))
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
        assert_eq!(*told.lock().expect("no panic"), []);
        broken.0.store(2, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(*told.lock().expect("no panic"), [mutation()]);
        broken.0.store(3, Ordering::Relaxed);
        stop.cancel();
        run.await.expect("no panic");
        assert_eq!(*told.lock().expect("no panic"), [mutation(), mutation()]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_informer_under_watch_raises_no_alarm() {
        let source = FakeSource::new();
        source.add(crate::testing::pod("a"));
        let told = Arc::new(Mutex::new(Vec::new()));
        let hook = Arc::clone(&told);
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
        assert_eq!(*told.lock().expect("no panic"), []);
    }

    #[test]
    fn what_nobody_holds_is_forgotten() {
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
    fn the_fingerprint_of_an_object_covers_what_it_is() {
        let prints = [pod("a", 1), pod("a", 2), pod("b", 1)].map(|object| object.fingerprint());
        assert!(prints[0] != prints[1] && prints[0] != prints[2]);
        assert_eq!(prints[0], pod("a", 1).fingerprint());
    }
}
