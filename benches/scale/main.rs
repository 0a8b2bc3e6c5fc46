//! Growth: 10,000, 100,000 and 1,000,000 pods through reflector, queue and store, with three indices and all bodies.
//!
//! `cargo bench --bench scale` runs each size in a process of its own, so that each has its own peak, and prints one
//! line for each. `-- --objects N` runs one size; `--queue delta` has the other queue; `--text` keeps bodies as text.
//! The pods are made while they are read, as the text that a server sends, and are never held. What making them takes is
//! measured beside it and subtracted. Ends with which bars hold.

#[path = "../synthetic/mod.rs"]
mod synthetic;

mod measure;
mod source;

use std::process::Command;

use measure::{Measured, measure};

/// The sizes that are compared.
const SIZES: [u32; 3] = [10_000, 100_000, 1_000_000];

/// What the command line asks for.
#[derive(Clone, Copy)]
struct Asked {
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
    let asked = Asked {
        objects,
        delta: value("--queue").is_some_and(|queue| queue == "delta"),
        text: has("--text"),
        child: has("--child"),
    };
    match asked {
        Asked { child: true, objects: Some(objects), .. } => println!("{}", measure(objects, asked).line()),
        Asked { objects: Some(objects), .. } => report(&[objects], &arguments),
        _ => report(&SIZES, &arguments),
    }
}

/// Runs each size and prints what came of it.
fn report(sizes: &[u32], arguments: &[String]) {
    println!("{}", Measured::HEADER);
    let mut all = Vec::new();
    for size in sizes {
        let program = std::env::current_exe().expect("a program knows where it is");
        let mut command = Command::new(program);
        command.args(arguments).args(["--child", "--objects", &size.to_string()]);
        let output = command.output().expect("the program runs once more");
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(measured) = text.lines().find_map(Measured::read) else {
            panic!("{size} objects: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
        };
        println!("{measured}");
        all.push(measured);
    }
    if let [first, .., last] = &all[..] {
        let (lookup, grown) = (last.lookup_nanos / first.lookup_nanos, last.objects / first.objects);
        println!("{grown} times the objects: a look-up takes {lookup:.2} times as long");
        tell_bars(first, last, has_defaults(arguments));
    }
}

/// Without another queue or store, of which the bar for memory is.
fn has_defaults(arguments: &[String]) -> bool {
    !arguments.iter().any(|argument| argument == "--queue" || argument == "--text")
}

/// Says of each bar whether it holds: an object costs at most 1.3 times what it costs in the smallest size, and the
/// largest, of a million, is in 700 MB.
fn tell_bars(first: &Measured, last: &Measured, with_peak: bool) {
    let growth = |figure: fn(&Measured) -> f64| figure(last) / figure(first);
    let mut bars = vec![
        ("time per object, times", growth(Measured::time_each), 1.3),
        ("processor time per object, times", growth(Measured::cpu_each), 1.3),
        ("memory per object, times", growth(Measured::held_each), 1.3),
    ];
    bars.extend(with_peak.then(|| ("peak in MB", last.peak_megabytes(), 700.0)));
    for (what, figure, bar) in bars {
        println!("{:6}  {figure:.2} {what} (bar {bar})", if figure <= bar { "holds" } else { "MISSED" });
    }
}
