//! Credentials that are made by somebody else and expire: held, renewed in time, and renewed when they are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use rustls::sign::CertifiedKey;
use tokio::sync::Mutex;

use super::Proof;
use super::renewal_backoff::{Refusals, Standing};
use crate::client::notice::{Listener, Notice};
use crate::kubeconfig::Error;

/// How long before its end a credential is renewed, so that it does not expire on its way; of one that lives for less
/// than a hundred seconds the last tenth.
const LEEWAY: SignedDuration = SignedDuration::from_secs(10);

/// How long an issuer is waited for before that is said.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Who makes credentials.
pub(super) trait Issuer: Send {
    /// Makes new credentials. Nothing when there are no others, which is not to be answered unless those before were
    /// refused.
    fn issue(&mut self, why: Occasion<'_>) -> impl Future<Output = Result<Option<Issued>, Error>> + Send;

    /// Who is waited for, in a few words without a credential.
    fn name(&self) -> String;

    /// How long it is waited for before anybody hears of it: all that needs it stands still meanwhile.
    fn patience(&self) -> Duration {
        PATIENCE
    }
}

/// Why credentials are made, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Occasion<'a> {
    /// Whether the server no longer takes those before.
    pub(super) refused: bool,
    pub(super) now: Timestamp,
    /// Who hears what there is to say: an issuer may serve several clients, and the one that has it work is told.
    pub(super) listener: Option<&'a Listener>,
}

impl Occasion<'_> {
    pub(super) fn tell(self, notice: Notice<'_>) {
        if let Some(listener) = self.listener {
            listener(notice);
        }
    }
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
    refusals: Refusals,
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
        let state = State { issuer, held: None, failure: None, refusals: Refusals::default() };
        Self { state: Mutex::new(state), ended: AtomicU64::new(0), clock }
    }

    /// What is held, or what is made in its place when it is about to expire.
    ///
    /// # Errors
    /// The issuer's. Whoever waited while it failed gets that failure too; the next one makes it try again.
    pub(super) async fn current(&self, listener: Option<&Listener>) -> Result<Proof, Error> {
        let found = self.get(None, listener).await?;
        found.ok_or_else(|| Error::Credentials("there are no credentials".to_owned()))
    }

    /// What is held when it is another proof than the refused one, or what is made in its place; nothing when the
    /// issuer has no other, or was asked for one too short a time ago: a server that refuses whatever it is shown is no
    /// reason to run a plugin, or to spend a refresh token, with each retry of each watch. How long that is depends on
    /// what the client's own server has refused.
    ///
    /// # Errors
    /// As [`Renewing::current`].
    pub(super) async fn instead_of(
        &self,
        refused: u64,
        standing: &Standing,
        listener: Option<&Listener>,
    ) -> Result<Option<Proof>, Error> {
        self.get(Some((refused, standing.refused(refused))), listener).await
    }

    /// `refused` is the number of the refused proof, and how many were refused in a row.
    async fn get(
        &self,
        refused: Option<(u64, u32)>,
        listener: Option<&Listener>,
    ) -> Result<Option<Proof>, Error> {
        let seen = self.ended.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        let (held_number, is_good) = match &state.held {
            Some(held) => (held.proof.number, held.good_until.is_none_or(|until| (self.clock)() < until)),
            None => (0, false),
        };
        let in_a_row = refused.filter(|(number, _)| *number == held_number).map(|(_, in_a_row)| in_a_row);
        if is_good && in_a_row.is_none() {
            return Ok(state.held.as_ref().map(|held| held.proof.clone()));
        }
        if self.ended.load(Ordering::Acquire) != seen
            && let Some(failure) = &state.failure
        {
            return Err(failure.clone());
        }
        if in_a_row.is_some_and(|in_a_row| !state.refusals.may_renew((self.clock)(), in_a_row)) {
            return Ok(None);
        }
        let occasion = Occasion { refused: in_a_row.is_some(), now: (self.clock)(), listener };
        let (name, patience) = (state.issuer.name(), state.issuer.patience());
        let made = said_if_long(state.issuer.issue(occasion), &name, patience, occasion).await;
        self.ended.fetch_add(1, Ordering::AcqRel);
        if in_a_row.is_some() {
            state.refusals.renewed((self.clock)(), matches!(made, Ok(Some(_))));
        }
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

/// The outcome of the work. Where it takes long that is said, once, and when it is over.
async fn said_if_long<T>(
    work: impl Future<Output = T>,
    name: &str,
    patience: Duration,
    why: Occasion<'_>,
) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(made) = tokio::time::timeout(patience, &mut work).await {
        return made;
    }
    why.tell(Notice::Waiting(name));
    let made = work.await;
    why.tell(Notice::Waited(name));
    made
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
        takes: Duration,
    }

    impl Issuer for Numbered {
        async fn issue(&mut self, why: Occasion<'_>) -> Result<Option<Issued>, Error> {
            let number = self.made.fetch_add(1, Ordering::SeqCst) + 1;
            // Others get the time to wait for it.
            tokio::task::yield_now().await;
            if !self.takes.is_zero() {
                tokio::time::sleep(self.takes).await;
            }
            if self.fails {
                return Err(Error::Credentials(format!("failure {number}")));
            }
            if why.refused && self.none_when_refused {
                return Ok(None);
            }
            let authorization = HeaderValue::from_str(&format!("Bearer {number}")).unwrap();
            let expires = Some(why.now + SignedDuration::from_secs(self.life));
            Ok(Some(Issued { authorization: Some(authorization), identity: None, expires }))
        }

        fn name(&self) -> String {
            "numbered".to_owned()
        }
    }

    fn renewing(life: i64) -> (Renewing<Numbered>, Time, Arc<AtomicU64>) {
        let time = Time(Arc::default());
        let made: Arc<AtomicU64> = Arc::default();
        let counted = Arc::clone(&made);
        let takes = Duration::ZERO;
        let issuer = Numbered { made: counted, life, fails: false, none_when_refused: false, takes };
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
            assert_eq!(token(&renewing.current(None).await.unwrap()), expected, "{second}");
        }
    }

    #[tokio::test]
    async fn what_lives_shortly_is_used_for_most_of_its_life() {
        let (renewing, time, _) = renewing(20);
        for (second, expected) in [(0, "Bearer 1"), (17, "Bearer 1"), (18, "Bearer 2")] {
            time.set(second);
            assert_eq!(token(&renewing.current(None).await.unwrap()), expected, "{second}");
        }
        assert_eq!(good_until(Timestamp::MIN, Timestamp::MAX), Timestamp::MIN, "expired long ago");
    }

    #[tokio::test]
    async fn many_who_are_refused_together_cause_one_renewal() {
        let (renewing, _, made) = renewing(1000);
        let (first, standing) = (renewing.current(None).await.unwrap(), Standing::default());
        let renewed = (0..20).map(|_| renewing.instead_of(first.number, &standing, None));
        let renewed = futures_util::future::join_all(renewed).await;
        for proof in renewed {
            assert_eq!(token(&proof.unwrap().unwrap()), "Bearer 2");
        }
        assert_eq!(made.load(Ordering::SeqCst), 2);
        assert_eq!(token(&renewing.current(None).await.unwrap()), "Bearer 2");
    }

    #[tokio::test]
    async fn many_who_wait_for_a_failure_share_it_and_the_next_tries_again() {
        let (renewing, _, made) = renewing(1000);
        renewing.state.lock().await.issuer.fails = true;
        let failed = futures_util::future::join_all((0..20).map(|_| renewing.current(None))).await;
        for failure in failed {
            assert_eq!(failure.err().unwrap().to_string(), "failure 1");
        }
        assert_eq!(made.load(Ordering::SeqCst), 1);
        renewing.state.lock().await.issuer.fails = false;
        assert_eq!(token(&renewing.current(None).await.unwrap()), "Bearer 2");
    }

    #[tokio::test]
    async fn an_issuer_without_another_keeps_what_it_has() {
        let (renewing, ..) = renewing(1000);
        renewing.state.lock().await.issuer.none_when_refused = true;
        let first = renewing.current(None).await.unwrap();
        assert!(renewing.instead_of(first.number, &Standing::default(), None).await.unwrap().is_none());
        assert_eq!(token(&renewing.current(None).await.unwrap()), "Bearer 1");
    }

    /// The seconds of a time of that many in which new ones are made, where servers refuse whatever they are shown to
    /// these watches, which ask again each second; those of one client have one standing.
    async fn renewals(
        renewing: &Renewing<Numbered>,
        time: &Time,
        seconds: i64,
        watches: &[&Standing],
    ) -> Vec<i64> {
        let mut renewals = Vec::new();
        for second in 0..seconds {
            time.set(second);
            let before = renewing.ended.load(Ordering::SeqCst);
            let shown = renewing.current(None).await.unwrap();
            let asked = watches.iter().map(|standing| renewing.instead_of(shown.number, standing, None));
            for other in futures_util::future::join_all(asked).await {
                let other = other.unwrap();
                assert!(
                    other.is_none_or(|other| other.number > shown.number),
                    "refused ones are not shown again"
                );
            }
            let made = renewing.ended.load(Ordering::SeqCst) - before;
            renewals.extend((0..made).map(|_| second));
        }
        renewals
    }

    #[tokio::test]
    async fn a_server_that_refuses_whatever_it_is_shown_is_shown_others_ever_more_seldom() {
        let (renewing, time, _) = renewing(1_000_000);
        let renewals = renewals(&renewing, &time, 1300, &[&Standing::default(); 9]).await;
        // The first, its replacement at once, and then after 5, 10, 20, … seconds, at most 300.
        assert_eq!(renewals, [0, 0, 5, 15, 35, 75, 155, 315, 615, 915, 1215]);
    }

    #[tokio::test]
    async fn a_server_that_takes_what_another_one_refuses_makes_it_no_better() {
        let (renewing, time, _) = renewing(1_000_000);
        let (takes, refuses) = (Standing::default(), Standing::default());
        let mut renewals = Vec::new();
        for second in 0..320 {
            time.set(second);
            let before = renewing.ended.load(Ordering::SeqCst);
            takes.accepted(renewing.current(None).await.unwrap().number);
            let shown = renewing.current(None).await.unwrap();
            renewing.instead_of(shown.number, &refuses, None).await.unwrap();
            let made = renewing.ended.load(Ordering::SeqCst) - before;
            renewals.extend((0..made).map(|_| second));
        }
        assert_eq!(renewals, [0, 0, 5, 15, 35, 75, 155, 315]);
        // The one that was let in is not held up by the other's waits.
        time.set(320);
        let held = renewing.current(None).await.unwrap().number;
        takes.accepted(held);
        assert!(renewing.instead_of(held, &takes, None).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn many_clients_whose_servers_refuse_everything_cause_hardly_more_renewals_than_one() {
        let (renewing, time, _) = renewing(1_000_000);
        let clients: Vec<Standing> = (0..50).map(|_| Standing::default()).collect();
        let renewals = renewals(&renewing, &time, 320, &clients.iter().collect::<Vec<_>>()).await;
        assert_eq!(renewals, [0, 0, 5, 15, 35, 75, 155, 315]);
        // One that is new begins with the shortest wait, and no other is made for it before.
        let (late, held) = (Standing::default(), renewing.current(None).await.unwrap().number);
        for (second, expected) in [(319, false), (320, true)] {
            time.set(second);
            assert_eq!(renewing.instead_of(held, &late, None).await.unwrap().is_some(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_long_hears_for_whom_and_when_it_is_over() {
        for (seconds, expected) in [(9, &[][..]), (300, &["Waiting(\"numbered\")", "Waited(\"numbered\")"])] {
            let (renewing, ..) = renewing(1000);
            renewing.state.lock().await.issuer.takes = Duration::from_secs(seconds);
            let heard = Arc::new(StdMutex::new(Vec::new()));
            let hear = Arc::clone(&heard);
            let listener: Listener = Arc::new(move |notice| hear.lock().unwrap().push(format!("{notice:?}")));
            let waits = (0..3).map(|_| renewing.current(Some(&listener)));
            for proof in futures_util::future::join_all(waits).await {
                assert_eq!(token(&proof.unwrap()), "Bearer 1");
            }
            assert_eq!(*heard.lock().unwrap(), expected, "{seconds}");
        }
    }

    #[tokio::test]
    async fn what_was_good_for_a_while_is_replaced_at_once_but_not_again_and_again() {
        let (renewing, time, made) = renewing(1_000_000);
        let standing = Standing::default();
        renewals(&renewing, &time, 100, &[&standing]).await;
        let before = made.load(Ordering::SeqCst);
        for (second, expected) in [(100, 0), (160, 1), (161, 0), (164, 0), (165, 1)] {
            time.set(second);
            let shown = renewing.current(None).await.unwrap();
            if second >= 160 {
                standing.accepted(shown.number);
            }
            let other = renewing.instead_of(shown.number, &standing, None).await.unwrap();
            assert_eq!(other.is_some(), expected == 1, "{second}");
        }
        assert_eq!(made.load(Ordering::SeqCst) - before, 2);
    }

    #[tokio::test]
    async fn a_renewal_that_fails_counts_and_expiry_waits_for_nothing() {
        let (renewing, time, made) = renewing(100);
        let (first, standing) = (renewing.current(None).await.unwrap().number, Standing::default());
        renewing.state.lock().await.issuer.fails = true;
        assert!(renewing.instead_of(first, &standing, None).await.is_err());
        assert!(renewing.instead_of(first, &standing, None).await.unwrap().is_none(), "not at once again");
        renewing.state.lock().await.issuer.fails = false;
        time.set(99);
        assert_eq!(token(&renewing.current(None).await.unwrap()), "Bearer 3");
        assert_eq!(made.load(Ordering::SeqCst), 3);
    }
}
