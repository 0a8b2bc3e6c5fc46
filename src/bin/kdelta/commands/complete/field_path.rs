//! Partially typed paths to fields: in templates, columns, sort keys, indices and filters of updates. No I/O.

/// The beginning of a path, and the text around the name being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartialPath {
    /// The text before the name.
    pub(super) head: String,
    /// The typed part of the name.
    pub(super) typed: String,
    /// The names from the root down to the name being typed.
    pub(super) names: Vec<String>,
    pub(super) root: Root,
    pub(super) style: PathStyle,
}

/// The value that a path starts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    Object,
    /// A list of objects, under `items`.
    List,
}

/// The syntax of a path after a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathStyle {
    /// The brackets that a list needs before the fields of its elements.
    pub(super) brackets: Option<&'static str>,
    /// Whether the path may end at an object or a list.
    pub(super) ends_anywhere: bool,
    /// The text after the last field.
    pub(super) end: &'static str,
}

/// kubectl's paths to a single value, in columns and sort keys.
const VALUE: PathStyle = PathStyle { brackets: Some("[*]"), ends_anywhere: false, end: "" };
/// The expressions of kubectl's templates.
const TEMPLATE: PathStyle = PathStyle { brackets: Some("[*]"), ends_anywhere: true, end: "}" };
/// The paths of jq.
const JQ: PathStyle = PathStyle { brackets: Some("[]"), ends_anywhere: true, end: "" };
/// kdelta's paths in `--only` and `--ignore`.
const OWN: PathStyle = PathStyle { brackets: None, ends_anywhere: true, end: "" };

/// Parses the template of `-o jsonpath=`, up to the end of the word. In a `range`, paths start at its elements.
pub(super) fn json_path(text: &str, root: Root) -> Option<PartialPath> {
    let mut ranges: Vec<Vec<String>> = Vec::new();
    let mut rest = text;
    while let Some((_, inner)) = rest.split_once('{') {
        let base = ranges.last().cloned().unwrap_or_default();
        let is_range = inner.trim_start().starts_with("range ");
        let path = if is_range { inner.split_once("range ").map_or(inner, |(_, path)| path) } else { inner };
        let Some((action, after)) = inner.split_once('}') else {
            let before = &text[..text.len() - path.len()];
            return template_path(before, path, base, root);
        };
        if is_range {
            let path = path.split_once('}').map_or(path, |(path, _)| path);
            ranges.push([base, steps(path.trim())?.finished()].concat());
        } else if action.trim() == "end" {
            ranges.pop();
        }
        rest = after;
    }
    let base = ranges.pop().unwrap_or_default();
    if rest.is_empty() { template_path(&format!("{text}{{"), "", base, root) } else { None }
}

fn template_path(before: &str, path: &str, base: Vec<String>, root: Root) -> Option<PartialPath> {
    in_list(with_dot(before, path, TEMPLATE)?, base, root)
}

/// Returns the path below `base`, in an object or in an item of a list.
fn in_list(mut found: PartialPath, base: Vec<String>, root: Root) -> Option<PartialPath> {
    let mut names = [base, found.names].concat();
    found.root = root;
    if root == Root::List && !names.is_empty() {
        // The other members of a list have no documented fields.
        if names.remove(0) != "items" {
            return None;
        }
        found.root = Root::Object;
    }
    Some(PartialPath { names, ..found })
}

/// Parses the expression of `-o jq=`, up to the end of the word. After a pipe, paths start at the results before it; only
/// paths and `select` can stand there.
pub(super) fn jq_path(text: &str, root: Root) -> Option<PartialPath> {
    let (piped, last) = text.rsplit_once('|').map_or((None, text), |(piped, last)| (Some(piped), last));
    let mut base: Vec<String> = Vec::new();
    for stage in piped.iter().flat_map(|piped| piped.split('|')).map(str::trim) {
        if stage.starts_with('.') {
            base.extend(steps(stage)?.finished());
        } else if !(stage.starts_with("select(") && stage.ends_with(')')) {
            return None;
        }
    }
    let start = last.rfind([' ', '(', ',', '{', ':', ';']).map_or(0, |at| at + 1);
    let path = &last[start..];
    // A name without a dot is a function.
    let is_path = path.starts_with('.') || (path.is_empty() && last.trim().is_empty());
    if !is_path {
        return None;
    }
    let before = &text[..text.len() - path.len()];
    in_list(with_dot(before, path, JQ)?, base, root)
}

/// Parses the columns of `-o custom-columns=`, up to the end of the word.
pub(super) fn custom_columns(text: &str) -> Option<PartialPath> {
    let column = text.rsplit(',').next().unwrap_or_default();
    let (_, path) = column.split_once(':')?;
    braced(&text[..text.len() - path.len()], path, VALUE, with_dot)
}

/// Parses the path of `--sort-by`.
pub(super) fn sort_key(text: &str) -> Option<PartialPath> {
    braced("", text, VALUE, with_dot)
}

/// Parses the path of `--only` or `--ignore`.
pub(super) fn update_filter(text: &str) -> Option<PartialPath> {
    braced("", text, OWN, with_steps)
}

/// Parses the path of `--by field:`, which `end` follows.
pub(super) fn index_field(text: &str, end: &'static str) -> Option<PartialPath> {
    with_steps("", text, PathStyle { ends_anywhere: false, end, ..OWN })
}

type Parser = fn(&str, &str, PathStyle) -> Option<PartialPath>;

/// Parses a path that may be in braces.
fn braced(before: &str, path: &str, style: PathStyle, parse: Parser) -> Option<PartialPath> {
    match path.strip_prefix('{') {
        Some(inner) => parse(&format!("{before}{{"), inner, PathStyle { end: "}", ..style }),
        None => parse(before, path, style),
    }
}

/// As [`with_steps`], for paths that start with a dot.
fn with_dot(before: &str, path: &str, style: PathStyle) -> Option<PartialPath> {
    match path {
        "" | "$" => with_steps(before, &format!("{path}."), style),
        _ => with_steps(before, path, style),
    }
}

fn with_steps(before: &str, path: &str, style: PathStyle) -> Option<PartialPath> {
    let Steps { names, last, .. } = steps(path)?;
    let (head, typed) = match last {
        Some(at) => (format!("{before}{}", &path[..at]), path[at..].to_owned()),
        // After brackets.
        None => (format!("{before}{path}."), String::new()),
    };
    Some(PartialPath { head, typed, names, root: Root::Object, style })
}

/// The steps of a path.
struct Steps<'a> {
    /// The names before the last.
    names: Vec<String>,
    /// The position of the last name; `None` if the path ends with a bracket.
    last: Option<usize>,
    path: &'a str,
}

impl Steps<'_> {
    /// Returns all names, of a path that is complete.
    fn finished(self) -> Vec<String> {
        let last = self.last.map(|at| &self.path[at..]).filter(|name| !name.is_empty() && *name != "*");
        self.names.into_iter().chain(last.map(|name| name.replace('\\', ""))).collect()
    }
}

/// Splits a path. Returns `None` for anything but names and closed brackets.
fn steps(path: &str) -> Option<Steps<'_>> {
    let mut names = Vec::new();
    let mut at = usize::from(path.starts_with('$'));
    at += usize::from(path[at..].starts_with('.'));
    loop {
        let rest = &path[at..];
        let end = name_end(rest)?;
        let (name, after) = rest.split_at(end);
        if after.is_empty() {
            return Some(Steps { names, last: Some(at), path });
        }
        match name {
            "" if path[..at].ends_with('.') && after.starts_with('.') => return None,
            "" | "*" => {}
            name => names.push(name.replace('\\', "")),
        }
        at += end;
        while let Some(inside) = path[at..].strip_prefix('[') {
            let (name, length) = bracket(inside)?;
            names.extend(name);
            at += 1 + length;
        }
        match path[at..].chars().next() {
            None => return Some(Steps { names, last: None, path }),
            Some('.') => at += 1,
            Some(_) => return None,
        }
    }
}

/// Returns the end of a name: the first unescaped dot or bracket. Returns `None` for characters of other expressions.
fn name_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => drop(chars.next()?),
            '.' | '[' => return Some(at),
            ' ' | '{' | '}' | '(' | ')' | ',' | ']' | '@' | '$' | '"' | '\'' => return None,
            _ => {}
        }
    }
    Some(text.len())
}

/// Returns the quoted name in brackets, if that is what they hold, and the length of the rest of the brackets.
fn bracket(inside: &str) -> Option<(Option<String>, usize)> {
    if let Some(quote) = inside.chars().next().filter(|char| matches!(char, '\'' | '"')) {
        let name = inside[1..].split_once(quote)?.0;
        let length = name.len() + 2;
        return inside[length..].starts_with(']').then(|| (Some(name.to_owned()), length + 1));
    }
    let filter = inside.starts_with("?(").then(|| inside.find(")]").map(|at| at + 2));
    let length = filter.unwrap_or_else(|| inside.find(']').map(|at| at + 1))?;
    Some((None, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text before the name, the name, and the names above it.
    fn shown(path: Option<PartialPath>) -> Option<String> {
        let path = path?;
        let root = if path.root == Root::List { "list " } else { "" };
        Some(format!("{root}{}|{} {}", path.head, path.typed, path.names.join(" ")).trim_end().to_owned())
    }

    #[test]
    fn template_is_split_at_the_name_being_typed() {
        for (text, expected) in [
            ("", Some("{.|")),
            ("{", Some("{.|")),
            ("{.", Some("{.|")),
            ("{.me", Some("{.|me")),
            ("{.metadata.na", Some("{.metadata.|na metadata")),
            ("{$.metadata.na", Some("{$.metadata.|na metadata")),
            ("{.spec.containers[*].im", Some("{.spec.containers[*].|im spec containers")),
            ("{.spec.containers[0]", Some("{.spec.containers[0].| spec containers")),
            (
                "{.status.conditions[?(@.type==\"Ready\")].st",
                Some("{.status.conditions[?(@.type==\"Ready\")].|st status conditions"),
            ),
            ("{.metadata.labels['a.b'].x", Some("{.metadata.labels['a.b'].|x metadata labels a.b")),
            ("{.a\\.b.c", Some("{.a\\.b.|c a.b")),
            ("{.kind} {.me", Some("{.kind} {.|me")),
            ("{.kind}", Some("{.kind}{.|")),
            ("{.kind} and", None),
            ("{range .spec.containers[*]}{.na", Some("{range .spec.containers[*]}{.|na spec containers")),
            ("{range .a[*]}{.x}{end}{.na", Some("{range .a[*]}{.x}{end}{.|na")),
            ("{range .sp", Some("{range .|sp")),
            ("{..name", None),
            ("{.a..b", None),
            ("{.a[?(@.x", None),
            ("{\"text", None),
            ("{.a[*", None),
        ] {
            assert_eq!(shown(json_path(text, Root::Object)).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn jq_paths_start_at_the_results_before_a_pipe() {
        for (text, expected) in [
            ("", Some("list .|")),
            (".it", Some("list .|it")),
            (".items[].metadata.na", Some(".items[].metadata.|na metadata")),
            (".items[] | .spec.no", Some(".items[] | .spec.|no spec")),
            (".items[]|", Some(".items[]|.|")),
            (".items[] | select(.status.ph", Some(".items[] | select(.status.|ph status")),
            (
                ".items[] | select(.a == 1) | [.metadata.name, .spec.no",
                Some(".items[] | select(.a == 1) | [.metadata.name, .spec.|no spec"),
            ),
            (".items[].spec.containers[]", Some(".items[].spec.containers[].| spec containers")),
            (".items | length", None),
            (".items | length | .x", None),
            ("keys", None),
            (".items[] | select(.a | .b", None),
        ] {
            assert_eq!(shown(jq_path(text, Root::List)).as_deref(), expected, "{text}");
        }
        assert_eq!(shown(jq_path(".sp", Root::Object)).as_deref(), Some(".|sp"));
    }

    #[test]
    fn template_over_a_list_starts_at_items() {
        for (text, expected) in [
            ("", Some("list {.|")),
            ("{.it", Some("list {.|it")),
            ("{.items[*].me", Some("{.items[*].|me")),
            ("{.items[0].metadata.na", Some("{.items[0].metadata.|na metadata")),
            ("{range .items[*]}{.metadata.na", Some("{range .items[*]}{.metadata.|na metadata")),
            ("{.metadata.res", None),
        ] {
            assert_eq!(shown(json_path(text, Root::List)).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn columns_sort_keys_and_filters_are_paths() {
        for (path, expected) in [
            (
                custom_columns("NAME:.metadata.name,NODE:.spec.no"),
                Some("NAME:.metadata.name,NODE:.spec.|no spec"),
            ),
            (custom_columns("NAME:"), Some("NAME:.|")),
            (custom_columns("NAME:metadata.na"), Some("NAME:metadata.|na metadata")),
            (custom_columns("NA"), None),
            (sort_key(""), Some(".|")),
            (sort_key("{.metadata.na"), Some("{.metadata.|na metadata")),
            (
                sort_key(".status.containerStatuses[0].re"),
                Some(".status.containerStatuses[0].|re status containerStatuses"),
            ),
            (update_filter(""), Some("|")),
            (update_filter("sp"), Some("|sp")),
            (update_filter("spec.containers.im"), Some("spec.containers.|im spec containers")),
            (index_field("status.ph", "="), Some("status.|ph status")),
        ] {
            assert_eq!(shown(path).as_deref(), expected);
        }
        assert_eq!(sort_key("{.").expect("a path").style.end, "}");
        assert_eq!(sort_key(".").expect("a path").style.end, "");
        assert_eq!(index_field("", "=").expect("a path").style.end, "=");
    }
}
