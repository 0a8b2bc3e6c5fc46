//! Tests of the conditions of a command line.

use clap::Parser;

use super::*;
use crate::args::{Cli, Command};
use crate::settings::By;

/// Returns the filter and the `--by` conditions of flags.
pub(crate) fn filter_of(flags: &str) -> (ObjectFilter, Vec<By>) {
    let line = format!("get pods {flags}");
    let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(flags);
    let Command::Get(args) = &cli.command else { panic!("{flags}") };
    let by = args.objects.index.by.iter().map(|text| By::parse(text).expect(text));
    (read(&line).expect(flags), by.collect())
}

fn read(line: &str) -> Result<ObjectFilter, UsageError> {
    let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
    let Command::Get(args) = &cli.command else { panic!("{line}") };
    ObjectFilter::read(&args.objects.select.filter, args.watch)
}

#[test]
fn each_flag_is_a_condition() {
    let filter = read("get po --older-than 2d --newer-than 3d4h").expect("ages");
    let (two_days, more) = (Duration::from_hours(48), Duration::from_hours(76));
    assert_eq!(filter.conditions, [FilterCondition::OlderThan(two_days), FilterCondition::NewerThan(more)]);
    assert_eq!(filter.first_flag(), Some("older-than"));
    assert!(read("get po").expect("no filter").is_empty());
}

#[test]
fn filter_reads_what_any_condition_reads() {
    for (flags, part) in [
        ("--newer-than 1h", ObjectPart::Metadata),
        ("--newer-than 1h --restarted-within 1h", ObjectPart::Body),
        ("--where object.metadata.name=='a'", ObjectPart::Metadata),
        ("--where object.metadata.name=='a' --where has(object.spec.b)", ObjectPart::Body),
        ("--where object.kind=='Pod'", ObjectPart::Body),
        ("--where 1<2", ObjectPart::Nothing),
        ("--where object==null||true", ObjectPart::Body),
        ("-w --where old.metadata.name=='a'", ObjectPart::Body),
    ] {
        let line = format!("get pods {flags}");
        assert_eq!(read(&line).expect(flags).needs(), FilterNeeds::part(part), "{flags}");
    }
}

#[test]
fn invalid_ages_name_their_flag() {
    let error = read("get po --newer-than 5").expect_err("no unit").to_string();
    assert_eq!(error, r#"invalid --newer-than: time: missing unit in duration "5""#);
    assert!(read("get po --older-than=-1h").is_err());
}

#[test]
fn expressions_on_the_state_before_select_changes() {
    let filter =
        read("get pods -w --where old!=null --where object.metadata.name=='a'").expect("expressions");
    assert_eq!((filter.conditions().len(), filter.of_changes().len()), (1, 1));
    let filter = read("get pods -w --where old!=null").expect("an expression");
    assert!(!filter.is_empty() && filter.first_flag() == Some("where"));
    let error = read("get pods --where old!=null").expect_err("no watch").to_string();
    let expected = "invalid --where: line 1, column 1: unknown variable \"old\"\n  old!=null\n  ^";
    assert_eq!(error, expected);
}
