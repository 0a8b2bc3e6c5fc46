//! Rows of custom resources, by `additionalPrinterColumns`.

use serde_json::{Value, json};

use super::cells::{AGE, NAME, RowContext, definition, since, text};
use crate::object::FieldPath;

pub(super) fn definitions(columns: &Value) -> Value {
    let mut definitions = vec![definition(&NAME)];
    for column in columns.as_array().into_iter().flatten() {
        definitions.push(json!({
            "name": column["name"], "type": column["type"], "format": text(&column["format"]),
            "description": text(&column["description"]), "priority": column["priority"].as_u64().unwrap_or(0),
        }));
    }
    if definitions.len() == 1 {
        definitions.push(definition(&AGE));
    }
    definitions.into()
}

/// Returns the cells. A cell has the type of its column: of several values at a path the first is used, and a value of
/// another type is omitted.
pub(super) fn cells(columns: &Value, object: &Value, row: RowContext) -> Vec<Value> {
    let mut cells = vec![row.name];
    let body = object.to_string();
    for column in columns.as_array().into_iter().flatten() {
        let path = FieldPath::parse(text(&column["jsonPath"]));
        let values = path.ok().and_then(|path| path.values(body.as_bytes()).ok()).unwrap_or_default();
        let Some(value) = values.into_iter().next() else {
            cells.push(Value::Null);
            continue;
        };
        cells.push(match text(&column["type"]) {
            "date" => since(&value.into(), row.now).into(),
            "integer" => value.parse::<i64>().map_or(Value::Null, Value::from),
            "number" => value.parse::<f64>().map_or(Value::Null, Value::from),
            "boolean" => value.parse::<bool>().map_or(Value::Null, Value::from),
            _ => value.into(),
        });
    }
    if cells.len() == 1 {
        cells.push(row.age);
    }
    cells
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn cells_have_the_type_of_their_column() {
        let column = |kind: &str, path: &str| json!({"name": "X", "type": kind, "jsonPath": path});
        let columns = json!([
            column("integer", ".spec.size"),
            column("string", ".spec.size"),
            column("boolean", ".spec.on"),
            column("integer", ".spec.on"),
            column("string", ".spec.list[0].name"),
            column("date", ".metadata.creationTimestamp"),
            column("string", ".nope"),
        ]);
        let object = json!({
            "metadata": {"creationTimestamp": "1970-01-01T00:00:00Z"},
            "spec": {"size": 3, "on": true, "list": [{"name": "first"}]},
        });
        let row = RowContext { name: "a".into(), age: "1s".into(), now: Timestamp::UNIX_EPOCH };
        let expected = json!(["a", 3, "3", true, null, "first", "0s", null]);
        assert_eq!(Value::from(cells(&columns, &object, row)), expected);
    }
}
