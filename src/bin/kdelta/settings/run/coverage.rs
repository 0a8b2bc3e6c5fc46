//! The objects that a checkpoint or a recording covers, as the command line selects them.

use crate::args::{FileArgs, FilterArgs, RunArgs, SelectArgs};

/// A named part of the coverage, with its values.
pub(crate) type CoverageEntry = (&'static str, Vec<String>);

/// Returns the selection of objects on the command line. Two selections are the same if all entries are equal: the
/// checkpoint of other objects can't be continued.
pub(super) fn read(args: &RunArgs, namespace: Option<&str>) -> Vec<CoverageEntry> {
    let SelectArgs { resources, all_kinds, all_namespaces, namespace_selector, .. } = &args.select;
    let FileArgs { filename, kustomize, recursive } = &args.files;
    let namespace = if *all_namespaces { "*" } else { namespace.unwrap_or_default() };
    let collections = [
        ("types", resources.iter().cloned().chain(switch(*all_kinds, "--all-kinds")).collect()),
        ("files", filename.iter().cloned().chain(switch(*recursive, "--recursive")).collect()),
        ("kustomize", one(kustomize.as_ref())),
        ("namespaces", Some(namespace.to_owned()).filter(|text| !text.is_empty()).into_iter().collect()),
        ("namespace-selector", one(namespace_selector.as_ref())),
    ];
    let given = collections.into_iter().filter(|(_, values): &CoverageEntry| !values.is_empty());
    given.chain(selectors(&args.select, &args.index.by)).collect()
}

/// Returns the selectors of objects in a collection.
pub(in crate::settings) fn selectors(args: &SelectArgs, by: &[String]) -> Vec<CoverageEntry> {
    let SelectArgs {
        resources: _,
        all_kinds: _,
        all_namespaces: _,
        namespace_selector: _,
        selector,
        field_selector,
        cached: _,
        chunk_size: _,
        list_mode: _,
        filter,
    } = args;
    let FilterArgs { older_than, newer_than, restarted_within, status, ready, not_ready, name, expressions } =
        filter;
    let all: Vec<CoverageEntry> = vec![
        ("selector", selector.iter().filter(|text| !text.is_empty()).cloned().collect()),
        ("field-selector", one(field_selector.as_ref())),
        ("by", by.to_vec()),
        ("older-than", one(older_than.as_ref())),
        ("newer-than", one(newer_than.as_ref())),
        ("restarted-within", one(restarted_within.as_ref())),
        ("status", status.clone()),
        ("readiness", switch(*ready, "ready").chain(switch(*not_ready, "not-ready")).collect()),
        ("name", name.clone()),
        ("where", expressions.clone()),
    ];
    all.into_iter().filter(|(_, values)| !values.is_empty()).collect()
}

fn one(text: Option<&String>) -> Vec<String> {
    text.filter(|text| !text.is_empty()).into_iter().cloned().collect()
}

fn switch(is_given: bool, flag: &str) -> impl Iterator<Item = String> + use<> {
    is_given.then(|| flag.to_owned()).into_iter()
}
