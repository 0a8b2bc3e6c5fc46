//! Table rows, from a server's cells to text on the screen. The program's own source files are included, since they
//! are in no library.

#[path = "../../src/bin/kdelta/output/table/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the program has more to print than this")]
mod output;

use std::hint::black_box;
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::object::{ApiResource, Column, Object, Row};
use output::{Extent, Table};

use crate::Bench;
use crate::view::{Age, Layout, NamespaceColumn};

/// The rows of `get pods -A`: the cost of a row alone, in a finished table, and in an endless one whose rows are
/// written as they arrive.
pub(crate) fn rows(bench: &Bench) {
    let column = |name: &str| {
        let format = if name == "Name" { "name" } else { "" };
        Column { name: name.into(), format: format.into(), priority: 0 }
    };
    let columns: Arc<[Column]> = ["Name", "Ready", "Status", "Restarts", "Age"].map(column).into();
    let row = |name: &str| Row::new(Arc::clone(&columns), [name, "1/1", "Running", "0", "17h"]);
    bench.run(
        "make and read a row of five cells",
        || (),
        |()| {
            for _ in 0..bench.objects {
                black_box(row("web-6d4cf56db6-abcde").cells().map(str::len).sum::<usize>());
            }
        },
    );
    let pods = Arc::new(ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    });
    let objects: Vec<Object> = (0..bench.objects)
        .map(|number| {
            let name = format!("web-6d4cf56db6-{number}");
            Object::named(pods.type_meta(), "shop", &name).with_row(row(&name))
        })
        .collect();
    let age = Age::AsSent { now: Timestamp::UNIX_EPOCH };
    for (name, extent) in
        [("a table that ends, a row", Extent::Finite), ("an endless table, a row", Extent::Endless)]
    {
        let layout = || Layout { namespace: NamespaceColumn::Namespaced, ..Layout::default() };
        let table = || Table::new(layout(), true, extent, false);
        bench.run(name, table, |mut table| {
            let mut out = Vec::new();
            for object in &objects {
                let cells = table.spare_cells();
                let line = table.layout().line(object, (&pods, ""), None, age, cells);
                table.line(line, &mut out).expect("memory");
                if extent == Extent::Endless {
                    table.flush(&mut out).expect("memory");
                }
            }
            table.flush(&mut out).expect("memory");
            black_box(out);
        });
    }
}
