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
use crate::server::api_error::ApiError;
use crate::server::http::accept::ResponseForm;
use crate::server::http::gzip::{self, Gzip};
use crate::server::http::query::{ListOptions, RequestedVersion, VersionMatch};
use crate::server::http::response::{self, Body, JSON, boxed};
use crate::server::representations::writer::{ListMeta, Writer};
use crate::server::source::{
    CollectionRange, Kind, KindId, ObjectKey, ReadError, Snapshot, Source, StoredObject, object_key,
};

/// The size at which a chunk is sent.
pub(crate) const CHUNK: usize = 64 * 1024;

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
pub(crate) struct Page {
    pub(crate) meta: ListMeta,
    pub(crate) items: Vec<Arc<StoredObject>>,
}

/// Returns the page for these options. Its objects have the data that the representation needs.
///
/// # Errors
/// The version is compacted or in the future, the token is invalid, or stored data can't be read.
pub(crate) fn page(
    source: &dyn Source,
    kind: KindId,
    representation: ResponseForm,
    selection: &Selection,
    options: &ListOptions,
) -> Result<Page, ApiError> {
    let (version, after) = start(source, kind, options)?;
    let namespace = selection.namespace.as_deref();
    let data = selection.data(representation);
    let read =
        |after: Option<&ObjectKey>, version: Option<u64>, limit: usize| -> Result<Snapshot, ApiError> {
            let range = CollectionRange { kind, namespace, after, limit, data };
            match version {
                None => source.now(&range).map_err(ApiError::unreadable),
                Some(version) => source.at(&range, version).map_err(|error| match error {
                    ReadError::Compacted(_) => expired(options, after),
                    ReadError::Unreadable(reason) => ApiError::unreadable(reason),
                }),
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
fn start(
    source: &dyn Source,
    kind: KindId,
    options: &ListOptions,
) -> Result<(Option<u64>, Option<ObjectKey>), ApiError> {
    if !options.continue_token.is_empty() {
        let token = Token::read(&options.continue_token)?;
        return Ok((u64::try_from(token.rv).ok(), Some(object_key(&token.namespace, &token.name))));
    }
    let RequestedVersion::Version(requested) = options.version else { return Ok((None, None)) };
    let current = source.version(kind);
    if requested > current {
        return Err(ApiError::future_version(requested, current));
    }
    // With a limit and no match, a version has always meant exactly that one.
    let exact = options.version_match == Some(VersionMatch::Exact)
        || (options.version_match.is_none() && options.limit > 0);
    Ok((exact.then_some(requested), None))
}

fn expired(options: &ListOptions, after: Option<&ObjectKey>) -> ApiError {
    match after {
        Some(after) if !options.continue_token.is_empty() => {
            ApiError::expired_continue(Token::write(-1, after))
        }
        _ => ApiError::expired_list(),
    }
}

/// Creates the response, which is written at the client's pace, and compressed if it is large and `gzip` is set.
pub(crate) fn list_response(
    source: Arc<dyn Source>,
    kind: Arc<Kind>,
    representation: ResponseForm,
    page: Page,
    gzip: bool,
) -> Response<Body> {
    let writer = Writer::new(kind, representation);
    let out = writer.list_head(&page.meta, page.items.first()).into_bytes();
    let mut list = ListInProgress {
        source,
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
    source: Arc<dyn Source>,
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
        let now = self.source.clock().now();
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
    use crate::server::http::query::Query;
    use crate::server::memory_source::{CONFIG_MAPS, MemorySource};

    fn source() -> MemorySource {
        let source = MemorySource::new();
        for at in 0..10 {
            source.put(&format!("c{at}"), &json!({"odd": (at % 2 == 1).to_string()}), "");
        }
        source
    }

    #[tokio::test(start_paused = true)]
    async fn large_list_is_compressed_if_the_client_accepts_gzip() {
        let source = source();
        let text = "x".repeat(20_000);
        for at in 0..10 {
            source.put(&format!("big{at}"), &json!({}), &text);
        }
        let (id, kind) = source.find("", "v1", "configmaps").expect("configmaps");
        let source: Arc<dyn Source> = Arc::new(source);
        for (labels, gzip, expected) in [("", true, true), ("", false, false), ("odd=true", true, false)] {
            let query = Query::parse(&format!("labelSelector={labels}"));
            let selection = Selection::read(&query, &kind, None).expect("selectors");
            let options = ListOptions::read(&query).expect("options");
            let page = page(&*source, id, ResponseForm::Objects, &selection, &options).expect("a page");
            let count = page.items.len();
            let response =
                list_response(Arc::clone(&source), Arc::clone(&kind), ResponseForm::Objects, page, gzip);
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

    fn request(source: &MemorySource, query: &str) -> Result<(Vec<String>, ListMeta), ApiError> {
        let query = Query::parse(query);
        let (_, definition) = source.find("", "v1", "configmaps").expect("configmaps");
        let selection = Selection::read(&query, &definition, None)?;
        let options = ListOptions::read(&query)?;
        let page = page(source, CONFIG_MAPS, ResponseForm::Objects, &selection, &options)?;
        Ok((page.items.iter().map(|item| item.name.to_string()).collect(), page.meta))
    }

    #[test]
    fn pages_of_a_list_have_one_version() {
        let source = source();
        for (query, expected) in [
            ("limit=3", vec!["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"]),
            ("limit=2&labelSelector=odd%3Dtrue", vec!["c1", "c3", "c5", "c7", "c9"]),
            ("limit=5&labelSelector=odd%3Dtrue", vec!["c1", "c3", "c5", "c7", "c9"]),
        ] {
            let (mut names, mut meta) = request(&source, query).expect("a page");
            let version = meta.version;
            while !meta.continue_token.is_empty() {
                if source.get(CONFIG_MAPS, "n", "c7").expect("readable").is_some() {
                    source.remove("c7");
                }
                let more = format!("{query}&continue={}", meta.continue_token);
                let page = request(&source, &more).expect("a page");
                names.extend(page.0);
                meta = page.1;
                assert_eq!(meta.version, version);
            }
            assert_eq!(names, expected, "{query}");
            if source.get(CONFIG_MAPS, "n", "c7").expect("readable").is_none() {
                source.put("c7", &json!({"odd": "true"}), "");
            }
        }
    }

    #[test]
    fn a_page_reports_the_remaining_count() {
        let source = source();
        assert_eq!(request(&source, "limit=3").expect("a page").1.remaining, Some(7));
        assert_eq!(request(&source, "limit=10").expect("a page").1.remaining, None);
        assert_eq!(request(&source, "").expect("all").0.len(), 10);
    }

    #[test]
    fn compacted_versions_expire_and_future_ones_fail() {
        let source = source();
        let version = source.version(CONFIG_MAPS);
        let (_, meta) = request(&source, "limit=3").expect("a page");
        source.remove("c0");
        let exact = format!("resourceVersion={version}&resourceVersionMatch=Exact");
        assert_eq!(request(&source, &exact).expect("then").0.len(), 10);
        assert_eq!(request(&source, &format!("resourceVersion={version}")).expect("now").0.len(), 9);
        source.compact();
        assert_eq!(request(&source, &exact).expect_err("gone").code, 410);
        let error = request(&source, &format!("continue={}", meta.continue_token)).expect_err("gone");
        assert_eq!(error.code, 410);
        let status: serde_json::Value = serde_json::from_slice(&error.json()).expect("a Status");
        let fresh = status["metadata"]["continue"].as_str().expect("a token");
        assert_eq!(request(&source, &format!("continue={fresh}")).expect("the rest").0[0], "c3");
        let future = format!("resourceVersion={}", version + 100);
        assert_eq!(request(&source, &future).expect_err("not yet").code, 504);
        assert_eq!(request(&source, "continue=abc").expect_err("no token").code, 400);
    }
}
