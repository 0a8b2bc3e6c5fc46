//! The check of the source's latest version before a watch continues after a disconnect.
//!
//! A Kubernetes server answers a watch from a version that it has not reached with silence, and sends events once it has passed
//! that version. So a watch of a server that was restored from a backup, or of another server in its place, would miss all
//! differences without an error, as client-go's does.

use std::pin::pin;

use super::list::silent;
use super::source_deadline::within_of_source;
use crate::listwatch::{Error, ListerWatcher};
use crate::object::ResourceVersion;
use crate::reflector::event::ReflectorEvent;
use crate::reflector::recovery::action::Phase;
use crate::reflector::recovery::state::{Loss, SourceState};
use crate::reflector::reflector_store::ReflectorStore;
use crate::reflector::state_machine::{Machine, State};

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    /// Returns the latest version of the source. `seen` is the version that it had a moment ago, or unset. A list that is
    /// required to be no older than the last version would not do: a replica that lags a little refuses it, after a while.
    pub(in crate::reflector) async fn check(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        let limit = self.options.list_idle_limit;
        // It is often the first request after an outage, for which a user may have to log in.
        let asked = self.source.progress(seen);
        let answer = within_of_source(&*self.options.clock, &self.source, limit, asked);
        answer.await.ok_or_else(|| silent("the list", limit))?
    }

    /// Opens a watch after the source ended the previous one cleanly, but early. The watch and the latest version are
    /// requested at the same time, so that events do not wait for two responses in turn; the watch is read once the version
    /// is known. After a failure, the two are requested one after the other.
    pub(in crate::reflector) async fn reopen(&mut self) -> Result<State<L::Watch>, Error> {
        // Another process received the version that a run resumes from, possibly from another source.
        let seen = if self.recovery.watched { self.last_version() } else { ResourceVersion::UNSET };
        let (latest, live) = {
            let (mut check, mut open) = (pin!(self.check(&seen)), pin!(self.open()));
            let mut live = None;
            let latest = loop {
                tokio::select! {
                    biased;
                    latest = &mut check => break latest,
                    opened = &mut open, if live.is_none() => live = Some(opened),
                }
            };
            // A watch that must not continue is not waited for.
            if live.is_none() && latest.as_ref().is_ok_and(|latest| !self.is_behind(latest)) {
                live = Some(open.await);
            }
            (latest, live)
        };
        let next = match latest {
            Ok(latest) => self.checked(latest)?,
            Err(error) => self.failed(Phase::Check, error)?,
        };
        match (next, live) {
            (State::Opening, Some(live)) => self.opened(live),
            (next, _) => Ok(next),
        }
    }

    /// Returns the next state for the source's latest version. If it is older than the last received version, the source has
    /// another history, and its events do not continue the stored state. Versions that can't be compared, as those of a source
    /// without versions, count as not older.
    pub(in crate::reflector) fn checked(
        &mut self,
        latest: ResourceVersion,
    ) -> Result<State<L::Watch>, Error> {
        self.recovery.source_state = SourceState::Reconnected;
        if !self.is_behind(&latest) {
            return Ok(State::Opening);
        }
        let from = self.last_version();
        if self.options.resume_from.is_some() {
            return Err(Error::too_large(&from, &latest));
        }
        let since = self.options.clock.now();
        let loss = self.recovery.loss.get_or_insert(Loss { since, relisting: false, went_back: false });
        (loss.relisting, loss.went_back) = (true, true);
        self.recovery.version_unavailable = true;
        self.options.report(&ReflectorEvent::WentBack { from, to: latest });
        Ok(self.relist(None))
    }
}
