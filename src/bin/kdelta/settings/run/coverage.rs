//! The objects that a checkpoint covers, as the command line selects them.

use crate::args::{FileArgs, FilterArgs, RunArgs, SelectArgs};

/// A named part of the coverage, with its values.
pub(crate) type CoverageEntry = (&'static str, Vec<String>);

/// Returns the selection of objects on the command line. Two selections are the same if all entries are equal: the
/// checkpoint of other objects can't be continued.
pub(super) fn read(args: &RunArgs, namespace: Option<&str>) -> Vec<CoverageEntry> {
    let SelectArgs {
        resources,
        all_kinds,
        all_namespaces,
        namespace_selector,
        selector,
        field_selector,
        cached: _,
        chunk_size: _,
        list_mode: _,
        filter,
    } = &args.select;
    let FilterArgs { older_than, newer_than, restarted_within, status, ready, not_ready, name, expressions } =
        filter;
    let FileArgs { filename, kustomize, recursive } = &args.files;
    let one = |text: &Option<String>| text.iter().filter(|text| !text.is_empty()).cloned().collect();
    let switch = |is_given: bool, flag: &str| is_given.then(|| flag.to_owned()).into_iter();
    let namespace = if *all_namespaces { "*" } else { namespace.unwrap_or_default() };
    let all: Vec<CoverageEntry> = vec![
        ("types", resources.iter().cloned().chain(switch(*all_kinds, "--all-kinds")).collect()),
        ("files", filename.iter().cloned().chain(switch(*recursive, "--recursive")).collect()),
        ("kustomize", one(kustomize)),
        ("namespaces", Some(namespace.to_owned()).filter(|text| !text.is_empty()).into_iter().collect()),
        ("namespace-selector", one(namespace_selector)),
        ("selector", selector.iter().filter(|text| !text.is_empty()).cloned().collect()),
        ("field-selector", one(field_selector)),
        ("by", args.index.by.clone()),
        ("older-than", one(older_than)),
        ("newer-than", one(newer_than)),
        ("restarted-within", one(restarted_within)),
        ("status", status.clone()),
        ("readiness", switch(*ready, "ready").chain(switch(*not_ready, "not-ready")).collect()),
        ("name", name.clone()),
        ("where", expressions.clone()),
    ];
    all.into_iter().filter(|(_, values)| !values.is_empty()).collect()
}
