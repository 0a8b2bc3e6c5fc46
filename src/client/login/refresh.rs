//! Credentials from an external issuer that expire: kept, renewed before they expire, and renewed when the server
//! refuses them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use rustls::sign::CertifiedKey;
use tokio::sync::Mutex;

use super::renewal_backoff::{AcceptanceHistory, RenewalBackoff};
use super::request_auth::RequestAuth;
use crate::client::notice::{Notice, NoticeListener};
use crate::kubeconfig::Error;

/// The time before its expiry at which a credential is renewed, so that it does not expire in transit; for one with a
/// life of less than a hundred seconds the last tenth.
const LEEWAY: SignedDuration = SignedDuration::from_secs(10);

/// The wait for an issuer before a notice is sent.
pub(super) const REPORT_AFTER: Duration = Duration::from_secs(10);

/// An issuer of credentials.
pub(super) trait Issuer: Send {
    /// Issues new credentials. Returns `None` if there are no others, which is allowed only after a refusal.
    fn issue(
        &mut self,
        why: RefreshRequest<'_>,
    ) -> impl Future<Output = Result<Option<IssuedCredential>, Error>> + Send;

    /// Returns the name for notices, a few words without a credential.
    fn name(&self) -> String;

    /// Returns the wait before a notice is sent, during which all requests for its credentials are blocked.
    fn report_after(&self) -> Duration {
        REPORT_AFTER
    }
}

/// The reason for new credentials, and the listener for notices.
#[derive(Clone, Copy)]
pub(super) struct RefreshRequest<'a> {
    /// Whether the server refused the previous ones.
    pub(super) refused: bool,
    pub(super) now: Timestamp,
    /// Receives notices. An issuer may serve several clients; the one that requests the credentials is notified.
    pub(super) listener: Option<&'a NoticeListener>,
}

impl RefreshRequest<'_> {
    pub(super) fn tell(self, notice: Notice<'_>) {
        if let Some(listener) = self.listener {
            listener(notice);
        }
    }
}

/// New credentials.
#[derive(Default)]
pub(super) struct IssuedCredential {
    pub(super) authorization: Option<HeaderValue>,
    pub(super) identity: Option<Arc<CertifiedKey>>,
    /// The expiry; `None` for credentials that are valid until the server refuses them.
    pub(super) expires: Option<Timestamp>,
}

type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// An issuer and its last credentials.
pub(super) struct RefreshingCredential<I> {
    /// An async lock, held while the issuer works, which may prompt the user: of many requests that need new
    /// credentials one obtains them and the others wait.
    state: Mutex<State<I>>,
    /// The number of times that the issuer has completed: a request that waited for the lock detects by it that it
    /// waited for a failure.
    ended: AtomicU64,
    clock: Clock,
}

struct State<I> {
    issuer: I,
    held: Option<CurrentCredential>,
    failure: Option<Error>,
    refusals: RenewalBackoff,
}

struct CurrentCredential {
    auth: RequestAuth,
    good_until: Option<Timestamp>,
}

impl<I: Issuer> RefreshingCredential<I> {
    /// Returns an issuer without credentials.
    pub(super) fn new(issuer: I) -> Self {
        Self::at(issuer, Box::new(Timestamp::now))
    }

    fn at(issuer: I, clock: Clock) -> Self {
        let state = State { issuer, held: None, failure: None, refusals: RenewalBackoff::default() };
        Self { state: Mutex::new(state), ended: AtomicU64::new(0), clock }
    }

    /// Returns the present credentials, or new ones if they are about to expire.
    ///
    /// # Errors
    /// The issuer's. Requests that waited while it failed get that failure too; the next one tries again.
    pub(super) async fn current(&self, listener: Option<&NoticeListener>) -> Result<RequestAuth, Error> {
        let found = self.get(None, listener).await?;
        found.ok_or_else(|| Error::Credentials("there are no credentials".to_owned()))
    }

    /// Returns the present credentials if they are not the refused ones, else new ones. Returns `None` if the issuer
    /// has no others, or was run too recently: a server that refuses everything must not cause a plugin run, or
    /// spend a refresh token, with each retry of each watch. The minimum interval depends on the refusals by the
    /// client's own server.
    ///
    /// # Errors
    /// As [`RefreshingCredential::current`].
    pub(super) async fn replacement_for(
        &self,
        refused: u64,
        acceptance: &AcceptanceHistory,
        listener: Option<&NoticeListener>,
    ) -> Result<Option<RequestAuth>, Error> {
        self.get(Some((refused, acceptance.refused(refused))), listener).await
    }

    /// `refused` is the number of the refused credentials, and how many were refused in a row.
    async fn get(
        &self,
        refused: Option<(u64, u32)>,
        listener: Option<&NoticeListener>,
    ) -> Result<Option<RequestAuth>, Error> {
        let seen = self.ended.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        let (held_number, is_good) = match &state.held {
            Some(held) => (held.auth.number, held.good_until.is_none_or(|until| (self.clock)() < until)),
            None => (0, false),
        };
        let in_a_row = refused.filter(|(number, _)| *number == held_number).map(|(_, in_a_row)| in_a_row);
        if is_good && in_a_row.is_none() {
            return Ok(state.held.as_ref().map(|held| held.auth.clone()));
        }
        if self.ended.load(Ordering::Acquire) != seen
            && let Some(failure) = &state.failure
        {
            return Err(failure.clone());
        }
        if in_a_row.is_some_and(|in_a_row| !state.refusals.may_renew((self.clock)(), in_a_row)) {
            return Ok(None);
        }
        let occasion = RefreshRequest { refused: in_a_row.is_some(), now: (self.clock)(), listener };
        let (name, report_after) = (state.issuer.name(), state.issuer.report_after());
        let made = report_if_long(state.issuer.issue(occasion), &name, report_after, occasion).await;
        self.ended.fetch_add(1, Ordering::AcqRel);
        if in_a_row.is_some() {
            state.refusals.renewed((self.clock)(), matches!(made, Ok(Some(_))));
        }
        state.failure = made.as_ref().err().cloned();
        let Some(made) = made? else { return Ok(None) };
        // An equal certificate is the same `Arc`: its connections are kept.
        let held = state.held.as_ref().and_then(|held| held.auth.identity.as_ref());
        let identity = made.identity.map(|new| match held {
            Some(held) if held.cert == new.cert => Arc::clone(held),
            _ => new,
        });
        let auth = RequestAuth { authorization: made.authorization, identity, number: held_number + 1 };
        let good_until = made.expires.map(|expires| good_until(expires, (self.clock)()));
        state.held = Some(CurrentCredential { auth: auth.clone(), good_until });
        Ok(Some(auth))
    }
}

/// Returns the output of the work, and sends a notice if it takes long, and another when it completes.
async fn report_if_long<T>(
    work: impl Future<Output = T>,
    name: &str,
    report_after: Duration,
    why: RefreshRequest<'_>,
) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(made) = tokio::time::timeout(report_after, &mut work).await {
        return made;
    }
    why.tell(Notice::LoginPending(name));
    let made = work.await;
    why.tell(Notice::LoginDone(name));
    made
}

fn good_until(expires: Timestamp, now: Timestamp) -> Timestamp {
    let life = now.duration_until(expires).max(SignedDuration::ZERO);
    // The subtraction fails only for the beginning of time, which has passed anyway.
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

    /// An issuer that numbers its credentials, which expire after that many seconds, and fails on demand.
    struct Numbered {
        made: Arc<AtomicU64>,
        life: i64,
        fails: bool,
        none_when_refused: bool,
        takes: Duration,
    }

    impl Issuer for Numbered {
        async fn issue(&mut self, why: RefreshRequest<'_>) -> Result<Option<IssuedCredential>, Error> {
            let number = self.made.fetch_add(1, Ordering::SeqCst) + 1;
            // Lets other requests start to wait.
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
            Ok(Some(IssuedCredential { authorization: Some(authorization), identity: None, expires }))
        }

        fn name(&self) -> String {
            "numbered".to_owned()
        }
    }

    fn renewing(life: i64) -> (RefreshingCredential<Numbered>, Time, Arc<AtomicU64>) {
        let time = Time(Arc::default());
        let made: Arc<AtomicU64> = Arc::default();
        let counted = Arc::clone(&made);
        let takes = Duration::ZERO;
        let issuer = Numbered { made: counted, life, fails: false, none_when_refused: false, takes };
        let now = time.clone();
        let clock = move || Timestamp::from_second(*now.0.lock().unwrap()).unwrap();
        (RefreshingCredential::at(issuer, Box::new(clock)), time, made)
    }

    fn token(auth: &RequestAuth) -> &str {
        auth.authorization.as_ref().unwrap().to_str().unwrap()
    }

    #[tokio::test]
    async fn credentials_are_renewed_shortly_before_expiry() {
        let (renewing, time, _) = renewing(1000);
        for (second, expected) in [(0, "Bearer 1"), (989, "Bearer 1"), (990, "Bearer 2"), (1979, "Bearer 2")]
        {
            time.set(second);
            assert_eq!(token(&renewing.current(None).await.unwrap()), expected, "{second}");
        }
    }

    #[tokio::test]
    async fn short_lived_credentials_are_used_for_most_of_their_life() {
        let (renewing, time, _) = renewing(20);
        for (second, expected) in [(0, "Bearer 1"), (17, "Bearer 1"), (18, "Bearer 2")] {
            time.set(second);
            assert_eq!(token(&renewing.current(None).await.unwrap()), expected, "{second}");
        }
        assert_eq!(good_until(Timestamp::MIN, Timestamp::MAX), Timestamp::MIN, "expired long ago");
    }

    #[tokio::test]
    async fn requests_refused_together_cause_one_renewal() {
        let (renewing, _, made) = renewing(1000);
        let (first, acceptance) = (renewing.current(None).await.unwrap(), AcceptanceHistory::default());
        let renewed = (0..20).map(|_| renewing.replacement_for(first.number, &acceptance, None));
        let renewed = futures_util::future::join_all(renewed).await;
        for auth in renewed {
            assert_eq!(token(&auth.unwrap().unwrap()), "Bearer 2");
        }
        assert_eq!(made.load(Ordering::SeqCst), 2);
        assert_eq!(token(&renewing.current(None).await.unwrap()), "Bearer 2");
    }

    #[tokio::test]
    async fn waiters_share_a_failure_and_the_next_request_tries_again() {
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
    async fn issuer_without_other_credentials_keeps_the_present_ones() {
        let (renewing, ..) = renewing(1000);
        renewing.state.lock().await.issuer.none_when_refused = true;
        let first = renewing.current(None).await.unwrap();
        assert!(
            renewing
                .replacement_for(first.number, &AcceptanceHistory::default(), None)
                .await
                .unwrap()
                .is_none()
        );
        assert_eq!(token(&renewing.current(None).await.unwrap()), "Bearer 1");
    }

    /// Returns the seconds, within that time, at which new credentials are made for watches whose servers refuse all
    /// of them and which retry each second. Watches of one client share one acceptance history.
    async fn renewals(
        renewing: &RefreshingCredential<Numbered>,
        time: &Time,
        seconds: i64,
        watches: &[&AcceptanceHistory],
    ) -> Vec<i64> {
        let mut renewals = Vec::new();
        for second in 0..seconds {
            time.set(second);
            let before = renewing.ended.load(Ordering::SeqCst);
            let shown = renewing.current(None).await.unwrap();
            let replacements =
                watches.iter().map(|acceptance| renewing.replacement_for(shown.number, acceptance, None));
            for other in futures_util::future::join_all(replacements).await {
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
    async fn renewals_back_off_when_the_server_refuses_everything() {
        let (renewing, time, _) = renewing(1_000_000);
        let renewals = renewals(&renewing, &time, 1300, &[&AcceptanceHistory::default(); 9]).await;
        // The first, its replacement at once, and then after 5, 10, 20, … seconds, at most 300.
        assert_eq!(renewals, [0, 0, 5, 15, 35, 75, 155, 315, 615, 915, 1215]);
    }

    #[tokio::test]
    async fn acceptance_by_one_server_does_not_help_another() {
        let (renewing, time, _) = renewing(1_000_000);
        let (takes, refuses) = (AcceptanceHistory::default(), AcceptanceHistory::default());
        let mut renewals = Vec::new();
        for second in 0..320 {
            time.set(second);
            let before = renewing.ended.load(Ordering::SeqCst);
            takes.accepted(renewing.current(None).await.unwrap().number);
            let shown = renewing.current(None).await.unwrap();
            renewing.replacement_for(shown.number, &refuses, None).await.unwrap();
            let made = renewing.ended.load(Ordering::SeqCst) - before;
            renewals.extend((0..made).map(|_| second));
        }
        assert_eq!(renewals, [0, 0, 5, 15, 35, 75, 155, 315]);
        // A client whose server accepts credentials is not delayed by another's waits.
        time.set(320);
        let held = renewing.current(None).await.unwrap().number;
        takes.accepted(held);
        assert!(renewing.replacement_for(held, &takes, None).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn many_refused_clients_cause_hardly_more_renewals_than_one() {
        let (renewing, time, _) = renewing(1_000_000);
        let clients: Vec<AcceptanceHistory> = (0..50).map(|_| AcceptanceHistory::default()).collect();
        let renewals = renewals(&renewing, &time, 320, &clients.iter().collect::<Vec<_>>()).await;
        assert_eq!(renewals, [0, 0, 5, 15, 35, 75, 155, 315]);
        // A new client starts with the shortest wait, and none are made for it before.
        let (late, held) = (AcceptanceHistory::default(), renewing.current(None).await.unwrap().number);
        for (second, expected) in [(319, false), (320, true)] {
            time.set(second);
            assert_eq!(renewing.replacement_for(held, &late, None).await.unwrap().is_some(), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn long_wait_is_reported_with_its_issuer_and_end() {
        for (seconds, expected) in
            [(9, &[][..]), (300, &["LoginPending(\"numbered\")", "LoginDone(\"numbered\")"])]
        {
            let (renewing, ..) = renewing(1000);
            renewing.state.lock().await.issuer.takes = Duration::from_secs(seconds);
            let heard = Arc::new(StdMutex::new(Vec::new()));
            let hear = Arc::clone(&heard);
            let listener: NoticeListener =
                Arc::new(move |notice| hear.lock().unwrap().push(format!("{notice:?}")));
            let waits = (0..3).map(|_| renewing.current(Some(&listener)));
            for auth in futures_util::future::join_all(waits).await {
                assert_eq!(token(&auth.unwrap()), "Bearer 1");
            }
            assert_eq!(*heard.lock().unwrap(), expected, "{seconds}");
        }
    }

    #[tokio::test]
    async fn accepted_credentials_are_replaced_at_once_but_not_repeatedly() {
        let (renewing, time, made) = renewing(1_000_000);
        let acceptance = AcceptanceHistory::default();
        renewals(&renewing, &time, 100, &[&acceptance]).await;
        let before = made.load(Ordering::SeqCst);
        for (second, expected) in [(100, 0), (160, 1), (161, 0), (164, 0), (165, 1)] {
            time.set(second);
            let shown = renewing.current(None).await.unwrap();
            if second >= 160 {
                acceptance.accepted(shown.number);
            }
            let other = renewing.replacement_for(shown.number, &acceptance, None).await.unwrap();
            assert_eq!(other.is_some(), expected == 1, "{second}");
        }
        assert_eq!(made.load(Ordering::SeqCst) - before, 2);
    }

    #[tokio::test]
    async fn failed_renewals_count_and_expiry_ignores_the_backoff() {
        let (renewing, time, made) = renewing(100);
        let (first, acceptance) =
            (renewing.current(None).await.unwrap().number, AcceptanceHistory::default());
        renewing.state.lock().await.issuer.fails = true;
        assert!(renewing.replacement_for(first, &acceptance, None).await.is_err());
        assert!(
            renewing.replacement_for(first, &acceptance, None).await.unwrap().is_none(),
            "not at once again"
        );
        renewing.state.lock().await.issuer.fails = false;
        time.set(99);
        assert_eq!(token(&renewing.current(None).await.unwrap()), "Bearer 3");
        assert_eq!(made.load(Ordering::SeqCst), 3);
    }
}
