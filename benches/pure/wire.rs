//! The rows of a Table, from the text that a server sends to the cells. The library's own file does it here as it does
//! there: whoever uses the library is given whole objects.

#[path = "../../src/api/table.rs"]
#[expect(dead_code, reason = "a list has more than rows")]
mod read;

use std::hint::black_box;
use std::sync::Arc;

use read::WireRow;

use crate::Bench;

/// As `get pods` gets them: the cells of the wide table, two of which say that there is nothing, and no object.
pub(crate) fn rows(bench: &Bench) {
    let names =
        ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"];
    let columns = names.map(|name| format!(r#"{{"name":"{name}","format":"{}"}}"#, name.to_lowercase()));
    let columns = format!("[{}]", columns.join(","));
    let columns = read::columns(columns.as_bytes()).expect("columns").expect("some");
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
                black_box(row.said_name(&columns));
            }
        },
    );
}
