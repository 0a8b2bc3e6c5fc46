//! The positional words `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME…`, parsed as kubectl does, and `--all-kinds`.

use super::{Pattern, UsageError};

/// Types as typed, with the requested names; without names, the whole collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) types: Types,
    /// In the order typed; in `get` repeated names are kept, elsewhere each occurs once. Empty for patterns of types.
    pub(crate) names: Vec<String>,
    /// The patterns of names, likewise.
    pub(crate) patterns: Vec<Pattern>,
}

impl Target {
    fn of_types(types: Types) -> Self {
        Self { types, names: Vec::new(), patterns: Vec::new() }
    }

    /// Returns the target of the events of a server, as a type that may be missing or forbidden.
    pub(super) fn events() -> Self {
        let group = Some(Pattern::new(""));
        Self::of_types(Types::Matching { text: "events".to_owned(), plural: Pattern::new("events"), group })
    }

    /// Whether all objects of the types are selected.
    pub(crate) fn is_whole(&self) -> bool {
        self.names.is_empty() && self.patterns.is_empty()
    }
}

/// The types that a word selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Types {
    /// `pods`, `deploy`, `deployments.v1.apps`, `all`, …: resolved by discovery.
    Word(String),
    /// `'*.apps'`: the served types whose plural and group match.
    Matching {
        /// The pattern as typed.
        text: String,
        plural: Pattern,
        /// The pattern of the group; `None` matches any.
        group: Option<Pattern>,
    },
    /// `--all-kinds`.
    All,
}

impl Types {
    /// Whether the selected types may change over time.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self, Self::Word(_))
    }

    fn read(word: &str) -> Result<Self, UsageError> {
        let (plural, group) = match word.split_once('.') {
            Some((plural, group)) => (Pattern::new(plural), Some(Pattern::new(group))),
            None => (Pattern::new(word), None),
        };
        match &group {
            _ if Pattern::new(word).is_plain() => Ok(Self::Word(word.to_owned())),
            None if plural.is_any() => Err(UsageError::EveryType(word.to_owned())),
            _ => Ok(Self::Matching { text: word.to_owned(), plural, group }),
        }
    }
}

/// Parses the words. Each type occurs once in the result, in order of first mention; `all_kinds` comes first.
///
/// Unlike in kubectl, types and names may be mixed: `pods,deploy/web`, `pods deploy/web`.
pub(crate) fn parse(
    words: &[String],
    has_selector: bool,
    all_kinds: bool,
) -> Result<Vec<Target>, UsageError> {
    let mentions = match words {
        [] if all_kinds => Vec::new(),
        _ if words.iter().any(|word| word.contains('/')) => slash_words(words, has_selector)?,
        _ => separate_words(words, has_selector)?,
    };
    let mut targets: Vec<Target> = Vec::new();
    targets.extend(all_kinds.then(|| Target::of_types(Types::All)));
    for &(word, _) in &mentions {
        let (names, patterns) =
            names_of(word, &mentions).into_iter().partition::<Vec<_>, _>(|name| is_plain(name));
        let patterns = patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
        let target = Target { types: Types::read(word)?, names, patterns };
        if target.types.is_open() && !target.is_whole() {
            return Err(UsageError::NamesOfMany(word.to_owned()));
        }
        if targets.iter().all(|other| other.types != target.types) {
            targets.push(target);
        }
    }
    if targets.is_empty() { Err(UsageError::NoResource) } else { Ok(targets) }
}

/// Parses the words as kubectl's `get` does. Names stay in the order typed, with their repetitions, and may have commas.
pub(super) fn parse_as_get(
    words: &[String],
    has_selector: bool,
    all_kinds: bool,
) -> Result<Vec<Target>, UsageError> {
    check_form_of_get(words)?;
    read_as_get(words, has_selector, all_kinds)
}

/// Parses the words as kubectl's `get -w` does.
pub(super) fn parse_as_get_watch(
    words: &[String],
    has_selector: bool,
    all_kinds: bool,
) -> Result<Vec<Target>, UsageError> {
    match (words, check_form_of_get(words)) {
        ([], Ok(())) if !all_kinds => return Err(UsageError::NothingToWatch),
        // One of several types is empty.
        ([types], Err(UsageError::EmptyType)) if types.contains(',') => return Err(UsageError::SeveralTypes),
        (_, checked) => checked?,
    }
    read_as_get(words, has_selector, all_kinds)
}

fn read_as_get(words: &[String], has_selector: bool, all_kinds: bool) -> Result<Vec<Target>, UsageError> {
    let has_names = words.iter().skip(1).any(|name| is_plain(name));
    let mut targets = Vec::new();
    targets.extend(all_kinds.then(|| Target::of_types(Types::All)));
    match words.split_first() {
        None if !all_kinds => return Err(UsageError::NoResource),
        None => {}
        Some((first, _)) if first.contains('/') => {
            for word in words {
                if has_selector && word.split_once('/').is_none_or(|(_, name)| is_plain(name)) {
                    return Err(UsageError::SelectorWithSlash);
                }
                let (types, name) = word.split_once('/').ok_or(UsageError::MixedForms)?;
                if types.is_empty() || name.is_empty() {
                    return Err(UsageError::EmptyTypeOrName);
                }
                add(&mut targets, types, vec![name.to_owned()])?;
            }
        }
        Some(_) if has_selector && has_names => return Err(UsageError::SelectorWithName),
        Some((types, names)) => {
            let mut seen = Vec::new();
            for word in types.split(',').filter(|word| !word.is_empty()) {
                if !seen.contains(&word) {
                    seen.push(word);
                    add(&mut targets, word, names.to_vec())?;
                }
            }
        }
    }
    if targets.is_empty() { Err(UsageError::NoResource) } else { Ok(targets) }
}

/// Adds a type with names, to the target before it if that has the same type.
fn add(targets: &mut Vec<Target>, word: &str, names: Vec<String>) -> Result<(), UsageError> {
    let types = Types::read(word)?;
    if types.is_open() && !names.is_empty() {
        return Err(UsageError::NamesOfMany(word.to_owned()));
    }
    let (names, patterns) = names.into_iter().partition::<Vec<_>, _>(|name| is_plain(name));
    let patterns = patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
    let target = Target { types, names, patterns };
    match targets.last_mut() {
        Some(last) if last.types == target.types && !target.is_whole() => {
            last.names.extend(target.names);
            last.patterns.extend(target.patterns);
        }
        _ => targets.push(target),
    }
    Ok(())
}

/// Rejects the words that kubectl's `get` rejects: types and `TYPE/NAME` mixed, several of them in one word, and empty
/// types.
fn check_form_of_get(words: &[String]) -> Result<(), UsageError> {
    let Some((types, names)) = words.split_first() else { return Ok(()) };
    let slashes = words.iter().filter(|word| word.contains('/')).count();
    let is_product = types.contains(',') && !names.is_empty();
    if is_product && slashes > 0 {
        // kubectl joins each type with each word after it, so that these have two slashes.
        return Err(UsageError::SlashesInName);
    }
    match slashes {
        0 if types.split(',').any(str::is_empty) => Err(UsageError::EmptyType),
        0 if types == "all" && names.iter().any(|name| is_plain(name)) => Err(UsageError::NamesOfAll),
        0 => Ok(()),
        _ if slashes < words.len() => Err(UsageError::MixedForms),
        _ if words.iter().any(|word| word.matches('/').count() > 1) => Err(UsageError::SlashesInName),
        _ if words.iter().any(|word| word.split('/').next().is_some_and(|types| types.contains(','))) => {
            Err(UsageError::EmptyTypeOrName)
        }
        _ => Ok(()),
    }
}

/// A type with the name mentioned along with it.
type Mention<'a> = (&'a str, Option<&'a str>);

/// Parses `TYPE/NAME` words, possibly mixed with types. Rejects what kubectl rejects and what has no meaning here: a
/// type followed by a `TYPE/NAME` of it.
fn slash_words(words: &[String], has_selector: bool) -> Result<Vec<Mention<'_>>, UsageError> {
    let mut after_slash =
        words.iter().flat_map(|word| items(word)).filter_map(|item| Some(item.split_once('/')?.1));
    if has_selector && after_slash.any(is_plain) {
        return Err(UsageError::SelectorWithSlash);
    }
    let mention = |item| match str::split_once(item, '/') {
        None => Ok((item, None)),
        Some((_, name)) if name.contains('/') => Err(UsageError::SlashesInName),
        Some(("", _) | (_, "")) => Err(UsageError::EmptyTypeOrName),
        Some((word, name)) => Ok((word, Some(name))),
    };
    let mentions: Vec<Mention<'_>> =
        words.iter().flat_map(|word| items(word)).map(mention).collect::<Result<_, _>>()?;
    let named = |word: &str| mentions.iter().any(|(other, name)| *other == word && name.is_some());
    if words.iter().any(|word| named(word)) {
        return Err(UsageError::MixedForms);
    }
    Ok(mentions)
}

/// Parses `TYPE[,TYPE…] [NAME…]`: every name of every type.
fn separate_words(words: &[String], has_selector: bool) -> Result<Vec<Mention<'_>>, UsageError> {
    let Some((types, names)) = words.split_first() else { return Err(UsageError::NoResource) };
    if has_selector && names.iter().any(|name| is_plain(name)) {
        return Err(UsageError::SelectorWithName);
    }
    let mut mentions = Vec::new();
    for word in items(types) {
        if names.is_empty() {
            mentions.push((word, None));
        }
        mentions.extend(names.iter().map(|name| (word, Some(name.as_str()))));
    }
    Ok(mentions)
}

/// Whether the name selects one object. A pattern may be combined with selectors.
fn is_plain(name: &str) -> bool {
    Pattern::new(name).is_plain()
}

fn items(word: &str) -> impl Iterator<Item = &str> {
    word.split(',').filter(|item| !item.is_empty())
}

/// Returns the names mentioned with a type, each once; empty if the type was also mentioned alone, which selects all.
fn names_of(word: &str, mentions: &[Mention<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, name) in mentions.iter().filter(|(mentioned, _)| *mentioned == word) {
        match name {
            None => return Vec::new(),
            Some(name) if names.iter().any(|known| known == name) => {}
            Some(name) => names.push((*name).to_owned()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<(String, Vec<String>)>, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let targets = parse(&words, false, false).map_err(|error| error.to_string())?;
        let label = |target: Target| {
            let patterns = target.patterns.iter().map(|pattern| format!("~{}", pattern.text()));
            let names = target.names.into_iter().chain(patterns).collect();
            match target.types {
                Types::Word(word) | Types::Matching { text: word, .. } => (word, names),
                Types::All => ("--all-kinds".to_owned(), names),
            }
        };
        Ok(targets.into_iter().map(label).collect())
    }

    fn targets(expected: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        expected.iter().map(|(word, names)| ((*word).to_owned(), owned(names))).collect()
    }

    #[test]
    fn kubectl_forms_are_parsed() {
        assert_eq!(read("pods"), Ok(targets(&[("pods", &[])])));
        assert_eq!(read("pods a b a"), Ok(targets(&[("pods", &["a", "b"])])));
        assert_eq!(read("po,svc,po"), Ok(targets(&[("po", &[]), ("svc", &[])])));
        assert_eq!(read("po,svc a"), Ok(targets(&[("po", &["a"]), ("svc", &["a"])])));
        assert_eq!(read("po/a svc/x po/b po/a"), Ok(targets(&[("po", &["a", "b"]), ("svc", &["x"])])));
        assert_eq!(read("deployments.v1.apps/x"), Ok(targets(&[("deployments.v1.apps", &["x"])])));
    }

    #[test]
    fn names_may_be_patterns() {
        assert_eq!(read("pods web-* db-1"), Ok(targets(&[("pods", &["db-1", "~web-*"])])));
        assert_eq!(read("po/web-? svc/x"), Ok(targets(&[("po", &["~web-?"]), ("svc", &["x"])])));
        assert_eq!(read("pods * pods"), Ok(targets(&[("pods", &["pods", "~*"])])));
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(parse(&words("po web-*"), true, false).is_ok(), "a selector applies too");
        assert!(parse(&words("po/web-*"), true, false).is_ok());
        assert_eq!(parse(&words("po web-* a"), true, false), Err(UsageError::SelectorWithName));
        assert_eq!(parse(&words("po/web-* po/a"), true, false), Err(UsageError::SelectorWithSlash));
        assert_eq!(check_form_of_get(&words("all web-*")), Ok(()));
    }

    #[test]
    fn get_rejects_what_kubectl_rejects() {
        let check = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            check_form_of_get(&words)
        };
        for words in
            [&["pods"][..], &["pods,svc"], &["pods", "a", "b"], &["pods,svc", "a"], &["po/a", "svc/b"], &[]]
        {
            assert_eq!(check(words), Ok(()), "{words:?}");
        }
        for (words, error) in [
            (&["svc/a,deploy/b"][..], UsageError::SlashesInName),
            (&["pods,svc", "po/a"], UsageError::SlashesInName),
            (&["pod/x", "pods"], UsageError::MixedForms),
            (&["pods", "../x"], UsageError::MixedForms),
            (&["pods/log", "x"], UsageError::MixedForms),
            (&["pods,svc/a"], UsageError::EmptyTypeOrName),
            (&["pods,"], UsageError::EmptyType),
            (&[",pods"], UsageError::EmptyType),
            (&[""], UsageError::EmptyType),
            (&["all", "web"], UsageError::NamesOfAll),
        ] {
            assert_eq!(check(words), Err(error), "{words:?}");
        }
    }

    #[test]
    fn get_keeps_order_repetitions_and_commas_of_names() {
        let read = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let targets = parse_as_get(&words, false, false).map_err(|error| error.to_string())?;
            let label = |target: Target| match target.types {
                Types::Word(word) => (word, target.names),
                other => panic!("{other:?}"),
            };
            Ok::<_, String>(targets.into_iter().map(label).collect::<Vec<_>>())
        };
        assert_eq!(read("po a b a"), Ok(targets(&[("po", &["a", "b", "a"])])));
        assert_eq!(
            read("po/a svc/x po/b po/b"),
            Ok(targets(&[("po", &["a"]), ("svc", &["x"]), ("po", &["b", "b"])]))
        );
        assert_eq!(read("clusterrole/a,b"), Ok(targets(&[("clusterrole", &["a,b"])])));
        assert_eq!(read("po,svc,po a"), Ok(targets(&[("po", &["a"]), ("svc", &["a"])])));
        assert_eq!(read("po,svc"), Ok(targets(&[("po", &[]), ("svc", &[])])));
        assert_eq!(read("po/"), Err(UsageError::EmptyTypeOrName.to_string()));
    }

    #[test]
    fn types_and_names_may_be_mixed() {
        for line in ["pods,svc,deploy/web", "pods,svc deploy/web", "pods svc deploy/web"] {
            assert_eq!(
                read(line),
                Ok(targets(&[("pods", &[]), ("svc", &[]), ("deploy", &["web"])])),
                "{line}"
            );
        }
        assert_eq!(read("pods/a,pods"), Ok(targets(&[("pods", &[])])));
    }

    #[test]
    fn pattern_matches_plural_and_group() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let parsed = parse(&words("*.example.com,pod*"), false, true).expect("fine");
        let types = |text: &str, plural: &str, group: Option<&str>| Types::Matching {
            text: text.into(),
            plural: Pattern::new(plural),
            group: group.map(Pattern::new),
        };
        let expected =
            [Types::All, types("*.example.com", "*", Some("example.com")), types("pod*", "pod*", None)];
        assert_eq!(parsed.into_iter().map(|target| target.types).collect::<Vec<_>>(), expected);
        assert_eq!(
            read("*.apps web"),
            Err("names can't be given with \"*.apps\", which stands for many types".into())
        );
        assert_eq!(read("*.apps/web"), read("*.apps web"));
        assert_eq!(read("*"), Err("\"*\" is no type; --all-kinds means every type".into()));
        assert!(parse(&[], false, true).is_ok());
    }

    #[test]
    fn kubectl_errors_are_reported_in_kubectls_words() {
        for (line, words) in [
            ("pods pods/a", "there is no need to specify a resource type as a separate argument"),
            ("po/a/b", "arguments in resource/name form may not have more than one slash"),
            ("po/", "arguments in resource/name form must have a single resource and name"),
            ("/a", "arguments in resource/name form must have a single resource and name"),
            ("", "Required resource not specified."),
            (",", "Required resource not specified."),
        ] {
            let error = read(line).expect_err(line);
            assert!(error.contains(words), "{line}: {error}");
        }
    }

    #[test]
    fn names_and_selectors_are_exclusive() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parse(&words("po a"), true, false), Err(UsageError::SelectorWithName));
        assert_eq!(parse(&words("po/a"), true, false), Err(UsageError::SelectorWithSlash));
        assert!(parse(&words("po,svc"), true, false).is_ok());
    }
}
