//! Tests of the arguments of `kdelta index`.

use clap::Parser;

use super::*;
use crate::args::{Cli, Command};
use crate::settings::Environment;

/// Returns the settings of a command line.
pub(crate) fn read(line: &str) -> Result<Index, UsageError> {
    let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
    let Command::Index(args) = &cli.command else { panic!("{line}") };
    Index::read(
        args,
        Selection::read(
            &args.select,
            crate::settings::selection::TargetForm::Own,
            None,
            &Environment::default(),
        )?,
    )
}

#[test]
fn index_value_is_optional() {
    let index = read("index po --by label:app=a,b").expect("an index");
    assert_eq!(index.by, [By::parse("label:app=a,b").expect("a condition")]);
    assert!(
        matches!(read("index po --by node"), Ok(Index { by, .. }) if by[0].condition == Condition::Exists)
    );
    assert_eq!(read("index po --by node --by name!=a").expect("a table").by.len(), 2);
    assert_eq!(read("index po --by !node"), Err(UsageError::NoValues("!node".into())));
}

#[test]
fn aggregates_are_grouped_by_function() {
    let index = read("index po --by node --max a --sum b --sum c").expect("an index");
    let columns: Vec<_> =
        index.aggregates.iter().map(|column| (column.aggregate.name(), &*column.path)).collect();
    assert_eq!(columns, [("sum", "b"), ("sum", "c"), ("max", "a")]);
    let table = "index po --by node --by name --sum a --max b";
    assert_eq!(read(table), Err(UsageError::SeveralAggregates));
    assert!(read(&format!("{table} -o json")).is_ok());
}

#[test]
fn watch_has_an_end_but_no_result() {
    let index = read("index po --by node -w --duration 10").expect("a watch");
    assert_eq!((index.watch, index.duration), (true, Some(Duration::from_secs(10))));
    for (flags, error) in [
        ("-w --stats", UsageError::StatsOfAWatch),
        ("-w --fail-if-empty", UsageError::WatchIsNeverEmpty),
        ("--duration 1", UsageError::NeedsWatch("duration")),
    ] {
        assert_eq!(read(&format!("index po --by node {flags}")), Err(error), "{flags}");
    }
}

#[test]
fn watch_has_no_state_before() {
    let error = read("index po --by node -w --where object.a!=old.a").expect_err("no changes are printed");
    assert!(
        matches!(&error, UsageError::Expression { flag: "where", error } if error.column == 11),
        "{error}"
    );
    assert!(error.to_string().contains("only watch and get -w print changes"), "{error}");
    assert!(read("index po --by node -w --where object.a!=now").is_ok());
}

#[test]
fn order_by_an_aggregate_needs_it() {
    assert_eq!(read("index po --by node --sort-by sum"), Err(UsageError::SortedAggregate("sum")));
    let index = read("index po --by node --avg a --max b --max c --sort-by max").expect("an index");
    assert_eq!(index.ordering_aggregate(), Some(1));
}

#[test]
fn every_offered_format_is_read() {
    for format in INDEX_FORMATS.split(',') {
        assert!(read(&format!("index po --by node -o {format}")).is_ok(), "{format}");
    }
    let error = read("index po --by node -o wide").expect_err("no such format").to_string();
    assert!(error.ends_with("allowed formats are: csv,json,kyaml,markdown,name,yaml"), "{error}");
}

#[test]
fn largest_counts_come_first_with_top_unless_sorted() {
    for (flags, order, top) in [
        ("", CountOrder::Value, None),
        ("--top 3", CountOrder::Count, Some(3)),
        ("--top 3 --sort-by value", CountOrder::Value, Some(3)),
        ("--sort-by count", CountOrder::Count, None),
    ] {
        let index = read(&format!("index po --by node {flags}")).expect(flags);
        assert_eq!((index.order, index.top), (order, top), "{flags}");
    }
}
