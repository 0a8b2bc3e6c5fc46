//! How far the source has come: asked before a watch goes on after the source was out of sight.
//!
//! A Kubernetes server answers a watch from a version that it has not come to with silence, and tells of what happens
//! there once it has passed that version, as if nothing had been. So a server that was restored from a backup, or another
//! one in its place, would be watched without a word of what changed. client-go does so.

use super::clock::within;
use super::list::silent;
use super::machine::Machine;
use super::sink::ReflectorStore;
use crate::listwatch::{Error, ListOptions, ListStream, ListerWatcher};
use crate::object::ResourceVersion;

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    /// The version of the source, by a list of one item without a version. A list that is to be no older than the last
    /// version would be refused also by a replica that lags a little, and only after a while; of the most recent state
    /// every replica answers the same.
    pub(super) async fn check(&self) -> Result<ResourceVersion, Error> {
        let limit = self.options.list_idle_limit;
        let asked = async {
            let mut page = self.source.list(&ListOptions { limit: 1, ..ListOptions::default() }).await?;
            while page.next().await?.is_some() {}
            Ok(page.meta().resource_version.clone())
        };
        within(&*self.options.clock, limit, asked).await.ok_or_else(|| silent("the list", limit))?
    }
}
