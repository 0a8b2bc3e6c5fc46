//! The values of an index with their counts: a table with bars on a terminal, documents, names, CSV and Markdown.

mod bars;

use std::borrow::Cow;
use std::io::{self, Write};

use kdelta::object::JsonValue;

use self::bars::with_bars;
use super::columns::{Column, columns};
use super::delimited::{DelimitedFormat, write_rows};
use super::typed::{TypedDocuments, TypedFormat};
use crate::view::escape_line;

/// A value of an index with the number of its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueCount {
    /// Present if there are several contexts.
    pub(crate) context: Option<String>,
    pub(crate) value: String,
    pub(crate) count: usize,
}

/// The format of counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CountFormat {
    /// A table.
    Table {
        /// The width of the terminal, up to which bars are drawn; `None` draws none.
        bars_to: Option<usize>,
        /// The heading that decides which values are coloured; `None` colours none.
        meaning: Option<String>,
    },
    /// One document: `{"index": "node", "values": [{"count": 3, "value": "a"}]}`.
    Documents { format: TypedFormat, for_terminal: bool },
    /// The values alone, one on each line.
    Names,
    /// CSV or Markdown.
    Delimited(DelimitedFormat),
}

/// Writes the counts of an index in order, in tables with a header if `headers`. A document is written even without
/// values.
///
/// # Errors
/// `out` failed.
pub(crate) fn write_counts(
    index: &str,
    counts: &[ValueCount],
    format: &CountFormat,
    headers: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let several = counts.iter().any(|count| count.context.is_some());
    let skipped = usize::from(!several);
    match format {
        CountFormat::Table { bars_to, meaning } => {
            let values = match meaning {
                Some(meaning) => Column::Coloured { heading: "VALUE", meaning },
                None => Column::Text("VALUE"),
            };
            let heads = [Column::Text("CONTEXT"), values, Column::Number("COUNT")];
            let rows = counts.iter().map(cells).map(|row| row.into_iter().map(Cow::into_owned).collect());
            let mut table = Vec::new();
            columns(&heads[skipped..], rows, headers || bars_to.is_some(), &mut table)?;
            let table = String::from_utf8_lossy(&table);
            match bars_to.as_ref().and_then(|width| Some((width, table.split_once('\n')?))) {
                Some((width, (header, rows))) => {
                    if headers {
                        writeln!(out, "{header}")?;
                    }
                    // The count is right-aligned in the last column: all lines have the width of the header.
                    let sizes: Vec<usize> = counts.iter().map(|count| count.count).collect();
                    out.write_all(with_bars(rows, &sizes, header.chars().count(), *width).as_bytes())?;
                }
                None => out.write_all(table.as_bytes())?,
            }
        }
        CountFormat::Documents { format, for_terminal } => {
            TypedDocuments::new(*format, *for_terminal).document(&document(index, counts), out)?;
        }
        CountFormat::Names => {
            for count in counts {
                writeln!(out, "{}", escape_line(&count.value))?;
            }
        }
        CountFormat::Delimited(format) => {
            let rows: Vec<_> = counts.iter().map(cells).collect();
            let rows = rows.iter().map(|row| row.iter().map(|cell| &**cell).collect());
            write_rows(*format, &["CONTEXT", "VALUE", "COUNT"][skipped..], rows, headers, out)?;
        }
    }
    out.flush()
}

fn cells(count: &ValueCount) -> Vec<Cow<'_, str>> {
    let context = count.context.as_deref().map(Cow::Borrowed);
    context.into_iter().chain([Cow::Borrowed(&*count.value), Cow::Owned(count.count.to_string())]).collect()
}

fn document<'a>(index: &'a str, counts: &'a [ValueCount]) -> JsonValue<'a> {
    let text = |text: &'a str| JsonValue::Text(Cow::Borrowed(text));
    let value = |count: &'a ValueCount| {
        let context = count.context.as_deref().map(|context| (Cow::Borrowed("context"), text(context)));
        let number = JsonValue::Int(i64::try_from(count.count).unwrap_or(i64::MAX));
        let own = [(Cow::Borrowed("count"), number), (Cow::Borrowed("value"), text(&count.value))];
        JsonValue::Object(context.into_iter().chain(own).collect())
    };
    let values = JsonValue::Array(counts.iter().map(value).collect());
    JsonValue::Object(vec![(Cow::Borrowed("index"), text(index)), (Cow::Borrowed("values"), values)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(value: &str, count: usize) -> ValueCount {
        ValueCount { context: None, value: value.into(), count }
    }

    fn written(counts: &[ValueCount], format: &CountFormat, headers: bool) -> String {
        let mut out = Vec::new();
        write_counts("node", counts, format, headers, &mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    const JSON: CountFormat = CountFormat::Documents { format: TypedFormat::Json, for_terminal: false };
    const YAML: CountFormat = CountFormat::Documents { format: TypedFormat::Yaml, for_terminal: false };

    #[test]
    fn document_names_the_index() {
        assert_eq!(
            written(&[count("a", 3)], &JSON, true),
            "{\n    \"index\": \"node\",\n    \"values\": [\n        {\n            \"count\": 3,\n            \"value\": \"a\"\n        }\n    ]\n}\n"
        );
        assert_eq!(written(&[], &JSON, true), "{\n    \"index\": \"node\",\n    \"values\": []\n}\n");
        let two = [ValueCount { context: Some("prod".into()), ..count("a", 3) }];
        assert_eq!(
            written(&two, &YAML, true),
            "index: node\nvalues:\n- context: prod\n  count: 3\n  value: a\n"
        );
    }

    #[test]
    fn values_are_lines_rows_and_bars() {
        let counts = [count("a,b\nc", 10), count("d", 5)];
        assert_eq!(written(&counts, &CountFormat::Names, true), "a,b\\nc\nd\n");
        let csv = CountFormat::Delimited(DelimitedFormat::Csv);
        assert_eq!(written(&counts, &csv, true), "VALUE,COUNT\n\"a,b\\nc\",10\nd,5\n");
        assert_eq!(written(&counts, &csv, false), "\"a,b\\nc\",10\nd,5\n");
        let plain = CountFormat::Table { bars_to: None, meaning: None };
        assert_eq!(written(&counts, &plain, true), "VALUE    COUNT\na,b...      10\nd            5\n");
        let bars = CountFormat::Table { bars_to: Some(21), meaning: None };
        assert_eq!(
            written(&counts, &bars, true),
            "VALUE    COUNT\na,b...      10   ████\nd            5   ██\n"
        );
        assert_eq!(written(&counts, &bars, false), "a,b...      10   ████\nd            5   ██\n");
        assert_eq!(written(&[], &bars, true), "");
    }
}
