//! Tables (`meta.k8s.io/v1`): columns, and cells as kubectl prints them.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::object::{Column, Row};

/// One element of a Table's `rows`.
#[derive(Debug, Deserialize)]
pub(crate) struct WireRow<'a> {
    /// The array's text: not every reader of a row needs all cells.
    #[serde(borrow, default, deserialize_with = "array")]
    cells: Option<&'a RawValue>,
    /// The object that `includeObject` requested; `None` if it is null.
    #[serde(borrow)]
    pub(crate) object: Option<&'a RawValue>,
}

/// The object of a watch event in Table form: one row, and in the first event the columns.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireTable<'a> {
    #[serde(borrow)]
    pub(crate) metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) column_definitions: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) rows: Option<Vec<WireRow<'a>>>,
}

#[derive(Deserialize)]
struct WireColumn<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    format: Option<Cow<'a, str>>,
    priority: Option<i32>,
}

/// Parses `columnDefinitions`; `None` for `null`.
pub(crate) fn columns(json: &[u8]) -> Result<Option<Arc<[Column]>>, serde_json::Error> {
    let wire: Option<Vec<WireColumn<'_>>> = serde_json::from_slice(json)?;
    let column = |wire: WireColumn<'_>| Column {
        name: wire.name.into_owned(),
        // Custom resources state in the column's type what others state in its format.
        format: match wire.kind.as_deref() {
            Some(date @ "date") => date.to_owned(),
            _ => wire.format.unwrap_or_default().into_owned(),
        },
        priority: wire.priority.unwrap_or_default(),
    };
    Ok(wire.filter(|columns| !columns.is_empty()).map(|columns| columns.into_iter().map(column).collect()))
}

/// Returns the columns of an object that came without a row, as in kubectl.
pub(crate) fn plain_columns() -> Arc<[Column]> {
    let column = |name: &str, format: &str| Column { name: name.into(), format: format.into(), priority: 0 };
    Arc::from([column("Name", "name"), column("Age", "")])
}

/// A row in the form that servers write. It is the right one if, and only if, the text of its object then parses as one
/// JSON object.
pub(crate) struct PlainRow<'a> {
    cells: &'a RawValue,
    /// The object, unparsed.
    pub(crate) json: &'a [u8],
}

impl<'a> PlainRow<'a> {
    /// Cuts the Table of one row in a watch, after the columns. Nested values in its metadata or cells are not accepted,
    /// since their depth would be unbounded.
    pub(crate) fn of_table(json: &'a [u8]) -> Option<Self> {
        let rest = json.strip_prefix(br#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":"#)?;
        let (metadata, rest) = value(rest)?;
        let row = rest.strip_prefix(br#","columnDefinitions":null,"rows":["#)?.strip_suffix(b"]}")?;
        Self::of_list(row).filter(|_| is_flat(metadata))
    }

    /// Cuts an element of the rows of a list.
    pub(crate) fn of_list(json: &'a [u8]) -> Option<Self> {
        let (cells, rest) = value(json.strip_prefix(br#"{"cells":"#)?)?;
        let json = rest.strip_prefix(br#","object":"#)?.strip_suffix(b"}")?;
        (is_flat(cells) && cells.get().starts_with('[')).then_some(Self { cells, json })
    }

    /// Returns the cells as text.
    pub(crate) fn row(&self, columns: Arc<[Column]>) -> Row {
        row(Some(self.cells), columns)
    }
}

/// Returns whether no value is nested in another one.
fn is_flat(value: &RawValue) -> bool {
    memchr::memchr2(b'[', b'{', &value.get().as_bytes()[1..]).is_none()
}

/// Returns the value at the start of a text, and the rest.
fn value(text: &[u8]) -> Option<(&RawValue, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// Builds a row of these cells.
fn row(cells: Option<&RawValue>, columns: Arc<[Column]>) -> Row {
    Row::written(columns, cells.map_or(0, |cells| cells.get().len()), Elements::of(cells), write_cell)
}

impl<'a> WireRow<'a> {
    /// Returns the cells as text.
    pub(crate) fn row(&self, columns: Arc<[Column]>) -> Row {
        row(self.cells, columns)
    }

    /// Returns the cell with the object's name: that of the column of format `name`, else of the one called Name,
    /// else the first.
    pub(crate) fn name(&self, columns: &[Column]) -> Cow<'a, str> {
        let by_name = || columns.iter().position(|column| column.name.eq_ignore_ascii_case("name"));
        let at = name_cell(columns).or_else(by_name).unwrap_or_default();
        Elements::of(self.cells).nth(at).map(cell_text).unwrap_or_default()
    }

    /// Returns the cell of the column of format `name`.
    pub(crate) fn name_cell(&self, columns: &[Column]) -> Option<Cow<'a, str>> {
        Elements::of(self.cells).nth(name_cell(columns)?).map(cell_text)
    }
}

/// Returns the text of an array, unless it is null.
fn array<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    match Option::<&RawValue>::deserialize(from)? {
        Some(other) if !other.get().starts_with('[') => Err(D::Error::custom("it is no array")),
        array => Ok(array),
    }
}

/// The elements of an array that is known to be valid JSON. Holds the unread text inside its brackets.
struct Elements<'a>(&'a str);

impl<'a> Elements<'a> {
    fn of(array: Option<&'a RawValue>) -> Self {
        Self(array.map(|array| &array.get()[1..array.get().len() - 1]).unwrap_or_default())
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_ascii_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim_ascii_start();
        let end = match rest.as_bytes() {
            // Most cells are strings.
            [b'"', inside @ ..] => 1 + string_end(inside)?,
            nested @ [b'[' | b'{', ..] => value(nested)?.0.get().len(),
            [] => return None,
            scalar => {
                let is_end = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
                scalar.iter().position(is_end).unwrap_or(scalar.len())
            }
        };
        let (element, rest) = rest.split_at_checked(end)?;
        self.0 = rest;
        Some(element)
    }
}

/// Returns the end of a string, including its closing quote. `text` starts after the opening quote.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn name_cell(columns: &[Column]) -> Option<usize> {
    columns.iter().position(|column| column.format == "name")
}

/// Returns a cell as kubectl prints it, unescaped: strings as they are, null as empty, numbers as Go prints them, and
/// arrays and objects, which cells should not hold, as compact JSON.
fn cell_text(json: &str) -> Cow<'_, str> {
    match json.as_bytes().first() {
        Some(b'"') => match json.get(1..json.len() - 1) {
            Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
            _ => Cow::Owned(serde_json::from_str(json).unwrap_or_default()),
        },
        Some(b'n') => Cow::Borrowed(""),
        Some(b'-' | b'0'..=b'9') => number_text(json),
        Some(b'{' | b'[') if json.contains(['\n', '\r']) => {
            Cow::Owned(serde_json::from_str::<serde_json::Value>(json).unwrap_or_default().to_string())
        }
        _ => Cow::Borrowed(json),
    }
}

/// Adds a cell to the text of its row. Servers write the frequent `<none>` with escapes.
fn write_cell(json: &str, text: &mut String) {
    let start = text.len();
    if unescape(json, text).is_none() {
        text.truncate(start);
        text.push_str(&cell_text(json));
    }
}

/// Adds the content of a JSON string. `None` if the text is not a string or has escaped surrogate pairs.
fn unescape(json: &str, text: &mut String) -> Option<()> {
    let mut rest = json.strip_prefix('"')?.strip_suffix('"')?;
    while let Some((plain, escape)) = rest.split_once('\\') {
        text.push_str(plain);
        let (message, len) = match escape.as_bytes().first()? {
            b'u' => (char::from_u32(u32::from_str_radix(escape.get(1..5)?, 16).ok()?)?, 5),
            b'n' => ('\n', 1),
            b'r' => ('\r', 1),
            b't' => ('\t', 1),
            b'b' => ('\x08', 1),
            b'f' => ('\x0c', 1),
            other => (char::from(*other), 1),
        };
        text.push(message);
        rest = escape.get(len..)?;
    }
    text.push_str(rest);
    Some(())
}

/// Formats a number like kubectl: as an int64 if it is one, else as a float64, printed with Go's `%v`.
fn number_text(json: &str) -> Cow<'_, str> {
    match json.parse::<i64>() {
        Ok(0) => Cow::Borrowed("0"),
        Ok(_) => Cow::Borrowed(json),
        Err(_) => match json.parse::<f64>() {
            Ok(number) if number.is_finite() => Cow::Owned(float_text(number)),
            _ => Cow::Borrowed(json),
        },
    }
}

/// Formats a float as Go's `%v` does: the fewest digits that identify it, with an exponent (of two digits at least)
/// from a million up and below 1e-4.
fn float_text(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(json: &str) -> Vec<String> {
        let row: WireRow<'_> = serde_json::from_str(json).expect("a row");
        row.row(plain_columns()).cells().map(str::to_owned).collect()
    }

    #[test]
    fn cells_print_as_kubectl_prints_them() {
        for (json, text) in [
            (r#""web-1""#, "web-1"),
            (r#""\u003cnone\u003e \"x\"\n""#, "<none> \"x\"\n"),
            (r#""\\ \/ \b\f\r\t \u00fc, \uD83D\uDE00 ü]""#, "\\ / \x08\x0c\r\t ü, 😀 ü]"),
            (r#""half: \ud83d""#, ""),
            ("null", ""),
            ("true", "true"),
            ("0", "0"),
            ("-0", "0"),
            ("9223372036854775807", "9223372036854775807"),
            ("12345678901234567890", "1.2345678901234567e+19"),
            ("1.0", "1"),
            ("-3.250", "-3.25"),
            ("100000.0", "100000"),
            ("123456.5", "123456.5"),
            ("1e6", "1e+06"),
            ("123456789.0", "1.23456789e+08"),
            ("1234567.0", "1.234567e+06"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("2.5e-7", "2.5e-07"),
            ("1e100", "1e+100"),
            (r#"["a",1]"#, r#"["a",1]"#),
            ("{\n \"a\": [1]\n}", r#"{"a":[1]}"#),
        ] {
            assert_eq!(cells(&format!(r#"{{"cells":[{json}]}}"#)), [text], "{json}");
        }
        for none in [r#"{"cells":null,"object":null}"#, r#"{"object":null}"#, r#"{"cells":[ ]}"#] {
            assert!(cells(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn cells_are_split_in_any_notation() {
        let row = "{\"cells\" :\n[ \"a\\\",\" ,\n1 , null,true\t,[ \"]\" , {\"x\": \"}\"} ] , \"\" ,-2.50]}";
        assert_eq!(cells(row), ["a\",", "1", "", "true", "[ \"]\" , {\"x\": \"}\"} ]", "", "-2.5"]);
        for wrong in [r#"{"cells":"x"}"#, r#"{"cells":{}}"#, r#"{"cells":7}"#, r#"{"cells":["a" "b"]}"#] {
            assert!(serde_json::from_str::<WireRow<'_>>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn columns_have_name_format_and_priority() {
        let json = br#"[{"name":"Last Seen","type":"string","format":"","description":"d","priority":0},{"name":"Name","format":"name","priority":1},{"name":"X"},{"name":"Age","type":"date","format":""}]"#;
        let columns = columns(json).expect("columns").expect("some");
        assert_eq!(columns[1], Column { name: "Name".into(), format: "name".into(), priority: 1 });
        assert_eq!(columns[2], Column { name: "X".into(), format: String::new(), priority: 0 });
        assert_eq!(columns[3].format, "date");
        let row: WireRow<'_> = serde_json::from_str(r#"{"cells":["1s","web.17",2]}"#).expect("a row");
        assert_eq!(row.name(&columns), "web.17");
    }

    #[test]
    fn no_columns_are_none() {
        assert_eq!(columns(b"null").expect("none"), None);
        assert_eq!(columns(b"[]").expect("none"), None);
        assert!(columns(br#"[{"name":7}]"#).is_err());
    }
}
