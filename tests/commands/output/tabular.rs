//! CSV, Markdown and the formats of `index`, on the demo.

use serde_json::Value;

use crate::support::{TestEnv, eventually};

/// Returns the output of a command on the same demo each time.
fn printed(words: &[&str]) -> String {
    let env = TestEnv::new();
    let call = env.kdelta(&[words, &["--demo", "--speed", "0.0001"]].concat());
    call.env("KDELTA_DEMO_SEED", "7").finish().quiet_success()
}

/// Returns the cells of a table. Its columns are separated by three blanks, and no cell is empty.
fn table_cells(table: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        line.split("   ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    table.lines().map(cells).collect()
}

/// Returns the fields of CSV without line breaks in fields.
fn csv_fields(csv: &str) -> Vec<Vec<String>> {
    let line = |line: &str| {
        let (mut fields, mut quoted) = (vec![String::new()], false);
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            let field = fields.last_mut().expect("a field");
            match c {
                '"' if quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => field.push(c),
            }
        }
        fields
    };
    csv.lines().map(line).collect()
}

#[test]
fn csv_has_the_cells_of_the_table() {
    for words in [
        &["get", "deploy", "-A"][..],
        &["get", "pods", "-A", "--show-labels", "--sort-by", ".metadata.name"],
        &["get", "deploy", "-n", "shop", "-L", "app", "--show-kind"],
        &["get", "pods", "-n", "shop", "--no-headers"],
        &["get", "nodes", "--by", "name=worker-1"],
    ] {
        // An age may become longer between the two calls; then they are repeated.
        eventually(&format!("equal cells of {words:?}"), || {
            let (table, csv) = (printed(words), printed(&[words, &["-o", "csv"]].concat()));
            (csv_fields(&csv) == table_cells(&table)).then_some(())
        });
    }
    let wide = printed(&["get", "nodes", "-o", "csv-wide"]);
    assert!(wide.starts_with("NAME,STATUS,ROLES,AGE,VERSION,INTERNAL-IP,EXTERNAL-IP,OS-IMAGE,"), "{wide}");
    let labels = printed(&["get", "deploy", "web", "-o", "csv", "--show-labels"]);
    assert!(labels.lines().next().is_some_and(|head| head.ends_with(",LABELS")), "{labels}");
}

#[test]
fn each_type_is_a_block_of_its_own() {
    let csv = printed(&["get", "nodes,ns", "-o", "csv"]);
    let blocks: Vec<_> = csv.split("\n\n").collect();
    assert_eq!(blocks.len(), 2, "{csv}");
    assert!(
        blocks[0].starts_with("NAME,STATUS,ROLES,AGE,VERSION\nnode/control-1,Ready,control-plane,"),
        "{csv}"
    );
    assert!(blocks[1].starts_with("NAME,STATUS,AGE\nnamespace/default,Active,"), "{csv}");
    let markdown = printed(&["get", "nodes,ns", "-o", "markdown"]);
    let head = "| NAME | STATUS | ROLES | AGE | VERSION |\n| --- | --- | --- | --- | --- |\n| node/control-1 | Ready | control-plane |";
    assert!(markdown.starts_with(head), "{markdown}");
    assert!(
        markdown.contains(" | \\<none\\> | ") && markdown.contains("\n\n| NAME | STATUS | AGE |\n"),
        "{markdown}"
    );
}

#[test]
fn watch_prints_csv_with_the_event() {
    let csv = printed(&["watch", "nodes", "--until-synced", "-o", "csv"]);
    assert!(
        csv.starts_with("EVENT,NAME,STATUS,ROLES,AGE,VERSION\nADDED,control-1,Ready,control-plane,"),
        "{csv}"
    );
    let env = TestEnv::new();
    let error = env.kdelta(&["watch", "nodes", "--demo", "-o", "csv", "--changes"]).finish().failure(2);
    assert!(error.starts_with("error: --changes needs a table or -o json\n"), "{error}");
}

#[test]
fn counts_of_an_index_have_each_format() {
    let index = |flags: &[&str]| printed(&[&["index", "pods", "-A", "--by", "namespace"], flags].concat());
    let table = table_cells(&index(&[]));
    assert_eq!(table[0], ["VALUE", "COUNT"]);
    assert_eq!(csv_fields(&index(&["-o", "csv"])), table);
    assert_eq!(csv_fields(&index(&["-o", "csv", "--no-headers"])), table[1..]);
    let names: Vec<String> = index(&["-o", "name"]).lines().map(str::to_owned).collect();
    assert_eq!(names, table[1..].iter().map(|row| row[0].clone()).collect::<Vec<_>>());
    let json: Value = serde_json::from_str(&index(&["-o", "json"])).expect("JSON");
    assert_eq!(json["index"], "namespace");
    let counts = json["values"].as_array().expect("a list");
    let shown: Vec<Vec<String>> = counts
        .iter()
        .map(|row| vec![row["value"].as_str().expect("a value").to_owned(), row["count"].to_string()])
        .collect();
    assert_eq!(shown, table[1..]);
    let yaml: Value = serde_saphyr::from_str(&index(&["-o", "yaml"])).expect("YAML");
    assert_eq!(yaml, json);
    assert!(index(&["-o", "markdown"]).starts_with("| VALUE | COUNT |\n| --- | --- |\n| "), "Markdown");
}

#[test]
fn counts_are_sorted_and_limited() {
    let index = |flags: &[&str]| {
        let csv = printed(
            &[&["index", "pods", "-A", "--by", "namespace", "-o", "csv", "--no-headers"], flags].concat(),
        );
        csv_fields(&csv)
            .into_iter()
            .map(|row| (row[0].clone(), row[1].parse().expect("a count")))
            .collect::<Vec<(String, u32)>>()
    };
    let all = index(&[]);
    assert!(all.len() > 3 && all.is_sorted(), "{all:?}");
    let mut largest = all.clone();
    largest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    assert_eq!(index(&["--sort-by", "count"]), largest);
    assert_eq!(index(&["--top", "2"]), largest[..2]);
    let mut top = largest[..3].to_vec();
    top.sort();
    assert_eq!(index(&["--top", "3", "--sort-by", "value"]), top);
    assert_eq!(index(&["--sort-by", "value"]), all);
}

#[test]
fn bars_are_for_terminals() {
    let env = TestEnv::new();
    let words = ["index", "pods", "-A", "--by", "namespace", "--demo", "--speed", "0.0001"];
    let piped = env.kdelta(&words).env("KDELTA_DEMO_SEED", "7").finish().quiet_success();
    assert!(!piped.contains('█'), "{piped}");
    let shown = env.kdelta(&words).env("KDELTA_DEMO_SEED", "7").at_a_terminal().finish_at_a_terminal();
    let bars: Vec<usize> = shown.lines().map(|line| line.matches('█').count()).collect();
    assert_eq!(bars.iter().max(), Some(&40), "{shown}");
    assert_eq!(bars[0], 0, "the header has none: {shown}");
    let widest = shown.lines().map(|line| line.trim_end().chars().count()).max();
    assert!(widest.is_some_and(|widest| widest <= 80), "{shown}");
}
