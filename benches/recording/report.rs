//! Prints the measurements, and whether the targets are met.

use std::path::Path;

use kdelta::recording::{Recording, Usage};

use crate::generator::START;
use crate::read::Question;
use crate::record::Written;

/// Prints the costs of writing.
pub(crate) fn written(written: &Written, parsed: &Written, seconds: f64) {
    let Written { versions, listed, cpu, peak, base, longest } = *written;
    println!("{versions:.0} versions after {listed:.0} listed objects, in {seconds:.0} s");
    let each = |cpu: f64| cpu * 1e6 / versions;
    println!(
        "CPU per version: {:.1} µs, and {:.1} µs to read and parse it",
        each(cpu - parsed.cpu),
        each(parsed.cpu)
    );
    println!("longest change with a flush: {longest:.1} ms");
    println!("peak memory: {peak:.1} MB; {:.1} MB to parse only; {base:.1} MB before", parsed.peak);
    target("CPU at 20.2 changes a second, % of a core", each(cpu - parsed.cpu) * 20.2 / 1e4, 0.3);
    target("peak memory of the writer, MB", peak, 64.0);
}

/// Prints the sizes by type and part.
pub(crate) fn sizes(dir: &Path, hours: u32) {
    let usage = Recording::open(dir).and_then(|recording| recording.usage()).expect("a recording");
    let Usage { files, bytes, journal_bytes, other_bytes, entries, types, .. } = &usage;
    let number = |count: u64| u32::try_from(count).map_or(f64::NAN, f64::from);
    let all = number(*entries);
    println!("{files} files, {bytes} bytes, {entries} entries");
    println!("bytes per version of the type:");
    println!(
        "{:<16} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}",
        "", "versions", "bodies", "rows", "columns", "names", "keyframes", "total"
    );
    let mut sums = [0.0; 5];
    for of_type in types {
        let parts = [
            of_type.body_bytes,
            of_type.row_bytes,
            of_type.column_bytes - of_type.name_bytes,
            of_type.name_bytes,
            of_type.keyframe_bytes,
        ]
        .map(number);
        let versions = number(of_type.versions);
        row(&of_type.resource.resource, versions, parts);
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += part;
        }
    }
    row("all", all, sums);
    println!(
        "journal {journal_bytes} bytes, times and others {:.1} bytes per version",
        number(*other_bytes) / all
    );
    let each = number(*bytes) / all;
    println!("after {hours} hours, everything: {each:.1} bytes per version");
    target("bytes per version", each, 65.0);
    target("MB", number(*bytes) / 1e6, 115.0);
}

fn row(name: &str, versions: f64, parts: [f64; 5]) {
    let each = parts.map(|part| format!("{:>8.1}", part / versions)).join(" ");
    println!("{name:<16} {versions:>9} {each} {:>9.1}", parts.iter().sum::<f64>() / versions);
}

/// Runs each query at several moments, and prints the times.
pub(crate) fn times(hours: u32, ask: &mut dyn FnMut(Question, i64) -> (f64, String)) {
    const ROUNDS: i64 = 15;
    let end = i64::from(hours) * 3_600_000;
    let mut random = fastrand::Rng::with_seed(3);
    let mut moments = || START + random.i64(60_000..end - 1000);
    for (question, bar) in [
        (Question::Table, 100.0),
        (Question::Json, 500.0),
        (Question::History, 40.0),
        (Question::Entries, 2000.0),
        (Question::Changes, 1000.0),
    ] {
        let mut all: Vec<f64> = Vec::new();
        let mut found = String::new();
        for _ in 0..ROUNDS {
            let at = if matches!(question, Question::Entries | Question::Changes) {
                moments().min(START + end - 3_600_000)
            } else {
                moments()
            };
            let (took, result) = ask(question, at);
            all.push(took);
            found = result;
        }
        all.sort_by(f64::total_cmp);
        println!(
            "{:<8} {found}: {:.0} ms in the median, {:.0} to {:.0} ms",
            question.name(),
            all[all.len() / 2],
            all[0],
            all[all.len() - 1]
        );
        target(&format!("{}, longest in ms", question.name()), all[all.len() - 1], bar);
    }
    for question in [Question::Table, Question::Json] {
        for at in [1, 2, 4, 8, 16, 24].into_iter().filter(|at| *at <= i64::from(hours)) {
            let best = (0..5).map(|_| ask(question, START + at * 3_600_000 - 1).0).fold(f64::MAX, f64::min);
            println!("{:<8} after {at} hours: {best:.0} ms", question.name());
        }
    }
}

fn target(what: &str, figure: f64, bar: f64) {
    println!("{:6}  {figure:.2} {what} (bar {bar})", if figure <= bar { "holds" } else { "MISSED" });
}
