//! What comes in the place of rows that turned out to be no use after some were handed on.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::is_doubt;
use super::pace::wait;
use crate::api::resource::ResourceClient;
use crate::api::streams::Items;
use crate::listwatch::{Error, ListMeta, ListOptions, ResourceVersionMatch};
use crate::object::Object;
use crate::wire::decode::Naming;

/// How often it is asked for while the server says how long to wait.
const TRIES: u32 = 10;

/// What has been handed on.
pub(super) enum Told {
    /// So many rows of a join.
    Rows(usize),
    /// Those of these namespaces and names.
    Keys(HashSet<(String, String)>),
    /// Names without namespaces: how many, and a sum of them in their order. They may be millions.
    Names { count: usize, sum: DefaultHasher },
    /// Of as many the rest has told the names, and this is left.
    Passing { left: usize, wanted: u64, sum: DefaultHasher },
}

impl Default for Told {
    fn default() -> Self {
        Self::Rows(0)
    }
}

impl Told {
    /// No name.
    pub(super) fn names() -> Self {
        Self::Names { count: 0, sum: DefaultHasher::new() }
    }

    /// An object is handed on.
    pub(super) fn add(&mut self, object: &Object) {
        match self {
            Self::Rows(count) => *count += 1,
            Self::Names { count, sum } => {
                *count += 1;
                object.name().hash(sum);
            }
            Self::Keys(_) | Self::Passing { .. } => {}
        }
    }

    /// Whether this one, the next of the rest, was handed on.
    ///
    /// # Errors
    /// What was handed on is not what the rest begins with.
    pub(super) fn has(&mut self, object: &Object) -> Result<bool, Error> {
        if let Self::Names { count, sum } = self {
            *self = Self::Passing { left: *count, wanted: sum.finish(), sum: DefaultHasher::new() };
        }
        match self {
            Self::Keys(keys) => {
                let key = || (object.namespace().to_owned(), object.name().to_owned());
                Ok(!keys.is_empty() && keys.remove(&key()))
            }
            Self::Passing { left: 0, .. } | Self::Rows(_) | Self::Names { .. } => Ok(false),
            Self::Passing { left, wanted, sum } => {
                object.name().hash(sum);
                *left -= 1;
                if *left == 0 && sum.finish() != *wanted { Err(moved_on()) } else { Ok(true) }
            }
        }
    }

    /// The rest has ended.
    ///
    /// # Errors
    /// It was without some that were handed on.
    pub(super) fn end(&self) -> Result<(), Error> {
        match self {
            Self::Keys(keys) if !keys.is_empty() => Err(moved_on()),
            Self::Passing { left: 1.., .. } | Self::Names { count: 1.., .. } => Err(moved_on()),
            _ => Ok(()),
        }
    }
}

/// How to ask for a list that has all that was handed on: in the state that the rows were of. A token says that by
/// itself.
pub(super) fn options(first: &ListOptions, meta: &ListMeta) -> ListOptions {
    if !first.continue_token.is_empty() || meta.resource_version.is_unset() {
        return first.clone();
    }
    ListOptions {
        resource_version: meta.resource_version.clone(),
        version_match: Some(ResourceVersionMatch::Exact),
        ..first.clone()
    }
}

/// Asks for the rest. Objects have been handed on, so nobody else can begin anew: where the server says how long to wait,
/// it is asked again from here.
pub(super) async fn ask(client: &ResourceClient, options: &ListOptions) -> Result<Items, Error> {
    let whole = client.wanted().whole();
    for _ in 1..TRIES {
        match client.items(whole, Naming::RequestedNamespace, options).await {
            Err(error) => match error.retry_after() {
                Some(pause) => wait(pause).await,
                None if is_doubt(&error) => return Err(moved_on()),
                None => return Err(error),
            },
            items => return items,
        }
    }
    client.items(whole, Naming::RequestedNamespace, options).await
}

/// The error of a list that can't be gone on with. Not that of an expired version: whoever lists anew for one would
/// hand on twice what has been handed on.
pub(super) fn moved_on() -> Error {
    Error::Decode(
        "the server's rows can't be read to their end, and what they were of is gone by now: ask again"
            .into(),
    )
}
