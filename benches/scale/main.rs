//! Scaling: 10,000, 100,000 and 1,000,000 pods through reflector, queue and store, with three indices and all bodies.
//!
//! `cargo bench --bench scale` runs each size in its own process, so that each has its own memory peak, and prints one
//! line for each. `-- --objects N` runs one size; `--queue delta` uses the other queue; `--text` stores bodies as
//! text. The pods are generated while they are read, as a server's text, and never stored. The cost of generating them
//! is measured separately and subtracted. Finally it reports which targets are met.

#[path = "../synthetic/mod.rs"]
mod synthetic;

mod measure;
mod source;

use std::process::Command;

use measure::{Measurement, measure};

const SIZES: [u32; 3] = [10_000, 100_000, 1_000_000];

/// The parsed command line.
#[derive(Clone, Copy)]
struct Options {
    objects: Option<u32>,
    delta: bool,
    text: bool,
    child: bool,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        Some(arguments.get(at + 1).cloned().unwrap_or_default())
    };
    let objects = value("--objects").map(|text| text.parse().expect("--objects takes a number"));
    let options = Options {
        objects,
        delta: value("--queue").is_some_and(|queue| queue == "delta"),
        text: has("--text"),
        child: has("--child"),
    };
    match options {
        Options { child: true, objects: Some(objects), .. } => {
            println!("{}", measure(objects, options).line());
        }
        Options { objects: Some(objects), .. } => report(&[objects], &arguments),
        _ => report(&SIZES, &arguments),
    }
}

/// Runs each size and prints the results.
fn report(sizes: &[u32], arguments: &[String]) {
    println!("{}", Measurement::HEADER);
    let mut all = Vec::new();
    for size in sizes {
        let program = std::env::current_exe().expect("a program knows where it is");
        let mut command = Command::new(program);
        command.args(arguments).args(["--child", "--objects", &size.to_string()]);
        let output = command.output().expect("the program runs once more");
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(measured) = text.lines().find_map(Measurement::read) else {
            panic!("{size} objects: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
        };
        println!("{measured}");
        all.push(measured);
    }
    if let [first, .., last] = &all[..] {
        let (lookup, grown) = (last.lookup_nanos / first.lookup_nanos, last.objects / first.objects);
        println!("{grown} times the objects: a look-up takes {lookup:.2} times as long");
        report_targets(first, last, has_defaults(arguments));
    }
}

/// Returns whether queue and store are the defaults, to which the memory target applies.
fn has_defaults(arguments: &[String]) -> bool {
    !arguments.iter().any(|argument| argument == "--queue" || argument == "--text")
}

/// Reports for each target whether it is met: an object costs at most 1.3 times its cost in the smallest size, and the
/// largest size, a million, fits in 700 MB.
fn report_targets(first: &Measurement, last: &Measurement, with_peak: bool) {
    let growth = |figure: fn(&Measurement) -> f64| figure(last) / figure(first);
    let mut bars = vec![
        ("time per object, times", growth(Measurement::time_each), 1.3),
        ("processor time per object, times", growth(Measurement::cpu_each), 1.3),
        ("memory per object, times", growth(Measurement::held_each), 1.3),
    ];
    bars.extend(with_peak.then(|| ("peak in MB", last.peak_megabytes(), 700.0)));
    for (what, figure, bar) in bars {
        println!("{:6}  {figure:.2} {what} (bar {bar})", if figure <= bar { "holds" } else { "MISSED" });
    }
}
