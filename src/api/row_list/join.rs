//! The beginning of a join: names, the rows of the same version, and whether they belong together.
//!
//! A row says its name and not its namespace, so rows are told apart by their order as well, and nobody promises an order.
//! Where no name occurs twice, a row whose name is that of the next entry is of that object, whatever the order; then rows
//! are handed on as they come. Names of the same words in several namespaces (`default`, `kube-root-ca.crt`) could be
//! exchanged without notice by a server that answers from a hash table, as those before Kubernetes 1.31 do for a version
//! or a later one. Those rows are asked for at exactly the version, which is read in the order of the keys, and only where
//! the names came in that order, too; and none is handed on before each has found its name.
//!
//! Three things make it quick everywhere. What fits a page is asked for at once with its metadata: a small cluster
//! answers in one round trip. A server answers for exactly one version from its memory only while it remembers a state
//! of that version, and forgets those of a collection that has been quiet for minutes; else it reads them from its
//! disk, which takes ten times as long. So, where the order does not matter, it is asked for that version or a later one
//! first, which quiet collections answer with the very version, and for exactly that one where it has moved on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::pace::{Step, within};
use super::rest::Told;
use super::{ROWS, State, is_doubt};
use crate::api::resource::ResourceClient;
use crate::api::streams::Items;
use crate::listwatch::{Error, ListMeta, ListOptions, ResourceVersionMatch};
use crate::object::{Object, ResourceVersion};
use crate::wire::decode::Naming;
use crate::wire::representation::Representation;
use crate::wire::row_matcher::{Order, RowMatcher};

/// As many rows as kubectl asks for at a time.
const PAGE: u32 = 500;

/// How long the names may be silent. Then they are given up for what comes without them, before whoever waits for the
/// list takes it for dead.
const NAMES_SILENT: Duration = Duration::from_secs(45);

/// Asks until it is known how the objects come.
pub(super) async fn begin(
    client: &ResourceClient,
    options: &ListOptions,
) -> Result<(State, ListMeta), Error> {
    let mut pace = client.pace().start();
    // From its memory, which any version allows, a server sends all there is, whatever the limit.
    if options.resource_version.is_unset()
        && let Some(page) = page(client, options, &mut pace).await?
    {
        return Ok((page, ListMeta::default()));
    }
    if let Some((matcher, meta)) = names(client, options, &mut pace).await?
        && let Some(rows) = rows(client, &meta, matcher, &mut pace).await?
    {
        return Ok((rows, meta));
    }
    pace.came();
    let whole = client.items(client.wanted().whole(), Naming::RequestedNamespace, options).await?;
    Ok((State::Whole(VecDeque::new(), whole), ListMeta::default()))
}

/// A page with metadata, if it is all there is, or the beginning of all.
async fn page(
    client: &ResourceClient,
    options: &ListOptions,
    pace: &mut Step,
) -> Result<Option<State>, Error> {
    let options = ListOptions { limit: PAGE, ..options.clone() };
    let mut items = client.items(client.wanted().whole(), Naming::RequestedNamespace, &options).await?;
    let mut ready = VecDeque::new();
    while ready.len() <= PAGE as usize {
        pace.came();
        let next = items.next().await?;
        // Servers say before the first object that there is more than fits: then nobody needs to read the page.
        if !items.meta().continue_token.is_empty() {
            return Ok(None);
        }
        match next {
            Some(object) => ready.push_back(object),
            None => break,
        }
    }
    Ok(Some(State::Whole(ready, items)))
}

/// All names and the version they are of, if they come and there is one.
async fn names(
    client: &ResourceClient,
    options: &ListOptions,
    pace: &mut Step,
) -> Result<Option<(RowMatcher, ListMeta)>, Error> {
    let asked = client.items(Representation::Metadata, Naming::RequestedNamespace, options);
    let Some(asked) = within(NAMES_SILENT, asked).await else { return Ok(None) };
    let mut items = asked?;
    let mut matcher = RowMatcher::default();
    loop {
        pace.came();
        match within(NAMES_SILENT, items.matcher(&mut matcher)).await {
            Some(Ok(true)) => {}
            Some(Ok(false)) => break,
            None | Some(Err(Error::Timeout(_))) => return Ok(None),
            Some(Err(error)) => return Err(error),
        }
    }
    let meta = items.meta().clone();
    let is_whole = meta.continue_token.is_empty() && !meta.resource_version.is_unset();
    Ok(is_whole.then_some((matcher, meta)))
}

/// The rows of these names, if they surely are.
async fn rows(
    client: &ResourceClient,
    meta: &ListMeta,
    mut matcher: RowMatcher,
    pace: &mut Step,
) -> Result<Option<State>, Error> {
    let order = matcher.order();
    let ways: &[_] = match order {
        Order::Distinct => &[ResourceVersionMatch::NotOlderThan, ResourceVersionMatch::Exact],
        Order::Sorted => &[ResourceVersionMatch::Exact],
        Order::Random => &[],
    };
    for how in ways {
        pace.came();
        let asked = match client.items(ROWS, Naming::RequestedNamespace, &at(meta, *how)).await {
            Err(error) if is_doubt(&error) => continue,
            asked => asked?,
        };
        matcher.rewind();
        let mut items = asked.named_by(Naming::Matcher(matcher));
        if let Some(ready) = lined_up(&mut items, &meta.resource_version, order, pace).await? {
            return Ok(Some(State::Rows(ready, items, Told::Rows(0))));
        }
        matcher = items.register_mut().map(std::mem::take).unwrap_or_default();
    }
    Ok(None)
}

/// The rows that have to be looked at before one is handed on, if they are those of the names.
async fn lined_up(
    items: &mut Items,
    version: &ResourceVersion,
    order: Order,
    pace: &mut Step,
) -> Result<Option<VecDeque<Arc<Object>>>, Error> {
    let mut ready = VecDeque::new();
    while ready.is_empty() || order != Order::Distinct {
        pace.came();
        match items.next().await {
            Ok(Some(row)) if items.is_at(version) => ready.push_back(row),
            Ok(None) if items.is_exhausted() => break,
            Ok(_) | Err(Error::Decode(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(ready))
}

/// How to list at the version of that list.
fn at(meta: &ListMeta, how: ResourceVersionMatch) -> ListOptions {
    ListOptions {
        resource_version: meta.resource_version.clone(),
        version_match: Some(how),
        ..ListOptions::default()
    }
}
