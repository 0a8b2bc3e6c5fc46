//! Tests of watches on a source in memory.

use serde_json::{Value, json};

use super::*;
use crate::server::http::query::Query;
use crate::server::memory_source::{CONFIG_MAPS, MemorySource};

fn source(names: &[&str]) -> Arc<MemorySource> {
    let source = MemorySource::new();
    for name in names {
        label(&source, name, "web");
    }
    Arc::new(source)
}

fn label(source: &MemorySource, name: &str, value: &str) {
    source.put(name, &json!({"app": value}), "");
}

fn watch(source: &Arc<MemorySource>, query: &str) -> Watch {
    let query = Query::parse(query);
    let (kind_id, kind) = source.find("", "v1", "configmaps").expect("configmaps");
    let selection = Selection::read(&query, &kind, None).expect("selectors");
    let options = ListOptions::read(&query).expect("options");
    let source: Arc<dyn Source> = Arc::<MemorySource>::clone(source);
    Watch::new(source, (kind_id, kind), ResponseForm::Objects, selection, &options)
}

async fn next(watch: &mut Watch) -> Option<Vec<(String, String)>> {
    let chunk = String::from_utf8(watch.chunk().await?).expect("text");
    let events = chunk.lines().map(|line| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let name = event["object"]["metadata"]["name"].as_str().unwrap_or_default();
        (event["type"].as_str().expect("a type").to_owned(), name.to_owned())
    });
    Some(events.collect())
}

fn expected(events: &[(&str, &str)]) -> Vec<(String, String)> {
    events.iter().map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_resource() {
    let source = source(&["a"]);
    let mut watch = watch(&source, "watch=1&timeoutSeconds=100");
    assert_eq!(next(&mut watch).await, Some(expected(&[("ADDED", "a")])));
    source.remove("a");
    source.retire();
    assert_eq!(next(&mut watch).await, Some(expected(&[("DELETED", "a")])));
    assert_eq!(next(&mut watch).await, None);
    assert!(source.clock().elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn initial_state_ends_with_a_requested_bookmark() {
    let source = source(&["a", "b"]);
    let all = "watch=1&allowWatchBookmarks=1&timeoutSeconds=100";
    let mut list = watch(&source, &format!("{all}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
    assert_eq!(next(&mut list).await, Some(expected(&[("ADDED", "a"), ("ADDED", "b"), ("BOOKMARK", "")])));
    label(&source, "c", "web");
    assert_eq!(next(&mut list).await, Some(expected(&[("ADDED", "c")])));
    assert_eq!(next(&mut list).await, Some(expected(&[("BOOKMARK", "")])), "after a minute");
    assert_eq!(next(&mut list).await, Some(expected(&[("BOOKMARK", "")])), "before the end");
    assert_eq!(next(&mut list).await, None);
    let mut plain = watch(&source, all);
    assert_eq!(next(&mut plain).await, Some(expected(&[("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")])));
}

#[tokio::test(start_paused = true)]
async fn initial_state_is_paged_at_one_version() {
    let names: Vec<String> = (0..=PAGE).map(|at| format!("m{at:05}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let source = source(&names);
    let mut watch = watch(&source, "watch=1");
    let mut seen = next(&mut watch).await.expect("a chunk");
    source.remove(names[PAGE]);
    label(&source, "later", "web");
    while seen.len() < names.len() + 2 {
        seen.extend(next(&mut watch).await.expect("more"));
    }
    let mut events: Vec<_> = names.iter().map(|name| ("ADDED", *name)).collect();
    events.extend([("DELETED", names[PAGE]), ("ADDED", "later")]);
    assert_eq!(seen, expected(&events));
    assert_eq!(watch.initial.as_slice().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_unread_watch_keeps_one_page_and_expires_with_its_version() {
    let names: Vec<String> = (0..=PAGE).map(|at| format!("m{at:05}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let source = source(&names);
    let mut watch = watch(&source, "watch=1");
    next(&mut watch).await.expect("a chunk");
    let last =
        Arc::downgrade(&source.get(CONFIG_MAPS, "n", names[PAGE]).expect("readable").expect("the last one"));
    source.remove(names[PAGE]);
    source.compact();
    assert!(last.upgrade().is_none(), "the watch still holds it");
    let mut seen = Vec::new();
    while let Some(events) = next(&mut watch).await {
        seen.extend(events);
    }
    assert_eq!(seen.last(), Some(&("ERROR".to_owned(), String::new())));
}

#[tokio::test(start_paused = true)]
async fn objects_that_stop_to_match_are_deleted() {
    let source = source(&["a"]);
    let version = source.version(CONFIG_MAPS);
    let mut watch = watch(
        &source,
        &format!("watch=1&labelSelector=app%3Dweb&resourceVersion={version}&timeoutSeconds=5"),
    );
    label(&source, "a", "api");
    assert_eq!(next(&mut watch).await, Some(expected(&[("DELETED", "a")])));
    label(&source, "a", "db");
    label(&source, "a", "web");
    assert_eq!(next(&mut watch).await, Some(expected(&[("ADDED", "a")])));
    source.remove("a");
    assert_eq!(next(&mut watch).await, Some(expected(&[("DELETED", "a")])));
    assert_eq!(next(&mut watch).await, None, "timeoutSeconds");
}

#[tokio::test(start_paused = true)]
async fn compacted_and_future_versions_are_errors_in_the_stream() {
    let source = source(&["a", "b"]);
    source.compact();
    let mut old = watch(&source, "watch=1&resourceVersion=1");
    assert_eq!(next(&mut old).await, Some(expected(&[("ERROR", "")])));
    assert_eq!(next(&mut old).await, None);
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let mut future = watch(&source, &format!("watch=1&resourceVersion=999&{initial}"));
    assert_eq!(next(&mut future).await, Some(expected(&[("ERROR", "")])));
}

#[tokio::test(start_paused = true)]
async fn changes_beyond_one_read_are_all_sent() {
    let source = source(&["a"]);
    let version = source.version(CONFIG_MAPS);
    let mut watch = watch(&source, &format!("watch=1&resourceVersion={version}"));
    for round in 0..=CHANGES_PER_READ * 2 {
        label(&source, "a", &round.to_string());
    }
    let mut count = 0;
    while count < CHANGES_PER_READ * 2 + 1 {
        count += next(&mut watch).await.expect("more").len();
    }
    assert_eq!(count, CHANGES_PER_READ * 2 + 1);
}
