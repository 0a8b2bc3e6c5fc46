//! Sort keys and custom columns. The first line is an expression, the others are objects.
#![no_main]

use kdelta::object::JsonValue;
use kdelta::query::{ColumnPrinter, CustomColumns, Quantity, SortBy, SortedItems};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut lines = input.split(|byte| *byte == b'\n');
    let Some(Ok(expression)) = lines.next().map(std::str::from_utf8) else { return };
    let objects: Vec<_> = lines.map(JsonValue::parse).collect();
    let _ = Quantity::parse(expression).map(|quantity| quantity.cmp(&quantity));
    for items in [SortedItems::Objects, SortedItems::Rows] {
        let Ok(by) = SortBy::parse(expression, items) else { continue };
        let keys: Result<Vec<_>, _> = objects.iter().map(|object| Ok((by.key(object)?, object))).collect();
        let _ = keys.and_then(|mut keys| by.sort(&mut keys));
    }
    if let Ok(columns) = CustomColumns::parse(expression, false) {
        let mut printer = ColumnPrinter::new(columns, std::io::sink());
        let _ = objects.iter().try_for_each(|object| printer.print(object));
        let _ = printer.flush();
    }
});
