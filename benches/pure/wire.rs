//! Benchmarks of Table rows: from a server's text to cells. The library's own source file is included, since the public API returns
//! whole objects.

#[path = "../../src/wire/table.rs"]
#[expect(dead_code, reason = "a list has more than rows")]
mod wire_table;

use std::hint::black_box;
use std::sync::Arc;

use wire_table::WireRow;

use crate::Bench;

/// The rows of `get pods`: the cells of the wide table, two of which are `<none>`, and no object.
pub(crate) fn rows(bench: &Bench) {
    let names =
        ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"];
    let columns = names.map(|name| format!(r#"{{"name":"{name}","format":"{}"}}"#, name.to_lowercase()));
    let columns = format!("[{}]", columns.join(","));
    let columns = wire_table::columns(columns.as_bytes()).expect("columns").expect("some");
    let rows: Vec<String> = (0..bench.objects)
        .map(|number| {
            format!(
                r#"{{"cells":["web-6d4cf56db6-{number}","1/1","Running","0","17h","10.1.2.3","node-3","\u003cnone\u003e","\u003cnone\u003e"],"object":null}}"#
            )
        })
        .collect();
    bench.run(
        "a row of a Table to its cells",
        || (),
        |()| {
            for text in &rows {
                let row: WireRow<'_> = serde_json::from_slice(text.as_bytes()).expect("a row");
                black_box(row.row(Arc::clone(&columns)));
            }
        },
    );
    bench.run(
        "a row of a Table to its name",
        || (),
        |()| {
            for text in &rows {
                let row: WireRow<'_> = serde_json::from_slice(text.as_bytes()).expect("a row");
                black_box(row.name_cell(&columns));
            }
        },
    );
}
