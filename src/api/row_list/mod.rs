//! Rows without objects: what a server sends soonest, as far as it can be told whose they are.
//!
//! A Table without objects costs a server a twentieth of one with their metadata, but its rows say at best a name. Where
//! the namespace was asked for, or only names are wanted, that is enough. Rows of all namespaces are joined with the
//! metadata of the same objects at the same version; on any doubt a Table with metadata is asked for in the place of what
//! has not been handed on.

mod join;
mod pace;
mod rest;
#[cfg(test)]
mod tests;

pub(super) use pace::Pace;

use std::collections::VecDeque;
use std::sync::Arc;

use super::resource::ResourceClient;
use super::streams::Items;
use crate::listwatch::{Error, ListMeta, ListOptions};
use crate::object::Object;
use crate::wire::decode::Naming;
use crate::wire::representation::{IncludeObject, Representation};
use rest::Told;

/// Nothing beside the rows.
const ROWS: Representation = Representation::Table(IncludeObject::None);

/// A list whose rows come without objects.
pub(super) struct Bare {
    client: ResourceClient,
    options: ListOptions,
    state: State,
    /// What the list of the names says of itself, or that of the rows once they have been given up.
    meta: ListMeta,
}

/// Where the objects come from.
enum State {
    /// What is there already, and what comes in behind it: surely right.
    Whole(VecDeque<Arc<Object>>, Items),
    /// The same of rows, which may turn out to be no use.
    Rows(VecDeque<Arc<Object>>, Items, Told),
    /// They have. These were handed on; the rest is to be asked for.
    Broken(Told),
    /// It comes in, behind what has come already.
    Rest(Items, Told),
}

impl Bare {
    /// Rows of all namespaces, joined with their metadata. The list must have no limit. Answers when it is known how
    /// the objects will come, which takes up to four requests: whoever asks again where one is refused needs no more than
    /// for any other list.
    ///
    /// # Errors
    /// One of them is refused.
    pub(super) async fn joined(client: &ResourceClient, options: &ListOptions) -> Result<Self, Error> {
        // Several answers are held on the way: what a list of one request waits in stays small.
        let (state, meta) = Box::pin(join::begin(client, options)).await?;
        Ok(Self { client: client.clone(), options: options.clone(), state, meta })
    }

    /// Rows for the sake of their names.
    ///
    /// # Errors
    /// They are refused, and the metadata in their place too.
    pub(super) async fn names(client: &ResourceClient, options: &ListOptions) -> Result<Self, Error> {
        let rows = async {
            let mut rows = client.items(ROWS, Naming::Cell, options).await?;
            let first = rows.next().await?;
            Ok((first, rows))
        };
        let state = match Box::pin(rows).await {
            Ok((first, rows)) => State::Rows(first.into_iter().collect(), rows, Told::names()),
            Err(error) if is_doubt(&error) => {
                let whole =
                    client.items(Representation::Names.whole(), Naming::RequestedNamespace, options).await?;
                State::Whole(VecDeque::new(), whole)
            }
            Err(error) => return Err(error),
        };
        Ok(Self { client: client.clone(), options: options.clone(), state, meta: ListMeta::default() })
    }

    /// What the source said of the list.
    pub(super) fn meta(&self) -> &ListMeta {
        match &self.state {
            State::Rows(_, _, Told::Rows(_)) | State::Broken(_) => &self.meta,
            State::Whole(_, items) | State::Rows(_, items, _) | State::Rest(items, _) => items.meta(),
        }
    }

    /// The next object. Dropping the future loses nothing: each step is told by the state before it waits.
    pub(super) async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            match &mut self.state {
                State::Whole(ready, items) => {
                    let Some(object) = ready.pop_front() else { return items.next().await };
                    return Ok(Some(object));
                }
                State::Rows(ready, items, told) => {
                    let row = match ready.pop_front() {
                        Some(row) => Ok(Some(row)),
                        None => items.next().await,
                    };
                    match row {
                        Ok(Some(row)) => {
                            told.add(&row);
                            return Ok(Some(row));
                        }
                        Ok(None) if items.is_exhausted() => return Ok(None),
                        Ok(None) | Err(Error::Decode(_)) => self.give_up_rows(),
                        Err(error) => return Err(error),
                    }
                }
                State::Broken(told) => {
                    let options = rest::options(&self.options, &self.meta);
                    let items = Box::pin(rest::ask(&self.client, &options)).await?;
                    let told = std::mem::take(told);
                    self.state = State::Rest(items, told);
                }
                State::Rest(items, told) => {
                    let object = items.next().await?;
                    if items.meta().resource_version != self.meta.resource_version {
                        return Err(rest::moved_on());
                    }
                    match object {
                        Some(object) if told.has(&object)? => {}
                        Some(object) => return Ok(Some(object)),
                        None => return told.end().map(|()| None),
                    }
                }
            }
        }
    }

    /// The rows are no use from here on.
    fn give_up_rows(&mut self) {
        let State::Rows(_, items, told) = &mut self.state else { return };
        let mut told = std::mem::take(told);
        if let Told::Rows(count) = told {
            told = Told::Keys(items.register_mut().map(|matcher| matcher.first(count)).unwrap_or_default());
        } else {
            self.meta = items.meta().clone();
        }
        self.state = State::Broken(told);
    }
}

/// Whether an error means that this way is not open, and another may be.
fn is_doubt(error: &Error) -> bool {
    matches!(
        error,
        Error::Expired(_)
            | Error::TooLargeResourceVersion(_)
            | Error::Invalid(_)
            | Error::NotSupported(_)
            | Error::Internal(_)
            | Error::Decode(_)
    )
}
