//! Lists: the version, the page, and the items in chunks at the client's pace.

use std::convert::Infallible;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http::Response;
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde::{Deserialize, Serialize};

use super::selection::Selection;
use crate::demo::api_error::ApiError;
use crate::demo::cluster::Cluster;
use crate::demo::http::accept::Representation;
use crate::demo::http::gzip::{self, Gzip};
use crate::demo::http::query::{ListOptions, RequestedVersion, VersionMatch};
use crate::demo::http::response::{self, Body, JSON, boxed};
use crate::demo::kinds::{Kind, KindId};
use crate::demo::representations::writer::{ListMeta, Writer};
use crate::demo::store::{CollectionRange, Compacted, ObjectKey, Snapshot, Store, StoredObject, object_key};

/// The size at which a chunk is sent.
pub(super) const CHUNK: usize = 64 * 1024;

/// The position inside a continue token.
#[derive(Debug, Serialize, Deserialize)]
struct Token {
    v: String,
    /// -1 continues at the current version.
    rv: i64,
    namespace: String,
    name: String,
}

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

impl Token {
    fn write(rv: i64, after: &ObjectKey) -> String {
        let token = Self {
            v: TOKEN_VERSION.to_owned(),
            rv,
            namespace: after.0.to_string(),
            name: after.1.to_string(),
        };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).unwrap_or_default())
    }

    fn read(text: &str) -> Result<Self, ApiError> {
        let invalid = || ApiError::bad_request("invalid continue token: continue key is not valid");
        let json = URL_SAFE_NO_PAD.decode(text).map_err(|_| invalid())?;
        serde_json::from_slice(&json).ok().filter(|token: &Self| token.v == TOKEN_VERSION).ok_or_else(invalid)
    }
}

/// A page of a list: its metadata and items.
pub(super) struct Page {
    pub(super) meta: ListMeta,
    pub(super) items: Vec<Arc<StoredObject>>,
}

/// Returns the page for these options.
///
/// # Errors
/// The version is compacted or in the future, or the token is invalid.
pub(super) fn page(
    store: &Store,
    kind: KindId,
    selection: &Selection,
    options: &ListOptions,
) -> Result<Page, ApiError> {
    let (version, after) = start(store, options)?;
    let namespace = selection.namespace.as_deref();
    let read =
        |after: Option<&ObjectKey>, version: Option<u64>, limit: usize| -> Result<Snapshot, ApiError> {
            let range = CollectionRange { kind, namespace, after, limit };
            match version {
                None => Ok(store.now(&range)),
                Some(version) => {
                    store.at(&range, version).map_err(|compacted| expired(options, after, compacted))
                }
            }
        };
    let limit = if options.limit == 0 { usize::MAX } else { options.limit };
    let mut found = read(after.as_ref(), version, limit)?;
    let version = found.version;
    let mut items: Vec<_> =
        found.items.iter().filter(|item| selection.matches(&item.json)).cloned().collect();
    // Selectors may leave a page short: it is filled from the following objects.
    while items.len() < limit
        && found.more > 0
        && let Some(last) = found.items.last().map(|item| item.key())
    {
        let missing = limit - items.len();
        found = read(Some(&last), Some(version), limit)?;
        let matching = found.items.iter().filter(|item| selection.matches(&item.json));
        let before = items.len();
        items.extend(matching.take(missing).cloned());
        if items.len() - before == missing {
            break;
        }
    }
    let last_read = found.items.last().map(|item| item.key());
    let is_full = items.len() == limit;
    let last = if is_full { items.last().map(|item| item.key()) } else { last_read };
    let continues = is_full && (found.more > 0 || last != found.items.last().map(|item| item.key()));
    let rv = i64::try_from(version).unwrap_or(i64::MAX);
    Ok(Page {
        meta: ListMeta {
            version,
            continue_token: last
                .filter(|_| continues)
                .map(|last| Token::write(rv, &last))
                .unwrap_or_default(),
            remaining: (continues && selection.is_everything()).then_some(found.more),
        },
        items,
    })
}

/// Returns the version to list at, or `None` for the latest, and the position to continue after.
fn start(store: &Store, options: &ListOptions) -> Result<(Option<u64>, Option<ObjectKey>), ApiError> {
    if !options.continue_token.is_empty() {
        let token = Token::read(&options.continue_token)?;
        return Ok((u64::try_from(token.rv).ok(), Some(object_key(&token.namespace, &token.name))));
    }
    let RequestedVersion::Version(requested) = options.version else { return Ok((None, None)) };
    let current = store.version();
    if requested > current {
        return Err(ApiError::future_version(requested, current));
    }
    // With a limit and no match, a version has always meant exactly that one.
    let exact = options.version_match == Some(VersionMatch::Exact)
        || (options.version_match.is_none() && options.limit > 0);
    Ok((exact.then_some(requested), None))
}

fn expired(options: &ListOptions, after: Option<&ObjectKey>, _: Compacted) -> ApiError {
    match after {
        Some(after) if !options.continue_token.is_empty() => {
            ApiError::expired_continue(Token::write(-1, after))
        }
        _ => ApiError::expired_list(),
    }
}

/// Creates the response, which is written at the client's pace, and compressed if it is large and `gzip` is set.
pub(super) fn list_response(
    cluster: Arc<Cluster>,
    kind: Arc<Kind>,
    representation: Representation,
    page: Page,
    gzip: bool,
) -> Response<Body> {
    let writer = Writer::new(kind, representation);
    let out = writer.list_head(&page.meta).into_bytes();
    let mut list = ListInProgress {
        cluster,
        writer,
        items: page.items.into_iter(),
        out,
        first: true,
        ended: false,
        gzip: None,
    };
    list.fill(gzip::THRESHOLD);
    let is_large = !list.ended;
    if is_large && gzip {
        list.gzip = Some(Gzip::new());
    }
    let mut response = response::with_body(200, JSON, boxed(StreamBody::new(chunks(list))));
    if is_large && gzip {
        gzip::set_headers(&mut response);
    }
    response
}

/// A list in progress.
struct ListInProgress {
    cluster: Arc<Cluster>,
    writer: Writer,
    items: std::vec::IntoIter<Arc<StoredObject>>,
    out: Vec<u8>,
    first: bool,
    /// Whether `out` contains the end of the list.
    ended: bool,
    gzip: Option<Gzip>,
}

impl ListInProgress {
    /// Writes items until `out` has this size.
    fn fill(&mut self, size: usize) {
        let now = self.cluster.clock.now();
        while !self.ended && self.out.len() < size {
            let Some(item) = self.items.next() else {
                self.out.extend_from_slice(b"]}\n");
                self.ended = true;
                return;
            };
            if !std::mem::take(&mut self.first) {
                self.out.push(b',');
            }
            self.writer.item(&mut self.out, &item, now);
        }
    }

    /// Returns the next chunk, or `None` after the last.
    fn next(&mut self) -> Option<Vec<u8>> {
        self.fill(CHUNK);
        let chunk = std::mem::replace(&mut self.out, Vec::with_capacity(CHUNK + CHUNK / 4));
        if chunk.is_empty() {
            return self.gzip.take().map(Gzip::finish);
        }
        Some(match &mut self.gzip {
            Some(gzip) => gzip.compress(&chunk),
            None => chunk,
        })
    }
}

fn chunks(list: ListInProgress) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
    stream::unfold(list, |mut list| async move {
        // Concurrent lists share the threads: each yields after a chunk.
        tokio::task::yield_now().await;
        let chunk = list.next()?;
        Some((Ok(Frame::data(chunk.into())), list))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use http_body_util::BodyExt;
    use serde_json::json;

    use super::*;
    use crate::demo::clock::Clock;
    use crate::demo::http::query::Query;

    fn store() -> (Store, KindId) {
        let store = Store::new(1, 1);
        let kind = store.id("", "configmaps").expect("configmaps");
        for at in 0..10 {
            let labels = json!({"odd": (at % 2 == 1).to_string()});
            let map = json!({"metadata": {"name": format!("c{at}"), "namespace": "n", "labels": labels}});
            store.create(kind, map).expect("new");
        }
        (store, kind)
    }

    #[tokio::test(start_paused = true)]
    async fn large_list_is_compressed_if_the_client_accepts_gzip() {
        let (store, id) = store();
        let text = "x".repeat(20_000);
        for at in 0..10 {
            let map =
                json!({"metadata": {"name": format!("big{at}"), "namespace": "n"}, "data": {"text": text}});
            store.create(id, map).expect("new");
        }
        let kind = store.kind(id);
        let clock = Clock::new(jiff::Timestamp::UNIX_EPOCH);
        let cluster = Arc::new(Cluster::new(store, clock, String::new()));
        for (labels, gzip, expected) in [("", true, true), ("", false, false), ("odd=true", true, false)] {
            let query = Query::parse(&format!("labelSelector={labels}"));
            let selection = Selection::read(&query, &kind, None).expect("selectors");
            let options = ListOptions::read(&query).expect("options");
            let page = page(&cluster.store, id, &selection, &options).expect("a page");
            let count = page.items.len();
            let response =
                list_response(Arc::clone(&cluster), Arc::clone(&kind), Representation::Objects, page, gzip);
            let is_gzip = response.headers().get("content-encoding").is_some_and(|coding| coding == "gzip");
            assert_eq!(is_gzip, expected, "{labels} {gzip}");
            let Ok(body) = response.into_body().collect().await;
            let mut body = body.to_bytes().to_vec();
            if is_gzip {
                let mut plain = Vec::new();
                flate2::read::GzDecoder::new(body.as_slice()).read_to_end(&mut plain).expect("gzip");
                body = plain;
            }
            let list: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(list["items"].as_array().map(Vec::len), Some(count));
        }
    }

    fn request(store: &Store, kind: KindId, query: &str) -> Result<(Vec<String>, ListMeta), ApiError> {
        let query = Query::parse(query);
        let (_, definition) = store.find("", "v1", "configmaps").expect("configmaps");
        let selection = Selection::read(&query, &definition, None)?;
        let page = page(store, kind, &selection, &ListOptions::read(&query)?)?;
        Ok((page.items.iter().map(|item| item.name.to_string()).collect(), page.meta))
    }

    #[test]
    fn pages_of_a_list_have_one_version() {
        let (store, kind) = store();
        for (query, expected) in [
            ("limit=3", vec!["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"]),
            ("limit=2&labelSelector=odd%3Dtrue", vec!["c1", "c3", "c5", "c7", "c9"]),
            ("limit=5&labelSelector=odd%3Dtrue", vec!["c1", "c3", "c5", "c7", "c9"]),
        ] {
            let (mut names, mut meta) = request(&store, kind, query).expect("a page");
            let version = meta.version;
            while !meta.continue_token.is_empty() {
                store.remove(kind, "n", "c7");
                let more = format!("{query}&continue={}", meta.continue_token);
                let page = request(&store, kind, &more).expect("a page");
                names.extend(page.0);
                meta = page.1;
                assert_eq!(meta.version, version);
            }
            assert_eq!(names, expected, "{query}");
            if store.get(kind, "n", "c7").is_none() {
                let map = json!({"metadata": {"name": "c7", "namespace": "n", "labels": {"odd": "true"}}});
                store.create(kind, map).expect("again");
            }
        }
    }

    #[test]
    fn a_page_reports_the_remaining_count() {
        let (store, kind) = store();
        assert_eq!(request(&store, kind, "limit=3").expect("a page").1.remaining, Some(7));
        assert_eq!(request(&store, kind, "limit=10").expect("a page").1.remaining, None);
        assert_eq!(request(&store, kind, "").expect("all").0.len(), 10);
    }

    #[test]
    fn compacted_versions_expire_and_future_ones_fail() {
        let (store, kind) = store();
        let version = store.version();
        let (_, meta) = request(&store, kind, "limit=3").expect("a page");
        store.remove(kind, "n", "c0");
        let exact = format!("resourceVersion={version}&resourceVersionMatch=Exact");
        assert_eq!(request(&store, kind, &exact).expect("then").0.len(), 10);
        assert_eq!(request(&store, kind, &format!("resourceVersion={version}")).expect("now").0.len(), 9);
        store.compact();
        assert_eq!(request(&store, kind, &exact).expect_err("gone").code, 410);
        let error = request(&store, kind, &format!("continue={}", meta.continue_token)).expect_err("gone");
        assert_eq!(error.code, 410);
        let status: serde_json::Value = serde_json::from_slice(&error.json()).expect("a Status");
        let fresh = status["metadata"]["continue"].as_str().expect("a token");
        assert_eq!(request(&store, kind, &format!("continue={fresh}")).expect("the rest").0[0], "c3");
        let future = format!("resourceVersion={}", version + 100);
        assert_eq!(request(&store, kind, &future).expect_err("not yet").code, 504);
        assert_eq!(request(&store, kind, "continue=abc").expect_err("no token").code, 400);
    }
}
