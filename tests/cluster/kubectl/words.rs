//! The words of an invocation, split as a shell splits them.

/// Splits a line at spaces. Single quotes group literally; in double quotes a backslash escapes a quote or a backslash
/// and otherwise stands for itself.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quote = None;
    let mut rest = line.chars().peekable();
    while let Some(next) = rest.next() {
        match (quote, next) {
            (None, ' ') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(next);
                word.get_or_insert_default();
            }
            (Some(open), _) if next == open => quote = None,
            (Some('"'), '\\') if matches!(rest.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(rest.next());
            }
            _ => word.get_or_insert_default().push(next),
        }
    }
    assert!(quote.is_none(), "an open quote: {line}");
    words.extend(word);
    words
}

#[test]
fn words_are_split_as_a_shell_does() {
    assert_eq!(
        split("get  a 'b c' \"d 'e\" '' -o=x'{\"\\n\"}'"),
        ["get", "a", "b c", "d 'e", "", "-o=x{\"\\n\"}"]
    );
    assert_eq!(split(r#"a "b\"c\\d\.e""#), ["a", r#"b"c\d\.e"#]);
}
