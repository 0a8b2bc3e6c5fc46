//! `kdelta wait` on a real server: scenarios of what users complained about, each also with `kubectl wait`, and the table of
//! both in `docs/wait.md`.

mod inputs;
mod outcomes;
mod runs;
mod scenarios;
mod short_states;
mod stage;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use scenarios::Scenario;

/// The number of scenarios that there must be at least.
const AT_LEAST: usize = 40;
/// The scenarios that run at once: most of their time they wait.
const AT_ONCE: usize = 6;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn scenarios_end_as_documented() {
    let scenarios = scenarios::all();
    assert!(scenarios.len() >= AT_LEAST, "{} scenarios", scenarios.len());
    let (next, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let found = runs::problems(scenario);
                    problems.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let problems = problems.into_inner().expect("no panic");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn documented_table_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/wait.md");
    let text = fs::read_to_string(&file).expect("docs/wait.md");
    let (begin, end) = ("<!-- scenarios -->\n", "<!-- end of scenarios -->\n");
    let (before, rest) = text.split_once(begin).expect("the start of the table");
    let (found, after) = rest.split_once(end).expect("the end of the table");
    let table = table(&scenarios::all());
    if std::env::var_os("KDELTA_UPDATE_SNAPSHOTS").is_some() {
        fs::write(&file, format!("{before}{begin}{table}{end}{after}")).expect("docs/wait.md");
        return;
    }
    assert_eq!(found, table, "set KDELTA_UPDATE_SNAPSHOTS=1 to write the table");
}

/// Returns the scenarios as a table.
fn table(scenarios: &[Scenario]) -> String {
    let mut text =
        "| Request | Scenario | `kubectl wait` | `kdelta wait` | `kdelta` ends with |\n".to_owned();
    text.push_str("|---|---|---|---|---|\n");
    let cell = |text: &str| text.replace('|', "\\|");
    for one in scenarios {
        let arguments = one.kdelta.replace("{ns}", "NS").replace("{other}", "NS2");
        let cells = [
            one.complaint.to_owned(),
            one.text.to_owned(),
            cell(&one.kubectl_ends.cell()),
            format!("`{}`", cell(&arguments)),
            cell(&one.kdelta_ends.cell()),
        ];
        text.push_str("| ");
        text.push_str(&cells.join(" | "));
        text.push_str(" |\n");
    }
    text
}
