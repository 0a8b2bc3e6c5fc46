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
    Selectors::read(&args.objects.select, args.watch).map(|selectors| selectors.filter)
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
    for (flags, content) in [
        ("--name web-*", ObjectContent::Name),
        ("--name web-* --newer-than 1h", ObjectContent::Metadata),
        ("-l a=b -l c=d", ObjectContent::Metadata),
        ("--not-ready", ObjectContent::Body),
        ("--newer-than 1h", ObjectContent::Metadata),
        ("--newer-than 1h --restarted-within 1h", ObjectContent::Body),
        ("--where object.metadata.name=='a'", ObjectContent::Metadata),
        ("--where object.metadata.name=='a' --where has(object.spec.b)", ObjectContent::Body),
        ("--where object.kind=='Pod'", ObjectContent::Body),
        ("--where 1<2", ObjectContent::Nothing),
        ("--where object==null||true", ObjectContent::Body),
        ("-w --where old.metadata.name=='a'", ObjectContent::Body),
    ] {
        let line = format!("get pods {flags}");
        assert_eq!(read(&line).expect(flags).needs(), FilterNeeds::content(content), "{flags}");
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
    let expected = "invalid --where: line 1, column 1: old is the state before a change, and only watch and get -w \
                    print changes\n  old!=null\n  ^";
    assert_eq!(error, expected);
}

fn selectors(selector: &str) -> Result<Selectors, UsageError> {
    let cli = Cli::try_parse_from(["kdelta", "get", "pods", "--field-selector", selector]).expect(selector);
    let Command::Get(args) = cli.command else { panic!("{selector}") };
    Selectors::read(&args.objects.select, false)
}

#[test]
fn terms_of_the_server_are_sent_to_it() {
    let both = selectors("spec.nodeName in (a,b),status.phase!=Failed,metadata.generation>1").expect("terms");
    assert_eq!(both.fields.as_deref(), Some("status.phase!=Failed"));
    assert_eq!(both.filter.needs(), FilterNeeds::content(ObjectContent::Body));
    let local = selectors("metadata.generation>1").expect("a term");
    assert_eq!((local.fields, local.filter.needs()), (None, FilterNeeds::content(ObjectContent::Metadata)));
    let server = selectors(r"a=b\\,c,d==e").expect("terms");
    assert_eq!(server.fields.as_deref(), Some(r"a=b\\,c,d==e"));
    assert!(server.filter.is_empty());
    assert!(matches!(selectors("a in (b"), Err(UsageError::Fields(_))));
}

#[test]
fn status_is_compared_in_lower_case() {
    let filter = read("get po --status CrashLoopBackOff,Init:* --status Pending").expect("texts");
    let expected = ["crashloopbackoff", "init:*", "pending"].map(Pattern::new);
    assert_eq!(filter.conditions, [FilterCondition::Status(expected.into())]);
    assert!(filter.needs().cells);
    assert_eq!(read("get po --status ,"), Err(UsageError::NoStatus));
}

#[test]
fn ready_and_not_ready_exclude_each_other() {
    assert_eq!(read("get po --ready").expect("a flag").conditions, [FilterCondition::Ready(true)]);
    assert_eq!(read("get po --not-ready").expect("a flag").conditions, [FilterCondition::Ready(false)]);
    assert_eq!(read("get po --ready --not-ready"), Err(UsageError::ReadyAndNot));
}
