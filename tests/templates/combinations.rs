//! Templates that are combined by a seed: valid ones from a grammar, and words in any order.

use fastrand::Rng;

const FIELDS: &[&str] = &[
    ".",
    "$",
    ".kind",
    ".missing",
    ".nothing",
    ".missing.x",
    ".nothing.x",
    ".kind.x",
    ".n.int",
    ".n.neg",
    ".n.float",
    ".n.big",
    ".n.tiny",
    ".n.half",
    ".s.word",
    ".s.uni",
    ".s.empty",
    ".l.ints",
    ".l.strings",
    ".l.nulls",
    ".l.empty",
    ".m",
    ".m.deep.a",
    ".m.nulls.x",
    ".t",
    ".f",
    ".metadata.labels",
    ".items",
    ".metadata.name",
    "$x",
    "$y",
    "$.kind",
    "$x.metadata.name",
];

const LITERALS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "5",
    "1.5",
    "1e6",
    "'\\x07'",
    "2i",
    "true",
    "false",
    "nil",
    "\"\"",
    "\"a\"",
    "\"kind\"",
    "\"hello\"",
    "`r`",
    "\"metadata\"",
    "\"é\"",
    "0x9",
];

const FUNCTIONS: &[&str] = &[
    "and",
    "or",
    "not",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "index",
    "slice",
    "len",
    "print",
    "println",
    "html",
    "js",
    "urlquery",
    "exists",
    "base64decode",
    "call",
];

const VERBS: &[&str] = &[
    "v", "d", "s", "q", "x", "X", "o", "O", "b", "c", "U", "e", "E", "f", "F", "g", "G", "t", "T", "%", "z",
    "!", "w", "é",
];

/// Words of the language that may follow each other in any order.
const WORDS: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    "{{- ",
    " -}}",
    "{{/*",
    "*/}}",
    "if",
    "else",
    "end",
    "range",
    "with",
    "define",
    "template",
    "block",
    "break",
    "continue",
    "nil",
    "true",
    ".",
    ".kind",
    ".l.ints",
    "$",
    "$x",
    ":=",
    "=",
    ",",
    "|",
    "(",
    ")",
    "\"a\"",
    "`a`",
    "'a'",
    "1",
    "-1",
    "1.5",
    "0x",
    "1i",
    "print",
    "len",
    "none",
    " ",
    "\n",
    "\t",
    "text",
    "!",
    "\u{1}",
    "é",
    "{{end}}",
    "{{else}}",
    "{{if .t}}",
    "{{range .l.ints}}",
    "{{with .s}}",
    "{{$x := 1}}",
    "{{define \"a\"}}",
    "{{template \"a\" .}}",
    "{{block \"b\" .}}",
    "\"",
    "`",
    "'",
];

/// Returns a template, mostly a valid one.
pub(super) fn template(rng: &mut Rng) -> String {
    if rng.u8(..4) == 0 {
        return (0..rng.usize(1..25)).map(|_| pick(rng, WORDS)).collect();
    }
    let mut text = String::from("{{$x := .}}{{$y := 1}}");
    for _ in 0..rng.usize(1..4) {
        node(rng, 3, &mut text);
    }
    text.push_str("{{define \"a\"}}[{{.}}]{{end}}");
    text
}

fn pick(rng: &mut Rng, words: &[&'static str]) -> &'static str {
    words[rng.usize(..words.len())]
}

fn add(text: &mut String, part: &str) {
    text.push_str(part);
}

fn node(rng: &mut Rng, depth: usize, text: &mut String) {
    let open = if rng.u8(..8) == 0 { " {{- " } else { "{{" };
    let close = if rng.u8(..8) == 0 { " -}} " } else { "}}" };
    let kind = if depth == 0 { rng.u8(..3) } else { rng.u8(..9) };
    let value = pipeline(rng, 2);
    let body = |rng: &mut Rng, text: &mut String| {
        for _ in 0..rng.usize(..3) {
            node(rng, depth - 1, text);
        }
    };
    match kind {
        0 => text.push_str(pick(rng, &["text", " a ", "\n", "-", "%", "é\n\t"])),
        1 | 2 => add(text, &format!("{open}{value}{close}")),
        // A value that grows in a range would fill Go's memory.
        3 => add(text, &format!("{open}$x {}= {}{close}", pick(rng, &["", ":"]), pick(rng, FIELDS))),
        4 => add(text, &format!("{open}template \"a\" {value}{close}")),
        _ => {
            let word =
                pick(rng, &["if", "with", "range", "range", "range $i, $e :=", "range $x =", "if $z :="]);
            add(text, &format!("{open}{word} {value}{close}"));
            body(rng, text);
            if word.starts_with("range") && rng.bool() {
                add(
                    text,
                    &format!("{{{{if {value}}}}}{{{{{}}}}}{{{{end}}}}", pick(rng, &["break", "continue"])),
                );
                body(rng, text);
            }
            if rng.bool() {
                text.push_str("{{else}}");
                body(rng, text);
            }
            text.push_str("{{end}}");
        }
    }
}

fn pipeline(rng: &mut Rng, depth: usize) -> String {
    let first = if rng.bool() { operand(rng, depth) } else { call(rng, depth) };
    if rng.u8(..4) == 0 { format!("{first} | {}", call(rng, depth)) } else { first }
}

fn call(rng: &mut Rng, depth: usize) -> String {
    let mut text = if rng.u8(..3) == 0 { format_call(rng) } else { pick(rng, FUNCTIONS).to_owned() };
    for _ in 0..rng.usize(..4) {
        text.push(' ');
        text.push_str(&operand(rng, depth));
    }
    text
}

fn operand(rng: &mut Rng, depth: usize) -> String {
    match rng.u8(..8) {
        0..4 => pick(rng, FIELDS).to_owned(),
        4..6 => pick(rng, LITERALS).to_owned(),
        _ if depth > 0 => format!("({}){}", pipeline(rng, depth - 1), pick(rng, &["", "", ".kind", ".x.y"])),
        _ => pick(rng, LITERALS).to_owned(),
    }
}

/// Returns `printf` with a format of random flags, widths, precisions and verbs.
fn format_call(rng: &mut Rng) -> String {
    let mut text = String::from("printf \"");
    for _ in 0..rng.usize(1..4) {
        text.push('%');
        for _ in 0..rng.usize(..3) {
            text.push_str(pick(rng, &["+", "-", "#", " ", "0", ""]));
        }
        text.push_str(pick(rng, &["", "", "3", "12", "*", "[1]", "[2]"]));
        text.push_str(pick(rng, &["", "", ".", ".0", ".2", ".9", ".*"]));
        text.push_str(pick(rng, VERBS));
        text.push_str(pick(rng, &["", " ", "|"]));
    }
    text.push('"');
    text
}
