//! Tests of custom columns: kubectl's cases, the alignment, and hostile values.

use proptest::prelude::*;

use super::*;

/// Returns the lines and the error of a printer of these columns.
fn printed(columns: CustomColumns, objects: &[&str]) -> (String, Option<String>) {
    let mut out = Vec::new();
    let mut printer = ColumnPrinter::new(columns, &mut out);
    let mut result = printer.print_header();
    for object in objects {
        if result.is_ok() {
            result = printer.print(&JsonValue::parse(object.as_bytes()));
        }
    }
    printer.flush().expect("memory");
    (String::from_utf8(out).expect("text"), result.err().map(|error| error.to_string()))
}

fn lines(spec: &str, objects: &[&str]) -> String {
    let (text, error) = printed(CustomColumns::parse(spec, false).expect("columns"), objects);
    assert_eq!(error, None);
    text
}

fn aligned(parts: &[&str]) -> String {
    let mut out = Vec::new();
    let mut writer = TabWriter::new(&mut out);
    for part in parts {
        writer.write(part).expect("memory");
    }
    writer.flush().expect("memory");
    String::from_utf8(out).expect("text")
}

const POD: &str = r#"{"kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"c0"},{"name":"c1"},{"name":"c2"},{"name":"c3"}]}}"#;

#[test]
fn specs_without_columns_are_errors() {
    for (spec, message) in [
        ("", "custom-columns format specified but no custom columns given"),
        ("name", "unexpected custom-columns spec: name, expected <header>:<json-path-expr>"),
        ("name=.x", "unexpected custom-columns spec: name=.x, expected <header>:<json-path-expr>"),
        ("name,A:.x", "unexpected custom-columns spec: name, expected <header>:<json-path-expr>"),
        ("A:.x,", "unexpected custom-columns spec: , expected <header>:<json-path-expr>"),
    ] {
        let error = CustomColumns::parse(spec, false).expect_err(spec);
        assert_eq!(error.to_string(), message);
    }
    for spec in ["A:{.x", "A:.x}", "A:{.x}}", "A:{{.x}"] {
        let error = CustomColumns::parse(spec, false).expect_err(spec).to_string();
        assert!(error.starts_with("unexpected path string, expected a 'name1.name2' or "), "{error}");
    }
}

#[test]
fn templates_have_two_lines_of_equal_length() {
    let expected =
        CustomColumns::parse("NAME:metadata.name,API_VERSION:{apiVersion}", false).expect("columns");
    for template in [
        "NAME               API_VERSION\n{metadata.name}    {apiVersion}",
        "  NAME\t\tAPI_VERSION\r\n\t{.metadata.name}\u{2003}.apiVersion\r\nignored",
    ] {
        assert_eq!(CustomColumns::from_template(template).expect(template), expected);
    }
    let format =
        "Expected format is one line of space separated headers, one line of space separated column specs.";
    let long = "a".repeat(64 * 1024);
    for (template, message) in [
        ("", format!("invalid template, missing header line. {format}")),
        (&format!("{long}\n.x"), format!("invalid template, missing header line. {format}")),
        ("NAME\n", format!("invalid template, missing spec line. {format}")),
        ("name=x,A:.x", format!("invalid template, missing spec line. {format}")),
        (&format!("A\n{long}"), format!("invalid template, missing spec line. {format}")),
        ("A B\n.x", "number of headers (2) and field specifications (1) don't match".to_owned()),
    ] {
        assert_eq!(CustomColumns::from_template(template).expect_err("a fault").to_string(), message);
    }
}

#[test]
fn objects_are_printed_in_aligned_columns() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("NAME:.metadata.name", &[POD], "NAME\nweb\n"),
        (
            "NAME:.metadata.name",
            &[POD, r#"{"metadata":{"name":"a-longer-name"}}"#],
            "NAME\nweb\na-longer-name\n",
        ),
        (
            "NAME:.metadata.name,KIND:kind,NOT_FOUND:{.notFound}",
            &[POD],
            "NAME   KIND   NOT_FOUND\nweb    Pod    <none>\n",
        ),
        ("NAME:.metadata.name,A LONG HEADER:.x", &[], "NAME   A LONG HEADER\n"),
        (
            "NAME:.metadata.name,A LONG HEADER:.kind,LAST:.x",
            &[POD, POD],
            "NAME   A LONG HEADER   LAST\nweb    Pod             <none>\nweb    Pod             <none>\n",
        ),
        (":kind,:kind", &[POD], "      \nPod   Pod\n"),
        ("EMPTY:", &[POD], "EMPTY\n<none>\n"),
    ];
    for (spec, objects, expected) in cases {
        assert_eq!(lines(spec, objects), *expected, "{spec}");
    }
}

#[test]
fn ranges_of_an_array_are_joined_by_commas() {
    for (range, expected) in [
        ("0", "c0"),
        ("3", "c3"),
        ("-1", "c3"),
        ("-4", "c0"),
        ("0:0", "<none>"),
        ("0:3", "c0,c1,c2"),
        ("1:", "c1,c2,c3"),
        ("0:4:2", "c0,c2"),
        ("*", "c0,c1,c2,c3"),
    ] {
        let spec = format!("C:.spec.containers[{range}].name");
        assert_eq!(lines(&spec, &[POD]), format!("C\n{expected}\n"), "{range}");
    }
    for range in ["5", "-5", "3:1"] {
        let columns = CustomColumns::parse(&format!("C:.spec.containers[{range}].name"), false);
        let (text, error) = printed(columns.expect("columns"), &[POD]);
        assert_eq!(text, "C\n", "the header is printed before the error");
        assert!(error.is_some(), "{range}");
    }
}

#[test]
fn values_are_printed_as_go_does() {
    for (value, expected) in [
        ("null", "<nil>"),
        ("true", "true"),
        ("9223372036854775807", "9223372036854775807"),
        ("1000000.0", "1e+06"),
        ("123456.5", "123456.5"),
        ("0.00001", "1e-05"),
        ("-0.0", "-0"),
        ("18446744073709551616", "1.8446744073709552e+19"),
        ("\"\"", ""),
        ("[]", "[]"),
        ("{}", "map[]"),
        (r#"[1,null,"a b",[false]]"#, "[1 <nil> a b [false]]"),
        (r#"{"b":{"d":1.50},"a":"x"}"#, "map[a:x b:map[d:1.5]]"),
        (r#""2024-01-02T03:04:05Z""#, "2024-01-02T03:04:05Z"),
        (r#""\u001b[31m \r""#, "^[[31m \\r"),
    ] {
        let object = format!("{{\"x\":{value}}}");
        assert_eq!(lines("X:.x", &[&object]), format!("X\n{expected}\n"), "{value}");
    }
}

#[test]
fn headers_are_left_out_on_request() {
    let columns = CustomColumns::parse("KIND:kind", true).expect("columns");
    assert_eq!(printed(columns, &[POD]).0, "Pod\n");
}

#[test]
fn error_of_an_expression_leaves_the_lines_above() {
    let columns = CustomColumns::parse("A:.x,B:.y[0]", false).expect("columns");
    let (text, error) = printed(columns, &[r#"{"x":"first row","y":[1]}"#, r#"{"x":2,"y":[]}"#, "{}"]);
    assert_eq!(text, "A           B\nfirst row   1\n");
    assert_eq!(error.as_deref(), Some("array index out of bounds: index 0, length 0"));
    let columns = CustomColumns::parse("A:.x,B:.y[", false).expect("columns");
    assert_eq!(printed(columns, &[]), ("A     B\n".to_owned(), Some("unterminated array".to_owned())));
}

#[test]
fn columns_end_at_lines_without_them() {
    assert_eq!(
        aligned(&["a\tb\tc\nlonger one\tb\nshort\n", "x\ty\n"]),
        "a            b     c\nlonger one   b\nshort\nx            y\n",
        "a column never becomes narrower"
    );
    assert_eq!(
        aligned(&["1\t1\tx\n1\ty\n1\twide-wide\tz\n"]),
        "1     1     x\n1     y\n1     wide-wide   z\n",
        "a line without the column separates those with it"
    );
    assert_eq!(aligned(&["1\twide-wide\tz\u{c}1\t1\tx\n"]), "1     wide-wide   z\n1     1           x\n");
    assert_eq!(
        aligned(&["é日\u{301}\u{b}2\n", "no line break\tat the end\t"]),
        "é日\u{301}             2\nno line break   at the end"
    );
}

#[test]
fn single_column_is_printed_at_once() {
    let mut out = Vec::new();
    let mut printer = ColumnPrinter::new(CustomColumns::parse("A:.x", false).expect("columns"), &mut out);
    printer.print(&JsonValue::parse(br#"{"x":1}"#)).expect("a value");
    drop(printer);
    assert_eq!(out, b"A\n1\n");
}

#[test]
fn value_of_many_cells_is_aligned() {
    let tabs = "\\t".repeat(100_000);
    let text = lines("A:.x,B:.y", &[&format!(r#"{{"x":"{tabs}","y":1}}"#)]);
    assert_eq!(text.len(), "A     B\n".len() + 6 * 100_001 + "1\n".len());
}

/// The widths of columns as their definition has them: the widest cell among the neighbouring lines with the column.
fn expected_alignment(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let mut greatest: Vec<usize> = Vec::new();
    let mut widths = vec![Vec::new(); rows.len()];
    for column in 0.. {
        let has = |row: &Vec<String>| row.len() > column + 1;
        if !rows.iter().any(has) {
            break;
        }
        greatest.push(0);
        let mut at = 0;
        while at < rows.len() {
            let end = (at..rows.len()).find(|row| !has(&rows[*row])).unwrap_or(rows.len());
            if end > at {
                let widest = rows[at..end].iter().map(|row| row[column].chars().count() + 3).max();
                greatest[column] = greatest[column].max(widest.unwrap_or(0)).max(6);
                widths[at..end].iter_mut().for_each(|row: &mut Vec<usize>| row.push(greatest[column]));
            }
            at = end.max(at + 1);
        }
    }
    for (row, widths) in rows.iter().zip(widths) {
        for (at, cell) in row.iter().enumerate() {
            text.push_str(cell);
            let width: usize = widths.get(at).copied().unwrap_or(0);
            text.push_str(&" ".repeat(width.saturating_sub(cell.chars().count())));
        }
        text.push('\n');
    }
    text
}

proptest! {
    #[test]
    fn alignment_is_as_defined(rows in prop::collection::vec(prop::collection::vec("[a-zé]{0,12}", 1..5), 0..12)) {
        let text: String = rows.iter().map(|row| row.join("\t") + "\n").collect();
        prop_assert_eq!(aligned(&[&text]), expected_alignment(&rows));
    }

    #[test]
    fn parts_of_a_text_are_aligned_as_the_whole(text in "[ab\t\n\u{b}\u{c}é]{0,60}", at in 0..60_usize) {
        let at = text.floor_char_boundary(at.min(text.len()));
        prop_assert_eq!(aligned(&[&text[..at], &text[at..]]), aligned(&[&text]));
    }

    #[test]
    fn no_spec_or_template_panics(text in ".*|([A-C]{0,2}:[.a-c\\[\\]{}*]{0,8},?){0,3}|[A-C \n.{}]{0,20}") {
        for columns in [CustomColumns::parse(&text, false), CustomColumns::from_template(&text)].into_iter().flatten() {
            printed(columns, &[POD, r#"{"a":[{"b":"x\ty\n"}],"c":{"a":1}}"#]);
        }
    }
}
