//! `index` with several indices, aggregates and `-w`, on the demo.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{Kdelta, TestEnv};

/// Returns a command on the same demo each time.
fn on_demo(env: &TestEnv, words: &[&str]) -> Kdelta {
    let call = env.kdelta(&[words, &["--demo", "--speed", "0.0001"]].concat());
    call.env("KDELTA_DEMO_SEED", "7")
}

fn printed(words: &[&str]) -> String {
    on_demo(&TestEnv::new(), words).finish().quiet_success()
}

fn pods() -> Vec<Value> {
    let list: Value = serde_json::from_str(&printed(&["get", "pods", "-A", "-o", "json"])).expect("JSON");
    list["items"].as_array().expect("items").clone()
}

#[test]
fn table_of_two_indices_has_totals() {
    let mut cells: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut counted = 0;
    for pod in pods() {
        let (node, phase) = (pod["spec"]["nodeName"].as_str(), pod["status"]["phase"].as_str());
        let (Some(node), Some(phase)) = (node, phase) else { continue };
        counted += 1;
        for node in [node, "TOTAL"] {
            for phase in [phase, "TOTAL"] {
                *cells.entry((node.to_owned(), phase.to_owned())).or_default() += 1;
            }
        }
    }
    assert!(counted > 0);
    let words = ["index", "pods", "-A", "--by", "node", "--by", "field:status.phase"];
    let table = printed(&words);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].first(), Some(&"NODE"));
    let mut found = BTreeMap::new();
    for row in &rows[1..] {
        for (phase, count) in rows[0][1..].iter().zip(&row[1..]) {
            let count: usize = count.parse().expect("a count");
            if count > 0 {
                found.insert((row[0].to_owned(), (*phase).to_owned()), count);
            }
        }
    }
    assert_eq!(found, cells, "{table}");
    let csv = printed(&[&words[..], &["-o", "csv"]].concat());
    let csv: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(csv, rows);
    let top = printed(&[&words[..], &["--top", "1", "--no-headers"]].concat());
    assert_eq!(top.lines().count(), 2, "a row and the totals: {top}");
}

#[test]
fn aggregates_are_quantities_in_tables_and_numbers_in_documents() {
    let path = "spec.containers[*].resources.requests.cpu";
    let mut cores: BTreeMap<String, u64> = BTreeMap::new();
    for pod in pods() {
        for container in pod["spec"]["containers"].as_array().expect("containers") {
            let Some(cpu) = container["resources"]["requests"]["cpu"].as_str() else { continue };
            let milli = cpu.strip_suffix('m').expect("a quantity in thousandths");
            let namespace = pod["metadata"]["namespace"].as_str().expect("a namespace").to_owned();
            *cores.entry(namespace).or_default() += milli.parse::<u64>().expect("a number");
        }
    }
    let words = ["index", "pods", "-A", "--by", "namespace", "--sum", path];
    let table = printed(&words);
    let header: Vec<&str> = table.lines().next().expect("a header").split_whitespace().collect();
    assert_eq!(header, ["VALUE", "COUNT", "SUM(CPU)"]);
    let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let sums: BTreeMap<String, String> =
        rows.filter(|row| row.len() > 2).map(|row| (row[0].to_owned(), row[2].to_owned())).collect();
    let quantity = |milli: u64| {
        if milli.is_multiple_of(1000) { (milli / 1000).to_string() } else { format!("{milli}m") }
    };
    assert_eq!(sums, cores.iter().map(|(namespace, milli)| (namespace.clone(), quantity(*milli))).collect());
    let json: Value = serde_json::from_str(&printed(&[&words[..], &["-o", "json"]].concat())).expect("JSON");
    for value in json["values"].as_array().expect("values") {
        let milli = value["sum"][path].as_f64().map(|cores| (cores * 1000.0).round());
        let expected = cores.get(value["value"].as_str().expect("a value"));
        assert_eq!(milli.map(|milli| milli.to_string()), expected.map(ToString::to_string), "{value}");
    }
    let largest = printed(&[&words[..], &["--sort-by", "sum", "-o", "name"]].concat());
    let most = cores.values().max().expect("some");
    assert_eq!(largest.lines().next().map(|namespace| &cores[namespace]), Some(most));
}

#[test]
fn values_without_numbers_are_reported() {
    let words = ["index", "pods", "-A", "--by", "node", "--max", "metadata.name"];
    let done = on_demo(&TestEnv::new(), &words).finish();
    assert_eq!(done.code, 0);
    let warning = "have a value at metadata.name that is no number\n";
    assert!(done.stderr.starts_with("Warning: ") && done.stderr.ends_with(warning), "{}", done.stderr);
    let secret = ["index", "secrets", "-A", "--by", "namespace", "--max", "data.token"];
    let done = on_demo(&TestEnv::new(), &secret).finish();
    assert_eq!(done.stderr, "Warning: the data of Secrets is not aggregated without --show-secrets\n");
}

#[test]
fn live_groups_begin_with_the_current_ones() {
    let words = ["index", "pods", "-A", "--by", "namespace"];
    let (table, csv) = (printed(&words), printed(&[&words[..], &["-o", "csv"]].concat()));
    let live = |flags: &[&str]| printed(&[&words[..], &["-w", "--duration", "2"], flags].concat());
    assert_eq!(live(&[]), table);
    assert_eq!(live(&["-o", "csv"]), csv);
    let names: Vec<String> = live(&["-o", "name"]).lines().map(str::to_owned).collect();
    assert_eq!(names.len(), table.lines().count() - 1);
    for text in live(&["-o", "json"]).lines() {
        let group: Value = serde_json::from_str(text).expect("a JSON line");
        assert!(group["count"].as_u64() > Some(0) && group["index"] == "namespace", "{text}");
    }
}

#[test]
fn live_table_is_drawn_in_place_on_a_terminal() {
    let words = ["index", "pods", "-A", "--by", "node", "-w", "--duration", "3", "--demo", "--speed", "200"];
    let screen = TestEnv::new().kdelta(&words).at_a_terminal().finish_at_a_terminal();
    assert!(screen.contains("VALUE") && screen.contains('█'), "{screen:?}");
    assert!(screen.contains("\u{1b}[J"), "the table was drawn again: {screen:?}");
    assert!(screen.trim_end().ends_with("0 relists"), "the summary is below the table: {screen:?}");
}
