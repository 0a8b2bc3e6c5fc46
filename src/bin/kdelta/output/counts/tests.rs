//! Groups in each format.

use std::sync::Arc;

use kdelta::query::{Aggregate, Groups, Member, Number};

use super::*;
use crate::output::DelimitedFormat;
use crate::output::typed::TypedFormat;

fn columns(indices: &[&str]) -> GroupColumns {
    GroupColumns {
        indices: indices.iter().map(|index| (*index).to_owned()).collect(),
        ..GroupColumns::default()
    }
}

fn options(format: CountFormat) -> CountOptions {
    CountOptions { order: GroupOrder::Value, top: None, format, headers: true }
}

fn written(columns: &GroupColumns, groups: &[GroupCount], options: &CountOptions) -> String {
    let mut out = Vec::new();
    write_counts(columns, groups.to_vec(), options, &mut out).expect("a Vec takes all");
    String::from_utf8(out).expect("text")
}

fn count(value: &str, count: usize) -> GroupCount {
    GroupCount::of_value(0, value, count)
}

const TABLE: CountFormat = CountFormat::Table { bars_to: None, meaning: None };
const JSON: CountFormat = CountFormat::Documents { format: TypedFormat::Json, for_terminal: false };
const YAML: CountFormat = CountFormat::Documents { format: TypedFormat::Yaml, for_terminal: false };
const CSV: CountFormat = CountFormat::Delimited(DelimitedFormat::Csv);
const MARKDOWN: CountFormat = CountFormat::Delimited(DelimitedFormat::Markdown);

#[test]
fn document_names_the_index() {
    let columns = columns(&["node"]);
    assert_eq!(
        written(&columns, &[count("a", 3)], &options(JSON)),
        "{\n    \"index\": \"node\",\n    \"values\": [\n        {\n            \"count\": 3,\n            \"value\": \"a\"\n        }\n    ]\n}\n"
    );
    assert_eq!(
        written(&columns, &[], &options(JSON)),
        "{\n    \"index\": \"node\",\n    \"values\": []\n}\n"
    );
    let two = GroupColumns { contexts: Some(vec!["prod".into()]), ..columns };
    assert_eq!(
        written(&two, &[count("a", 3)], &options(YAML)),
        "index: node\nvalues:\n- context: prod\n  count: 3\n  value: a\n"
    );
}

#[test]
fn values_are_lines_rows_and_bars() {
    let columns = columns(&["node"]);
    let counts = [count("a,b\nc", 10), count("d", 5)];
    let without_header = |format| CountOptions { headers: false, ..options(format) };
    assert_eq!(written(&columns, &counts, &options(CountFormat::Names)), "a,b\\nc\nd\n");
    assert_eq!(written(&columns, &counts, &options(CSV)), "VALUE,COUNT\n\"a,b\\nc\",10\nd,5\n");
    assert_eq!(written(&columns, &counts, &without_header(CSV)), "\"a,b\\nc\",10\nd,5\n");
    assert_eq!(
        written(&columns, &counts, &options(TABLE)),
        "VALUE    COUNT\na,b...      10\nd            5\n"
    );
    let bars = CountFormat::Table { bars_to: Some(21), meaning: None };
    assert_eq!(
        written(&columns, &counts, &options(bars.clone())),
        "VALUE    COUNT\na,b...      10   ████\nd            5   ██\n"
    );
    assert_eq!(
        written(&columns, &counts, &without_header(bars.clone())),
        "a,b...      10   ████\nd            5   ██\n"
    );
    assert_eq!(written(&columns, &[], &options(bars)), "");
}

/// Returns pods as `node app memory`, in the groups of both indices with the sum and the largest of their memory.
fn pods(lines: &[&str], indices: usize, aggregates: &[Aggregate]) -> (GroupColumns, Vec<GroupCount>) {
    let names = ["node", "label:example.com/app"];
    let heading = |aggregate: &Aggregate| AggregateHeading {
        aggregate: *aggregate,
        path: "spec.containers[*].resources.requests.memory".into(),
    };
    let columns = GroupColumns {
        indices: names.iter().take(indices).map(|name| (*name).to_owned()).collect(),
        aggregates: aggregates.iter().map(heading).collect(),
        contexts: None,
    };
    let mut groups = Groups::default();
    for (at, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let values = words[..indices].iter().map(|word| vec![Arc::from(*word)]).collect();
        let numbers = vec![Number::parse(words[2]).into_iter().collect()];
        groups.set(at, Some(Member::new(0, values, numbers).expect("few")));
    }
    let paths = vec![0; aggregates.len()];
    let counts = groups.iter().map(|(key, group)| GroupCount::of(key, group, &columns, &paths)).collect();
    (columns, counts)
}

const PODS: [&str; 4] = ["n1 web 1Gi", "n1 db 2Gi", "n2 web 512Mi", "n1 web none"];

#[test]
fn aggregates_are_columns_of_a_single_index() {
    let (columns, counts) = pods(&PODS, 1, &[Aggregate::Sum, Aggregate::Max]);
    assert_eq!(
        written(&columns, &counts, &options(TABLE)),
        "VALUE   COUNT   SUM(MEMORY)   MAX(MEMORY)\n\
         n1          3           3Gi           2Gi\n\
         n2          1         512Mi         512Mi\n"
    );
    let path = "spec.containers[*].resources.requests.memory";
    assert_eq!(
        written(&columns, &counts, &options(CSV)),
        format!(
            "VALUE,COUNT,sum({path}),max({path})\nn1,3,3221225472,2147483648\nn2,1,536870912,536870912\n"
        )
    );
    let json: serde_json::Value =
        serde_json::from_str(&written(&columns, &counts, &options(JSON))).expect("JSON");
    let n1 = serde_json::json!({
        "value": "n1", "count": 3, "sum": {path: 3_221_225_472_u64}, "max": {path: 2_147_483_648_u64},
    });
    assert_eq!(json["values"][0], n1);
}

#[test]
fn order_and_top_use_the_measure() {
    let (columns, counts) = pods(&["n1 a 1", "n2 a 3500m", "n2 a none", "n3 a 0.5"], 1, &[Aggregate::Sum]);
    let values = |order, top| {
        let options = CountOptions { order, top, ..options(CountFormat::Names) };
        written(&columns, &counts, &options).replace('\n', " ")
    };
    let by_sum = GroupOrder::Measure(Measure::Aggregate(0));
    assert_eq!(values(by_sum, None), "n2 n1 n3 ");
    assert_eq!(values(by_sum, Some(1)), "n2 ");
    assert_eq!(values(GroupOrder::Measure(Measure::Count), None), "n2 n1 n3 ");
    assert_eq!(values(GroupOrder::Value, Some(2)), "n1 n2 ", "the largest, in the order of values");
}

#[test]
fn several_indices_make_a_table_with_totals() {
    let (columns, counts) = pods(&PODS, 2, &[]);
    assert_eq!(
        written(&columns, &counts, &options(TABLE)),
        "NODE    db   web   TOTAL\n\
         n1       1     2       3\n\
         n2       0     1       1\n\
         TOTAL    1     3       4\n"
    );
    let largest = CountOptions { order: GroupOrder::Measure(Measure::Count), ..options(MARKDOWN) };
    assert_eq!(
        written(&columns, &counts, &largest),
        "| NODE | web | db | TOTAL |\n| --- | --- | --- | --- |\n\
         | n1 | 2 | 1 | 3 |\n| n2 | 1 | 0 | 1 |\n| TOTAL | 3 | 1 | 4 |\n"
    );
    let names = written(&columns, &counts, &options(CountFormat::Names));
    assert_eq!(names, "n1\tdb\nn1\tweb\nn2\tweb\n");
    let (columns, counts) = pods(&PODS, 2, &[Aggregate::Sum]);
    assert_eq!(
        written(&columns, &counts, &options(TABLE)),
        "NODE     db      web    TOTAL\n\
         n1      2Gi      1Gi      3Gi\n\
         n2             512Mi    512Mi\n\
         TOTAL   2Gi   1536Mi   3584Mi\n"
    );
}

#[test]
fn document_of_a_table_has_cells_and_totals() {
    let (columns, counts) = pods(&PODS, 2, &[Aggregate::Sum]);
    let json: serde_json::Value =
        serde_json::from_str(&written(&columns, &counts, &options(JSON))).expect("JSON");
    let path = "spec.containers[*].resources.requests.memory";
    assert_eq!(json["indices"], serde_json::json!(["node", "label:example.com/app"]));
    let cell = serde_json::json!({
        "values": {"node": "n1", "label:example.com/app": "web"}, "count": 2, "sum": {path: 1_073_741_824},
    });
    assert_eq!(json["cells"][1], cell);
    assert_eq!(json["rows"][1]["values"], serde_json::json!({"node": "n2"}));
    assert_eq!(json["columns"][1]["count"], 3);
    assert_eq!(json["totals"].as_array().map(Vec::len), Some(1));
}

#[test]
fn each_context_has_its_rows_and_a_total() {
    let mut groups = Groups::default();
    let of = |scope, node: &str| Member::new(scope, vec![vec![node.into()], vec!["a".into()]], Vec::new());
    for (at, (scope, node)) in [(1, "n1"), (0, "n1"), (0, "n2")].into_iter().enumerate() {
        groups.set(at, Some(of(scope, node).expect("few")));
    }
    let contexts = Some(vec!["one".to_owned(), "two".to_owned()]);
    let columns = GroupColumns { contexts, ..columns(&["node", "label:app"]) };
    let counts: Vec<_> =
        groups.iter().map(|(key, group)| GroupCount::of(key, group, &columns, &[])).collect();
    assert_eq!(
        written(&columns, &counts, &options(CSV)),
        "CONTEXT,NODE,a,TOTAL\none,n1,1,1\none,n2,1,1\none,TOTAL,2,2\ntwo,n1,1,1\ntwo,TOTAL,1,1\n"
    );
}

#[test]
fn headings_are_values_and_are_escaped() {
    let (columns, counts) = pods(&["n1 \u{1b}[31mred 1"], 2, &[]);
    assert_eq!(written(&columns, &counts, &options(TABLE)).lines().next(), Some("NODE    ^[[31mred   TOTAL"));
}
