//! How far the source has come: asked before a watch goes on after the source was out of sight, and what comes of it.
//!
//! A Kubernetes server answers a watch from a version that it has not come to with silence, and tells of what happens
//! there once it has passed that version, as if nothing had been. So a server that was restored from a backup, or another
//! one in its place, would be watched without a word of what changed. client-go does so.

use std::pin::pin;

use super::event::ReflectorEvent;
use super::list::silent;
use super::machine::{Machine, State};
use super::memory::{Loss, Sight};
use super::sink::ReflectorStore;
use super::source_deadline::within_of_source;
use super::verdict::Phase;
use crate::listwatch::{Error, ListerWatcher};
use crate::object::ResourceVersion;

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    /// How far the source has come, for who saw it at that version a moment ago; unset is for who did not. A list that is to
    /// be no older than the last version would be refused also by a replica that lags a little, and only after a while.
    pub(super) async fn check(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        let limit = self.options.list_idle_limit;
        // It is often the first request after an outage, and then the one that a person has to log in for.
        let asked = self.source.progress(seen);
        let answer = within_of_source(&*self.options.clock, &self.source, limit, asked);
        answer.await.ok_or_else(|| silent("the list", limit))?
    }

    /// Opens a watch of a source that has ended the one before in order, though early. It is asked for beside the question
    /// how far the source has come, so that events do not wait for two answers in turn, and read when that has been
    /// answered. A source in trouble is asked one thing at a time.
    pub(super) async fn reopen(&mut self) -> Result<State<L::Watch>, Error> {
        // What is resumed was seen by somebody else, of a source that may be another.
        let seen = if self.memory.watched { self.last_version() } else { ResourceVersion::UNSET };
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
            // What is not to go on waits for no watch.
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

    /// What comes of where the source stands. It has come as far as what was received from it, or it is not the one that
    /// it was, and nothing that it tells can be put together with what is known. Where the two have no order, as of a
    /// source that gives no versions, nobody can tell.
    pub(super) fn checked(&mut self, latest: ResourceVersion) -> Result<State<L::Watch>, Error> {
        self.memory.source = Sight::Regained;
        if !self.is_behind(&latest) {
            return Ok(State::Opening);
        }
        let from = self.last_version();
        if self.options.resume_from.is_some() {
            return Err(Error::too_large(&from, &latest));
        }
        let since = self.options.clock.now();
        let loss = self.memory.loss.get_or_insert(Loss { since, relisting: false, went_back: false });
        (loss.relisting, loss.went_back) = (true, true);
        self.memory.version_unavailable = true;
        self.options.tell(&ReflectorEvent::WentBack { from, to: latest });
        Ok(self.relist(None))
    }
}
