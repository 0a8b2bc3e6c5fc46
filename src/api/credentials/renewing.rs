//! Credentials that are made by somebody else and expire: held, renewed in time, and renewed when they are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use rustls::sign::CertifiedKey;
use tokio::sync::Mutex;

use super::Proof;
use crate::api::error::Error;

/// How long before its end a credential is renewed, so that it does not expire on its way; of one that lives for less
/// than a hundred seconds the last tenth.
const LEEWAY: SignedDuration = SignedDuration::from_secs(10);

/// Who makes credentials.
pub(super) trait Issuer: Send {
    /// Makes new credentials: `refused` says that the server no longer takes those before. Nothing when there are no
    /// others, which is not to be answered unless they were refused.
    fn issue(
        &mut self,
        refused: bool,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Issued>, Error>> + Send;
}

/// What was made.
#[derive(Default)]
pub(super) struct Issued {
    pub(super) authorization: Option<HeaderValue>,
    pub(super) identity: Option<Arc<CertifiedKey>>,
    /// Good until the server refuses it, where there is no such time.
    pub(super) expires: Option<Timestamp>,
}

type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// An issuer and what it made last.
pub(super) struct Renewing<I> {
    /// An async lock, held while the issuer works: it may ask its user, so of many requests that need new credentials
    /// one gets them and the others wait.
    state: Mutex<State<I>>,
    /// How often the issuer has ended its work: who waited for the lock sees by it that it also waited for a failure.
    ended: AtomicU64,
    clock: Clock,
}

struct State<I> {
    issuer: I,
    held: Option<Held>,
    failure: Option<Error>,
}

struct Held {
    proof: Proof,
    good_until: Option<Timestamp>,
}

impl<I: Issuer> Renewing<I> {
    /// Issues nothing yet.
    pub(super) fn new(issuer: I) -> Self {
        Self::at(issuer, Box::new(Timestamp::now))
    }

    fn at(issuer: I, clock: Clock) -> Self {
        let state = State { issuer, held: None, failure: None };
        Self { state: Mutex::new(state), ended: AtomicU64::new(0), clock }
    }

    /// What is held, or what is made in its place when it is about to expire.
    ///
    /// # Errors
    /// The issuer's. Whoever waited while it failed gets that failure too; the next one makes it try again.
    pub(super) async fn current(&self) -> Result<Proof, Error> {
        let found = self.get(None).await?;
        found.ok_or_else(|| Error::Credentials("there are no credentials".to_owned()))
    }

    /// What is held when it is another proof than the refused one, or what is made in its place; nothing when the
    /// issuer has no other.
    ///
    /// # Errors
    /// As [`Renewing::current`].
    pub(super) async fn instead_of(&self, refused: u64) -> Result<Option<Proof>, Error> {
        self.get(Some(refused)).await
    }

    async fn get(&self, refused: Option<u64>) -> Result<Option<Proof>, Error> {
        let seen = self.ended.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        let (held_number, is_good) = match &state.held {
            Some(held) => (held.proof.number, held.good_until.is_none_or(|until| (self.clock)() < until)),
            None => (0, false),
        };
        let is_refused = refused == Some(held_number);
        if is_good && !is_refused {
            return Ok(state.held.as_ref().map(|held| held.proof.clone()));
        }
        if self.ended.load(Ordering::Acquire) != seen
            && let Some(failure) = &state.failure
        {
            return Err(failure.clone());
        }
        let made = state.issuer.issue(is_refused, (self.clock)()).await;
        self.ended.fetch_add(1, Ordering::AcqRel);
        state.failure = made.as_ref().err().cloned();
        let Some(made) = made? else { return Ok(None) };
        // An equal certificate is the same: connections that show it are kept.
        let held = state.held.as_ref().and_then(|held| held.proof.identity.as_ref());
        let identity = made.identity.map(|new| match held {
            Some(held) if held.cert == new.cert => Arc::clone(held),
            _ => new,
        });
        let proof = Proof { authorization: made.authorization, identity, number: held_number + 1 };
        let good_until = made.expires.map(|expires| good_until(expires, (self.clock)()));
        state.held = Some(Held { proof: proof.clone(), good_until });
        Ok(Some(proof))
    }
}

fn good_until(expires: Timestamp, now: Timestamp) -> Timestamp {
    let life = now.duration_until(expires).max(SignedDuration::ZERO);
    // It can't go below the beginning of time: it is not before now, or what expired already.
    expires.checked_sub(LEEWAY.min(life / 10)).unwrap_or(expires)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as StdMutex;

    use super::*;

    /// A clock that a test sets, in seconds.
    #[derive(Clone)]
    struct Time(Arc<StdMutex<i64>>);

    impl Time {
        fn set(&self, second: i64) {
            *self.0.lock().unwrap() = second;
        }
    }

    /// Numbers what it makes, which expires after that many seconds, and fails where it is told to.
    struct Numbered {
        made: Arc<AtomicU64>,
        life: i64,
        fails: bool,
        none_when_refused: bool,
    }

    impl Issuer for Numbered {
        async fn issue(&mut self, refused: bool, now: Timestamp) -> Result<Option<Issued>, Error> {
            let number = self.made.fetch_add(1, Ordering::SeqCst) + 1;
            // Others get the time to wait for it.
            tokio::task::yield_now().await;
            if self.fails {
                return Err(Error::Credentials(format!("failure {number}")));
            }
            if refused && self.none_when_refused {
                return Ok(None);
            }
            let authorization = HeaderValue::from_str(&format!("Bearer {number}")).unwrap();
            let expires = Some(now + SignedDuration::from_secs(self.life));
            Ok(Some(Issued { authorization: Some(authorization), identity: None, expires }))
        }
    }

    fn renewing(life: i64) -> (Renewing<Numbered>, Time, Arc<AtomicU64>) {
        let time = Time(Arc::default());
        let made: Arc<AtomicU64> = Arc::default();
        let issuer = Numbered { made: Arc::clone(&made), life, fails: false, none_when_refused: false };
        let now = time.clone();
        let clock = move || Timestamp::from_second(*now.0.lock().unwrap()).unwrap();
        (Renewing::at(issuer, Box::new(clock)), time, made)
    }

    fn token(proof: &Proof) -> &str {
        proof.authorization.as_ref().unwrap().to_str().unwrap()
    }

    #[tokio::test]
    async fn what_is_held_is_renewed_shortly_before_it_expires() {
        let (renewing, time, _) = renewing(1000);
        for (second, expected) in [(0, "Bearer 1"), (989, "Bearer 1"), (990, "Bearer 2"), (1979, "Bearer 2")]
        {
            time.set(second);
            assert_eq!(token(&renewing.current().await.unwrap()), expected, "{second}");
        }
    }

    #[tokio::test]
    async fn what_lives_shortly_is_used_for_most_of_its_life() {
        let (renewing, time, _) = renewing(20);
        for (second, expected) in [(0, "Bearer 1"), (17, "Bearer 1"), (18, "Bearer 2")] {
            time.set(second);
            assert_eq!(token(&renewing.current().await.unwrap()), expected, "{second}");
        }
        assert_eq!(good_until(Timestamp::MIN, Timestamp::MAX), Timestamp::MIN, "expired long ago");
    }

    #[tokio::test]
    async fn many_who_are_refused_together_cause_one_renewal() {
        let (renewing, _, made) = renewing(1000);
        let first = renewing.current().await.unwrap();
        let renewed =
            futures_util::future::join_all((0..20).map(|_| renewing.instead_of(first.number))).await;
        for proof in renewed {
            assert_eq!(token(&proof.unwrap().unwrap()), "Bearer 2");
        }
        assert_eq!(made.load(Ordering::SeqCst), 2);
        assert_eq!(token(&renewing.current().await.unwrap()), "Bearer 2");
    }

    #[tokio::test]
    async fn many_who_wait_for_a_failure_share_it_and_the_next_tries_again() {
        let (renewing, _, made) = renewing(1000);
        renewing.state.lock().await.issuer.fails = true;
        let failed = futures_util::future::join_all((0..20).map(|_| renewing.current())).await;
        for failure in failed {
            assert_eq!(failure.err().unwrap().to_string(), "failure 1");
        }
        assert_eq!(made.load(Ordering::SeqCst), 1);
        renewing.state.lock().await.issuer.fails = false;
        assert_eq!(token(&renewing.current().await.unwrap()), "Bearer 2");
    }

    #[tokio::test]
    async fn an_issuer_without_another_keeps_what_it_has() {
        let (renewing, ..) = renewing(1000);
        renewing.state.lock().await.issuer.none_when_refused = true;
        let first = renewing.current().await.unwrap();
        assert!(renewing.instead_of(first.number).await.unwrap().is_none());
        assert_eq!(token(&renewing.current().await.unwrap()), "Bearer 1");
    }
}
