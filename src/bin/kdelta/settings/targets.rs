//! The words after the command: `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME…`, as kubectl reads them.

use super::UsageError;

/// A type as it was typed, with the names asked for; no names: the whole collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// `pods`, `deploy`, `deployments.v1.apps`, … Discovery knows what it means.
    pub(crate) word: String,
    /// In the order typed, each once.
    pub(crate) names: Vec<String>,
}

/// Reads the words. Each type occurs once in the answer, in the order of its first mention.
///
/// Beyond kubectl, a comma list may mix both forms: `pods,deploy/web`.
pub(crate) fn parse(words: &[String], has_selector: bool) -> Result<Vec<Target>, UsageError> {
    let mentions = if words.iter().any(|word| word.contains('/')) {
        combined(words, has_selector)?
    } else {
        apart(words, has_selector)?
    };
    let mut targets: Vec<Target> = Vec::new();
    for &(word, _) in &mentions {
        if targets.iter().all(|target| target.word != word) {
            targets.push(Target { word: word.to_owned(), names: names_of(word, &mentions) });
        }
    }
    if targets.is_empty() { Err(UsageError::NoResource) } else { Ok(targets) }
}

/// A type, and the name mentioned with it.
type Mention<'a> = (&'a str, Option<&'a str>);

/// `TYPE/NAME` and comma lists of it.
fn combined(words: &[String], has_selector: bool) -> Result<Vec<Mention<'_>>, UsageError> {
    if words.iter().any(|word| !word.contains('/')) {
        return Err(UsageError::MixedForms);
    }
    if has_selector {
        return Err(UsageError::SelectorWithSlash);
    }
    let mention = |item| match str::split_once(item, '/') {
        None => Ok((item, None)),
        Some((_, name)) if name.contains('/') => Err(UsageError::SlashesInName),
        Some(("", _) | (_, "")) => Err(UsageError::EmptyTypeOrName),
        Some((word, name)) => Ok((word, Some(name))),
    };
    words.iter().flat_map(|word| items(word)).map(mention).collect()
}

/// `TYPE[,TYPE…] [NAME…]`: every name of every type.
fn apart(words: &[String], has_selector: bool) -> Result<Vec<Mention<'_>>, UsageError> {
    let Some((types, names)) = words.split_first() else { return Err(UsageError::NoResource) };
    if has_selector && !names.is_empty() {
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

fn items(word: &str) -> impl Iterator<Item = &str> {
    word.split(',').filter(|item| !item.is_empty())
}

/// The names mentioned with a type, each once; none when the type was also mentioned alone, which is all of them.
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
        match parse(&words, false) {
            Ok(targets) => Ok(targets.into_iter().map(|target| (target.word, target.names)).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn targets(expected: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        expected.iter().map(|(word, names)| ((*word).to_owned(), owned(names))).collect()
    }

    #[test]
    fn the_forms_of_kubectl_are_read() {
        assert_eq!(read("pods"), Ok(targets(&[("pods", &[])])));
        assert_eq!(read("pods a b a"), Ok(targets(&[("pods", &["a", "b"])])));
        assert_eq!(read("po,svc,po"), Ok(targets(&[("po", &[]), ("svc", &[])])));
        assert_eq!(read("po,svc a"), Ok(targets(&[("po", &["a"]), ("svc", &["a"])])));
        assert_eq!(read("po/a svc/x po/b po/a"), Ok(targets(&[("po", &["a", "b"]), ("svc", &["x"])])));
        assert_eq!(read("deployments.v1.apps/x"), Ok(targets(&[("deployments.v1.apps", &["x"])])));
    }

    #[test]
    fn a_comma_list_may_mix_types_and_names() {
        assert_eq!(read("pods,deploy/web"), Ok(targets(&[("pods", &[]), ("deploy", &["web"])])));
        assert_eq!(read("pods/a,pods"), Ok(targets(&[("pods", &[])])));
    }

    #[test]
    fn what_kubectl_refuses_is_refused_in_its_words() {
        for (line, words) in [
            ("pods svc/a", "there is no need to specify a resource type as a separate argument"),
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
    fn names_and_selectors_exclude_each_other() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parse(&words("po a"), true), Err(UsageError::SelectorWithName));
        assert_eq!(parse(&words("po/a"), true), Err(UsageError::SelectorWithSlash));
        assert!(parse(&words("po,svc"), true).is_ok());
    }
}
