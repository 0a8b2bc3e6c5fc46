//! Rows without objects: what a server sends soonest, as far as it can be told whose they are.
//!
//! A Table without objects costs a server a twentieth of one with their metadata, but its rows say at best a name. Where
//! the namespace was asked for, or only names are wanted, that is enough. Rows of all namespaces are joined with the
//! metadata of the same objects at the same version, which comes in the same order: a server keeps both by namespace and
//! name. Nobody promises that order, so each row's name is compared; on any doubt a Table with metadata is asked for in
//! the place of what has not been handed on.
//!
//! Three things make it quick everywhere. What fits a page is asked for at once with its metadata: a small cluster
//! answers in one round trip. A server answers for exactly one version from its memory only while it remembers a state
//! of that version, and forgets those of a collection that has been quiet for minutes; else it reads them from its
//! disk, which takes ten times as long. So it is asked for that version or a later one first, which quiet collections
//! answer with the very version, and for exactly that one where it has moved on.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::decode::Naming;
use super::register::Register;
use super::representation::{IncludeObject, Representation};
use super::resource::ResourceClient;
use super::streams::Items;
use crate::listwatch::{Error, ListMeta, ListOptions, ResourceVersionMatch};
use crate::object::Object;

/// As many rows as kubectl asks for at a time.
const PAGE: u32 = 500;

/// How long the names may take. Rows are handed on as they come, however slowly, and names are not: whoever reads the list
/// would take it for dead after a while.
const NAMES_TAKE: Duration = Duration::from_secs(45);

/// A list whose rows come without objects.
pub(super) struct Bare {
    client: ResourceClient,
    options: ListOptions,
    state: State,
    /// What the metadata's list says of itself, where there was one.
    meta: ListMeta,
    /// Rows of a join that were handed on.
    handed_on: usize,
}

/// How far a list is.
enum State {
    /// A page with metadata comes in, which may be all.
    Page(Items, VecDeque<Arc<Object>>),
    /// It is not: the names of a join are to be asked for.
    AskNames,
    /// They come in.
    Names(Items, Register),
    /// The rows of these are to be asked for, of their version so far as that is said.
    AskRows(Register, ResourceVersionMatch),
    /// They come in.
    Joined(Items, ResourceVersionMatch),
    /// Rows that need no others come in.
    Alone(Items),
    /// What is surely right is to be asked for. These have been handed on.
    Doubt(HashSet<(String, String)>),
    /// It comes in, behind what has come already.
    Whole(VecDeque<Arc<Object>>, Items, HashSet<(String, String)>),
    /// An error was told.
    Void,
}

impl Bare {
    const ROWS: Representation = Representation::Table(IncludeObject::None);

    /// Rows of all namespaces, joined with their metadata. The list must have no limit.
    ///
    /// # Errors
    /// They are refused.
    pub(super) async fn joined(client: &ResourceClient, options: &ListOptions) -> Result<Self, Error> {
        // From its memory, which any version allows, a server sends all there is, whatever the limit.
        let state = if options.resource_version.is_unset() {
            let page = ListOptions { limit: PAGE, ..options.clone() };
            let items = client.items(Representation::Rows.whole(), Naming::Asked, &page).await?;
            State::Page(items, VecDeque::new())
        } else {
            State::Names(ask_names(client, options).await?, Register::default())
        };
        Ok(Self::new(client, options, state))
    }

    /// Rows for the sake of their names.
    ///
    /// # Errors
    /// They are refused, and the metadata in their place too.
    pub(super) async fn names(client: &ResourceClient, options: &ListOptions) -> Result<Self, Error> {
        let state = match client.items(Self::ROWS, Naming::Cell, options).await {
            Ok(rows) => State::Alone(rows),
            Err(error) if is_doubt(&error) => {
                let whole = client.items(Representation::Names.whole(), Naming::Asked, options).await?;
                State::Whole(VecDeque::new(), whole, HashSet::new())
            }
            Err(error) => return Err(error),
        };
        Ok(Self::new(client, options, state))
    }

    fn new(client: &ResourceClient, options: &ListOptions, state: State) -> Self {
        let (client, options) = (client.clone(), options.clone());
        Self { client, options, state, meta: ListMeta::default(), handed_on: 0 }
    }

    /// What the source said of the list.
    pub(super) fn meta(&self) -> &ListMeta {
        match &self.state {
            State::Alone(items) | State::Whole(_, items, _) => items.meta(),
            _ => &self.meta,
        }
    }

    /// The next object. Dropping the future loses nothing: each step is told by the state before it waits.
    pub(super) async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            if let Some(answer) = self.step().await? {
                return Ok(answer);
            }
        }
    }

    /// One step: an answer, or a new state.
    async fn step(&mut self) -> Result<Option<Option<Arc<Object>>>, Error> {
        match &mut self.state {
            State::Page(items, page) => match items.next().await? {
                Some(object) => {
                    page.push_back(object);
                    if page.len() > PAGE as usize {
                        self.hand_on_page();
                    }
                }
                None if items.meta().continue_token.is_empty() => self.hand_on_page(),
                None => self.state = State::AskNames,
            },
            State::AskNames => {
                let names = ask_names(&self.client, &self.options).await?;
                self.state = State::Names(names, Register::default());
            }
            State::Names(items, register) => {
                match items.register(register).await {
                    Err(Error::Timeout(_)) => {
                        self.state = State::Doubt(HashSet::new());
                        return Ok(None);
                    }
                    read => read?,
                }
                self.meta = items.meta().clone();
                let is_whole = self.meta.continue_token.is_empty() && !self.meta.resource_version.is_unset();
                let register = std::mem::take(register);
                self.state = if is_whole {
                    State::AskRows(register, ResourceVersionMatch::NotOlderThan)
                } else {
                    State::Doubt(HashSet::new())
                };
            }
            State::AskRows(register, how) => {
                let (options, how) = (at(&self.meta, *how), *how);
                match self.client.items(Self::ROWS, Naming::Asked, &options).await {
                    Ok(items) => {
                        let register = std::mem::take(register);
                        self.state = State::Joined(items.named_by(Naming::Register(register)), how);
                    }
                    Err(error) if !is_doubt(&error) => return Err(error),
                    Err(_) if how == ResourceVersionMatch::NotOlderThan => {
                        let register = std::mem::take(register);
                        self.state = State::AskRows(register, ResourceVersionMatch::Exact);
                    }
                    Err(_) => self.state = State::Doubt(HashSet::new()),
                }
            }
            State::Joined(items, _) => {
                let row = match items.next().await {
                    Ok(Some(object)) if items.is_at(&self.meta.resource_version) => Some(Some(object)),
                    Ok(None) if items.is_used_up() => Some(None),
                    Ok(_) | Err(Error::Decode(_)) => None,
                    Err(error) => return Err(error),
                };
                let Some(row) = row else {
                    self.doubt();
                    return Ok(None);
                };
                self.handed_on += usize::from(row.is_some());
                return Ok(Some(row));
            }
            State::Alone(items) => match items.next().await {
                Err(Error::Decode(_)) if self.handed_on == 0 => self.state = State::Doubt(HashSet::new()),
                row => {
                    self.handed_on += 1;
                    return row.map(Some);
                }
            },
            State::Doubt(seen) => {
                // What has been handed on is of one version, and so must be the rest.
                let exact = || at(&self.meta, ResourceVersionMatch::Exact);
                let options = if seen.is_empty() { self.options.clone() } else { exact() };
                let whole = self.client.wanted().whole();
                let items = self.client.items(whole, Naming::Asked, &options).await?;
                let State::Doubt(seen) = std::mem::replace(&mut self.state, State::Void) else {
                    return Ok(None);
                };
                self.state = State::Whole(VecDeque::new(), items, seen);
            }
            State::Whole(page, items, seen) => {
                if let Some(object) = page.pop_front() {
                    return Ok(Some(Some(object)));
                }
                let object = items.next().await?;
                let key = |object: &Object| (object.namespace().to_owned(), object.name().to_owned());
                if seen.is_empty() || object.as_ref().is_none_or(|object| !seen.remove(&key(object))) {
                    return Ok(Some(object));
                }
            }
            State::Void => return Ok(Some(None)),
        }
        Ok(None)
    }

    /// The page is the list, or the beginning of all of it.
    fn hand_on_page(&mut self) {
        if let State::Page(items, page) = std::mem::replace(&mut self.state, State::Void) {
            self.state = State::Whole(page, items, HashSet::new());
        }
    }

    /// The rows are not those of the names.
    fn doubt(&mut self) {
        let State::Joined(items, how) = std::mem::replace(&mut self.state, State::Void) else { return };
        let mut register = items.into_register().unwrap_or_default();
        self.state = if how == ResourceVersionMatch::NotOlderThan && self.handed_on == 0 {
            register.rewind();
            State::AskRows(register, ResourceVersionMatch::Exact)
        } else {
            State::Doubt(register.first(self.handed_on))
        };
    }
}

async fn ask_names(client: &ResourceClient, options: &ListOptions) -> Result<Items, Error> {
    let client = client.clone().takes_at_most(NAMES_TAKE);
    client.items(Representation::Metadata, Naming::Asked, options).await
}

/// How to list at the version of that list.
fn at(meta: &ListMeta, how: ResourceVersionMatch) -> ListOptions {
    ListOptions {
        resource_version: meta.resource_version.clone(),
        version_match: Some(how),
        ..ListOptions::default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::test_server::{TestServer, json, with_headers};
    use crate::api::{Client, Config};
    use crate::listwatch::{ListStream, ListerWatcher};
    use crate::object::ApiResource;

    const NAMED: &str = r#"[{"name":"Name","format":"name"},{"name":"Status"}]"#;
    const ROWS: &str = r#"{"cells":["x",1]},{"cells":["y",2]},{"cells":["x",3]}"#;
    const EXPIRED: &str = r#"{"kind":"Status","reason":"Expired","code":410}"#;

    fn table(version: &str, columns: &str, rows: &str) -> String {
        format!(
            r#"{{"kind":"Table","metadata":{{"resourceVersion":"{version}"}},"columnDefinitions":{columns},"rows":[{rows}]}}"#
        )
    }

    fn names(token: &str) -> String {
        let item = |namespace: &str, name: &str, version: u8| {
            format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","resourceVersion":"{version}"}}}}"#
            )
        };
        let items = [item("a", "x", 7), item("a", "y", 8), item("b", "x", 9)].join(",");
        format!(
            r#"{{"kind":"PartialObjectMetadataList","metadata":{{"resourceVersion":"40","continue":"{token}"}},"items":[{items}]}}"#
        )
    }

    /// The same three as rows with metadata, the first last.
    fn whole() -> String {
        let row = |namespace: &str, name: &str, cell: u8| {
            format!(
                r#"{{"cells":["{name}",{cell}],"object":{{"metadata":{{"name":"{name}","namespace":"{namespace}"}}}}}}"#
            )
        };
        table("40", NAMED, &[row("a", "y", 2), row("b", "x", 3), row("a", "x", 1)].join(","))
    }

    /// What a list of that form brings, and the targets that were asked for.
    async fn listed(
        form: Representation,
        names: String,
        rows: impl Fn(bool) -> (u16, String) + Send + Sync + 'static,
    ) -> (Vec<String>, Vec<String>, Result<(), Error>) {
        let server = TestServer::start(move |head| {
            let (target, _) = head.split_once(" HTTP").expect("a request");
            if target.contains("includeObject=None") {
                let (code, text) = rows(target.contains("Exact"));
                json(code, &text)
            } else if target.contains("limit=500") {
                json(200, &whole().replace(r#"":"40""#, r#"":"40","continue":"more""#))
            } else if head.contains("as=PartialObjectMetadataList") {
                json(200, &names)
            } else {
                json(200, &whole())
            }
        })
        .await;
        of(&server, form).await
    }

    /// The same of that server.
    async fn of(server: &TestServer, form: Representation) -> (Vec<String>, Vec<String>, Result<(), Error>) {
        let client = Client::new(&Config::for_server(&server.url).expect("a config")).expect("a client");
        let pods = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        };
        let resource = ResourceClient::new(client, pods).representation(form);
        let mut list = resource.list(&ListOptions::default()).await.expect("a list");
        let mut found = Vec::new();
        let ended = loop {
            match list.next().await {
                Ok(Some(object)) => {
                    let cell = object.row().and_then(|row| row.cells().nth(1)).unwrap_or_default();
                    found.push(format!("{} {cell}", object.key()));
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let target = |head: &String| head.split(' ').nth(1).expect("a target").replace("/api/v1/pods", "");
        (found, server.asked().iter().map(target).collect(), ended)
    }

    const PROBE: &str = "?limit=500";
    const LATER: &str = "?includeObject=None&resourceVersion=40&resourceVersionMatch=NotOlderThan";
    const EXACT: &str = "?includeObject=None&resourceVersion=40&resourceVersionMatch=Exact";
    const JOINED: [&str; 3] = ["a/x 1", "a/y 2", "b/x 3"];

    /// The same, whatever version is asked for.
    fn always(code: u16, text: impl Into<String>) -> impl Fn(bool) -> (u16, String) {
        let text = text.into();
        move |_| (code, text.clone())
    }

    #[tokio::test]
    async fn rows_of_all_namespaces_are_joined_with_their_names_at_one_version() {
        let rows = always(200, table("40", NAMED, ROWS));
        let (found, asked, ended) = listed(Representation::Rows, names(""), rows).await;
        assert_eq!(found, JOINED);
        assert_eq!(asked, [PROBE, "", LATER]);
        assert!(ended.is_ok());
    }

    #[tokio::test]
    async fn what_has_moved_on_is_asked_for_at_exactly_the_version_of_the_names() {
        for later in [
            (200, table("41", NAMED, ROWS)),
            (504, r#"{"kind":"Status","reason":"Timeout","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#.to_owned()),
            (410, EXPIRED.to_owned()),
        ] {
            let rows = move |exact| if exact { (200, table("40", NAMED, ROWS)) } else { later.clone() };
            let (found, asked, ended) = listed(Representation::Rows, names(""), rows).await;
            assert_eq!(found, JOINED);
            assert_eq!(asked, [PROBE, "", LATER, EXACT]);
            assert!(ended.is_ok());
        }
    }

    #[tokio::test]
    async fn what_fits_a_page_is_one_request() {
        let server = TestServer::start(|_| json(200, &whole())).await;
        let (found, asked, ended) = of(&server, Representation::Rows).await;
        assert_eq!(found, ["a/y 2", "b/x 3", "a/x 1"]);
        assert_eq!(asked, [PROBE]);
        assert!(ended.is_ok());
    }

    #[tokio::test]
    async fn a_server_that_sends_more_than_a_page_has_sent_all() {
        let row = |at: usize| {
            format!(r#"{{"cells":["x{at}",1],"object":{{"metadata":{{"name":"x{at}","namespace":"a"}}}}}}"#)
        };
        let rows: Vec<_> = (0..1200).map(row).collect();
        let server = TestServer::start(move |_| json(200, &table("40", NAMED, &rows.join(",")))).await;
        let (found, asked, ended) = of(&server, Representation::Rows).await;
        assert_eq!((found.len(), found[1199].as_str()), (1200, "a/x1199 1"));
        assert_eq!(asked, [PROBE]);
        assert!(ended.is_ok());
    }

    #[tokio::test]
    async fn on_any_doubt_rows_with_metadata_come_and_none_comes_twice() {
        let ok = |text: String| (200, text);
        let whole_list = ["a/y 2", "b/x 3", "a/x 1"];
        let then = "?resourceVersion=40&resourceVersionMatch=Exact";
        for (what, names, rows, wanted, last) in [
            ("refused", names(""), (410, EXPIRED.to_owned()), whole_list, ""),
            ("in pages", names("more"), ok(String::new()), whole_list, ""),
            ("of another version", names(""), ok(table("41", NAMED, ROWS)), whole_list, ""),
            ("without names", names(""), ok(table("40", r#"[{"name":"Name"}]"#, ROWS)), whole_list, ""),
            ("no list", names(""), ok("<html>".to_owned()), whole_list, ""),
            ("none", names(""), ok(table("40", NAMED, "")), whole_list, ""),
            ("too few", names(""), ok(table("40", NAMED, r#"{"cells":["x",1]}"#)), JOINED, then),
            ("too many", names(""), ok(table("40", NAMED, &format!("{ROWS},{ROWS}"))), JOINED, then),
            (
                "in another order",
                names(""),
                ok(table("40", NAMED, r#"{"cells":["x",1]},{"cells":["x",3]},{"cells":["y",2]}"#)),
                JOINED,
                then,
            ),
        ] {
            let (found, asked, ended) = listed(Representation::Rows, names, always(rows.0, rows.1)).await;
            assert_eq!(found, wanted, "{what}");
            assert_eq!(asked.last().map(String::as_str), Some(last), "{what}: {asked:?}");
            assert!(ended.is_ok(), "{what}");
        }
    }

    // The clock runs ahead whenever nothing but the network is waited for.
    #[tokio::test(start_paused = true)]
    async fn names_that_do_not_end_are_not_waited_for() {
        let server = TestServer::start(|head| {
            if head.contains("as=PartialObjectMetadataList") {
                let headers = "Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n";
                return format!("HTTP/1.1 200 Said\r\n{headers}{}", names(""));
            }
            let page = whole().replace(r#"":"40""#, r#"":"40","continue":"more""#);
            let all = whole();
            json(200, if head.contains("limit=500") { &page } else { &all })
        })
        .await;
        let (found, asked, ended) = of(&server, Representation::Rows).await;
        assert_eq!(found, ["a/y 2", "b/x 3", "a/x 1"]);
        assert_eq!(asked, [PROBE, "", ""]);
        assert!(ended.is_ok(), "{ended:?}");
    }

    #[tokio::test]
    async fn a_server_without_tables_sends_the_objects_themselves() {
        for (form, wanted) in [(Representation::Rows, PROBE), (Representation::Names, "?includeObject=None")]
        {
            let server = TestServer::start(|_| json(200, &names(""))).await;
            let (found, asked, ended) = of(&server, form).await;
            assert_eq!(found, ["a/x <unknown>", "a/y <unknown>", "b/x <unknown>"]);
            assert_eq!(asked, [wanted]);
            assert!(ended.is_ok());
        }
    }

    #[tokio::test]
    async fn names_come_from_the_cell_that_is_said_to_be_one_or_else_from_metadata() {
        let alone = always(200, table("40", NAMED, ROWS));
        let (found, asked, _) = listed(Representation::Names, names(""), alone).await;
        assert_eq!(found, ["x 1", "y 2", "x 3"]);
        assert_eq!(asked, ["?includeObject=None"]);
        for (code, text) in [
            (200, table("40", r#"[{"name":"Name"}]"#, ROWS)),
            (410, EXPIRED.to_owned()),
            (200, "<html>".into()),
        ] {
            let (found, asked, ended) = listed(Representation::Names, names(""), always(code, text)).await;
            assert_eq!(found, ["a/x ", "a/y ", "b/x "]);
            assert_eq!(asked, ["?includeObject=None", ""]);
            assert!(ended.is_ok());
        }
    }

    #[tokio::test]
    async fn a_refusal_that_holds_for_every_form_is_told_at_once() {
        let server = TestServer::start(|_| {
            with_headers(429, "Retry-After: 1\r\n", r#"{"kind":"Status","reason":"TooManyRequests"}"#)
        })
        .await;
        let client = Client::new(&Config::for_server(&server.url).expect("a config")).expect("a client");
        let nodes = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "nodes".into(),
            kind: "Node".into(),
            namespaced: false,
        };
        for form in [Representation::Names, Representation::Rows] {
            let resource = ResourceClient::new(client.clone(), nodes.clone()).representation(form);
            let error = resource.list(&ListOptions::default()).await.err().expect("a refusal");
            assert!(matches!(error, Error::TooManyRequests { .. }), "{error:?}");
        }
        assert_eq!(server.asked().len(), 2);
    }
}
