//! Patterns of file names, by the rules of Go's `path/filepath`: `*` and `?` match no slash, and a leading dot is
//! not special.

use std::fs;

/// A pattern that can't be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub(super) struct BadPattern;

/// Returns the existing paths that match a pattern, sorted within each folder. Folders that can't be read have none.
pub(super) fn matching_paths(pattern: &str) -> Result<Vec<String>, BadPattern> {
    Pattern::parse(pattern)?;
    if !has_wildcard(pattern) {
        return Ok(if fs::symlink_metadata(pattern).is_ok() { vec![pattern.to_owned()] } else { Vec::new() });
    }
    let (folder, name) = split(pattern);
    let name = Pattern::parse(name)?;
    if !has_wildcard(folder) {
        return Ok(matching_names(folder, &name));
    }
    if folder == pattern {
        return Err(BadPattern);
    }
    let folders = matching_paths(folder)?;
    Ok(folders.iter().flat_map(|folder| matching_names(folder, &name)).collect())
}

/// Splits a path into its folder and the name in it.
fn split(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        None => (".", path),
        Some(0) => ("/", &path[1..]),
        Some(slash) => (&path[..slash], &path[slash + 1..]),
    }
}

fn has_wildcard(path: &str) -> bool {
    path.contains(['*', '?', '[', '\\'])
}

/// Returns the paths of the entries of a folder that match.
fn matching_names(folder: &str, name: &Pattern) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names.retain(|entry| name.matches(entry));
    names.iter().map(|entry| join(folder, entry)).collect()
}

/// Joins a folder and a name, without the segments of the folder that have no effect.
pub(super) fn join(folder: &str, name: &str) -> String {
    let absolute = if folder.starts_with('/') { "/" } else { "" };
    let mut segments: Vec<&str> = Vec::new();
    for segment in folder.split('/').chain([name]) {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            ".." if !absolute.is_empty() => {}
            segment => segments.push(segment),
        }
    }
    format!("{absolute}{}", segments.join("/"))
}

/// A parsed pattern.
struct Pattern(Vec<Token>);

enum Token {
    /// `*`: any number of characters but slashes.
    Any,
    /// `?`: a character but a slash.
    One,
    Character(char),
    /// `[a-z]`, `[^a-z]`.
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, BadPattern> {
        let mut tokens = Vec::new();
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            tokens.push(match character {
                '*' => Token::Any,
                '?' => Token::One,
                '\\' => Token::Character(rest.next().ok_or(BadPattern)?),
                '[' => {
                    let is_negated = rest.next_if_eq(&'^').is_some();
                    let mut ranges = Vec::new();
                    while ranges.is_empty() || rest.next_if_eq(&']').is_none() {
                        let low = bound(&mut rest)?;
                        let high = if rest.next_if_eq(&'-').is_some() { bound(&mut rest)? } else { low };
                        ranges.push((low, high));
                    }
                    Token::Class { is_negated, ranges }
                }
                character => Token::Character(character),
            });
        }
        Ok(Self(tokens))
    }

    fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut token, mut at) = (0, 0);
        // The position after the last `*`, and that of the text after what it matches so far.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let is_match = match (self.0.get(token), text.get(at)) {
                (None, None) => return true,
                (Some(Token::Any), _) => {
                    retry = Some((token + 1, at));
                    token += 1;
                    continue;
                }
                (Some(Token::One), Some(found)) => *found != '/',
                (Some(Token::Character(expected)), Some(found)) => expected == found,
                (Some(Token::Class { is_negated, ranges }), Some(found)) => {
                    ranges.iter().any(|(low, high)| (low..=high).contains(&found)) != *is_negated
                }
                _ => false,
            };
            if is_match {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            match retry {
                Some((after, matched)) if text.get(matched).is_some_and(|skipped| *skipped != '/') => {
                    retry = Some((after, matched + 1));
                    (token, at) = (after, matched + 1);
                }
                _ => return false,
            }
        }
    }
}

/// Reads a character of a class. The class must go on after it.
fn bound(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<char, BadPattern> {
    let character = match rest.next() {
        None | Some('-' | ']') => return Err(BadPattern),
        Some('\\') => rest.next().ok_or(BadPattern)?,
        Some(character) => character,
    };
    if rest.peek().is_none() { Err(BadPattern) } else { Ok(character) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Taken from the tests of Go's path/filepath.
    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, text, expected) in [
            ("abc", "abc", Ok(true)),
            ("*", "abc", Ok(true)),
            ("*c", "abc", Ok(true)),
            ("a*", "a", Ok(true)),
            ("a*", "ab/c", Ok(false)),
            ("a*/b", "abc/b", Ok(true)),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/f", Ok(true)),
            ("a*b?c*x", "abxbbxdbxebxczzx", Ok(true)),
            ("a*b?c*x", "abxbbxdbxebxczzy", Ok(false)),
            ("ab[c]", "abc", Ok(true)),
            ("ab[b-d]", "abc", Ok(true)),
            ("ab[^b-d]", "abc", Ok(false)),
            ("ab[^e-g]", "abc", Ok(true)),
            ("a\\*b", "a*b", Ok(true)),
            ("a\\*b", "ab", Ok(false)),
            ("a?b", "a☺b", Ok(true)),
            ("a[^a]b", "a☺b", Ok(true)),
            ("[\\]a]", "]", Ok(true)),
            ("[\\-x]", "x", Ok(true)),
            ("[]a]", "]", Err(BadPattern)),
            ("[-]", "-", Err(BadPattern)),
            ("[x-]", "x", Err(BadPattern)),
            ("[-x]", "x", Err(BadPattern)),
            ("\\", "a", Err(BadPattern)),
            ("[a-b-c]", "a", Err(BadPattern)),
            ("[", "a", Err(BadPattern)),
            ("[^", "a", Err(BadPattern)),
            ("[^bc", "a", Err(BadPattern)),
            ("a[", "ab", Err(BadPattern)),
            ("*x", "xxx", Ok(true)),
            ("", "", Ok(true)),
        ] {
            let found = Pattern::parse(pattern).map(|pattern| pattern.matches(text));
            assert_eq!(found, expected, "{pattern} {text}");
        }
    }

    #[test]
    fn paths_are_sorted_and_clean() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_str().expect("text");
        for path in ["b/x.yaml", "b/.y.yaml", "a/x.yaml", "a/z.json"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        let found = |pattern: &str| -> Vec<String> {
            let found = matching_paths(&format!("{root}/{pattern}")).expect(pattern);
            found.iter().map(|path| path[root.len() + 1..].to_owned()).collect()
        };
        assert_eq!(found("*/*.yaml"), ["a/x.yaml", "b/.y.yaml", "b/x.yaml"]);
        assert_eq!(found("./a/[x-z].*"), ["a/x.yaml", "a/z.json"]);
        assert_eq!((found("c/*"), found("a/x.yaml/*")), (Vec::<String>::new(), Vec::new()));
        assert_eq!(matching_paths("a["), Err(BadPattern));
        assert_eq!(join("./a/../b//", "c"), "b/c");
        assert_eq!(join("..", "c"), "../c");
        assert_eq!(join("/", "c"), "/c");
        assert_eq!(join(".", "c"), "c");
    }
}
