//! The requests of a source, for `--explain`: none is sent.

use kdelta::api::Request;
use kdelta::listwatch::{Error, ListOptions, ListerWatcher, ResourceVersionMatch, WatchOptions};
use kdelta::reflector::ReflectorOptions;

use super::PartSource;

/// The number of items of a page, if the options leave it to the reflector and the list is at no version.
const PAGE_SIZE: u32 = 500;

/// The way in which the objects of a part are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestMode {
    /// One object by its name.
    Named(String),
    /// A list.
    List,
    /// The initial state, as a list or in a watch.
    Synced,
    /// The initial state, then every change.
    Watch,
    /// One object by its name, then its initial state and every change.
    NamedWatch(String),
}

impl PartSource {
    /// Returns the requests of a source with these options if none fails.
    ///
    /// # Errors
    /// A name is invalid.
    pub(crate) fn requests(
        &self,
        mode: &RequestMode,
        options: &ReflectorOptions,
    ) -> Result<Vec<Request>, Error> {
        let version = options.first_version.clone();
        let limit = options.page_size.unwrap_or(PAGE_SIZE);
        let list = ListOptions::default().limit(limit).resource_version(version.clone());
        let watch = WatchOptions::default().allow_bookmarks(true);
        let initial = watch
            .clone()
            .send_initial_events(true)
            .resource_version(version)
            .version_match(Some(ResourceVersionMatch::NotOlderThan));
        let in_watch = options.watch_list && !options.pages_first && self.supports_watch_list();
        if let RequestMode::NamedWatch(name) = mode {
            let mut requests = vec![self.client.get_request(name)?];
            requests.extend(self.requests(&RequestMode::Watch, options)?);
            return Ok(requests);
        }
        if let Some(version) = &options.resume_from {
            return Ok(vec![self.client.watch_request(&watch.resource_version(version.clone()))?]);
        }
        match mode {
            RequestMode::Named(name) => Ok(vec![self.client.get_request(name)?]),
            RequestMode::Synced | RequestMode::Watch if in_watch => {
                Ok(vec![self.client.watch_request(&initial)?])
            }
            RequestMode::List | RequestMode::Synced => self.client.list_requests(&list),
            RequestMode::Watch | RequestMode::NamedWatch(_) => {
                let mut requests = self.client.list_requests(&list)?;
                requests.push(self.client.watch_request(&watch.resource_version("VERSION".into()))?);
                Ok(requests)
            }
        }
    }
}
