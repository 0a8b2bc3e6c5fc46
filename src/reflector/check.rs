//! How far the source has come: asked before a watch goes on after the source was out of sight.
//!
//! A Kubernetes server answers a watch from a version that it has not come to with silence, and tells of what happens
//! there once it has passed that version, as if nothing had been. So a server that was restored from a backup, or another
//! one in its place, would be watched without a word of what changed. client-go does so.

use super::clock::within_of_source;
use super::list::silent;
use super::machine::Machine;
use super::sink::ReflectorStore;
use crate::listwatch::{Error, ListerWatcher};
use crate::object::ResourceVersion;

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    /// The version of the source's most recent state. A list that is to be no older than the last version would be
    /// refused also by a replica that lags a little, and only after a while; of the most recent state every replica
    /// answers the same.
    pub(super) async fn check(&self) -> Result<ResourceVersion, Error> {
        let limit = self.options.list_idle_limit;
        // It is often the first request after an outage, and then the one that a person has to log in for.
        let answer = within_of_source(&*self.options.clock, &self.source, limit, self.source.latest());
        answer.await.ok_or_else(|| silent("the list", limit))?
    }
}
