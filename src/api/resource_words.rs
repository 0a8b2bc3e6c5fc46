//! `TYPE[,TYPE…] [NAME…]` and `TYPE/NAME …`: what the words of a command line ask for, by kubectl's rules. Pure.

/// A word for a type, and which of its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The type as it was typed, without its name.
    pub word: String,
    /// The names, each once, in their order; none for all objects.
    pub names: Vec<String>,
}

/// What else was given that does not go with every form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context<'a> {
    /// The program as it was called, for the example in a message.
    pub program: &'a str,
    /// Whether objects are selected by label or field.
    pub has_selector: bool,
    /// Whether all objects were asked for by a flag.
    pub has_all: bool,
}

/// Why the words make no sense, in kubectl's words. Always an error of usage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordsError {
    /// No words at all.
    #[error("Required resource not specified.")]
    Nothing,
    /// `TYPE TYPE/NAME`.
    #[error(
        "there is no need to specify a resource type as a separate argument when passing arguments in resource/name \
         form (e.g. '{0} get resource/<resource_name>' instead of '{0} get resource resource/<resource_name>'"
    )]
    Mixed(String),
    /// `a/b/c`.
    #[error("arguments in resource/name form may not have more than one slash")]
    Slashes,
    /// `/a`, `a/`, `a,b/c`.
    #[error("arguments in resource/name form must have a single resource and name")]
    NotOneAndOne,
    /// Names and a selector.
    #[error("name cannot be provided when a selector is specified")]
    NameAndSelector,
    /// `TYPE/NAME` and a selector or the flag for all.
    #[error("selectors and the all flag cannot be used when passing resource/name arguments")]
    TupleAndSelector,
}

/// Reads the words of a command line. Types and names that repeat are asked for once; several types with names ask for
/// every name of every type.
///
/// # Errors
/// [`WordsError`] when they contradict each other.
pub fn parse(args: &[String], context: Context<'_>) -> Result<Vec<Asked>, WordsError> {
    let args = split_tuples(args);
    let with_slash = args.iter().filter(|arg| arg.contains('/')).count();
    if with_slash == 0 {
        return types_and_names(&args, context);
    }
    if with_slash < args.len() {
        return Err(WordsError::Mixed(context.program.to_owned()));
    }
    if context.has_selector || context.has_all {
        return Err(WordsError::TupleAndSelector);
    }
    let mut asked: Vec<Asked> = Vec::new();
    for arg in &args {
        let (word, name) = arg.split_once('/').unwrap_or((arg, ""));
        if name.contains('/') {
            return Err(WordsError::Slashes);
        }
        if word.is_empty() || name.is_empty() || word.contains(',') {
            return Err(WordsError::NotOneAndOne);
        }
        match asked.iter_mut().find(|known| known.word == word) {
            Some(known) if known.names.iter().any(|known| known == name) => {}
            Some(known) => known.names.push(name.to_owned()),
            None => asked.push(Asked { word: word.to_owned(), names: vec![name.to_owned()] }),
        }
    }
    Ok(asked)
}

/// `pod/a,svc/b` is two words; `pods,svc` stays one, since names may follow it.
fn split_tuples(args: &[String]) -> Vec<String> {
    let mut out = Vec::with_capacity(args.len());
    for arg in args {
        let parts: Vec<&str> = arg.split(',').filter(|part| !part.is_empty()).collect();
        if parts.len() > 1 && parts.iter().all(|part| part.contains('/')) {
            out.extend(parts.into_iter().map(str::to_owned));
        } else {
            out.push(arg.clone());
        }
    }
    out
}

fn types_and_names(args: &[String], context: Context<'_>) -> Result<Vec<Asked>, WordsError> {
    let (types, names) = args.split_first().ok_or(WordsError::Nothing)?;
    let types = once(types.split(',').filter(|word| !word.is_empty()));
    if types.is_empty() {
        return Err(WordsError::Nothing);
    }
    let names = once(names.iter().map(String::as_str).filter(|name| !name.is_empty()));
    if context.has_selector && !names.is_empty() {
        return Err(WordsError::NameAndSelector);
    }
    Ok(types.into_iter().map(|word| Asked { word, names: names.clone() }).collect())
}

fn once<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        if !out.iter().any(|known| known == word) {
            out.push(word.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_in(args: &str, context: Context<'_>) -> Result<Vec<(String, String)>, String> {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        let asked = parse(&args, context).map_err(|error| error.to_string())?;
        Ok(asked.into_iter().map(|one| (one.word, one.names.join(" "))).collect())
    }

    fn parsed(args: &str) -> Result<Vec<(String, String)>, String> {
        parse_in(args, Context { program: "kdelta", ..Context::default() })
    }

    fn asked(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(word, names)| ((*word).to_owned(), (*names).to_owned())).collect()
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic_and_nothing_is_asked_for_twice(args in "[a-c/, .]{0,12}") {
            for (at, (word, names)) in parsed(&args).unwrap_or_default().iter().enumerate() {
                prop_assert!(!word.is_empty());
                let names: Vec<&str> = names.split(' ').collect();
                let once: std::collections::BTreeSet<&&str> = names.iter().collect();
                prop_assert_eq!(once.len(), names.len());
                prop_assert!(!parsed(&args).unwrap()[..at].iter().any(|(known, _)| known == word));
            }
        }
    }

    #[test]
    fn types_then_names() {
        assert_eq!(parsed("pods").unwrap(), asked(&[("pods", "")]));
        assert_eq!(parsed("pods,svc,pods,").unwrap(), asked(&[("pods", ""), ("svc", "")]));
        assert_eq!(parsed("pods,svc a b a").unwrap(), asked(&[("pods", "a b"), ("svc", "a b")]));
        assert_eq!(parsed("deployments.v1.apps x").unwrap(), asked(&[("deployments.v1.apps", "x")]));
    }

    #[test]
    fn types_with_their_names() {
        assert_eq!(parsed("pod/a").unwrap(), asked(&[("pod", "a")]));
        assert_eq!(parsed("pod/a svc/b pod/c pod/a").unwrap(), asked(&[("pod", "a c"), ("svc", "b")]));
        assert_eq!(parsed("pod/a,svc/b").unwrap(), asked(&[("pod", "a"), ("svc", "b")]));
    }

    #[test]
    fn what_contradicts_itself_is_told_in_kubectls_words() {
        let cases = [
            ("", "Required resource not specified."),
            (",", "Required resource not specified."),
            (
                "pod pod/a",
                "there is no need to specify a resource type as a separate argument when passing arguments in \
                 resource/name form (e.g. 'kdelta get resource/<resource_name>' instead of 'kdelta get resource \
                 resource/<resource_name>'",
            ),
            ("pod/a/b", "arguments in resource/name form may not have more than one slash"),
            ("pod/", "arguments in resource/name form must have a single resource and name"),
            ("/a", "arguments in resource/name form must have a single resource and name"),
            ("pods,svc/a", "arguments in resource/name form must have a single resource and name"),
        ];
        for (args, expected) in cases {
            assert_eq!(parsed(args), Err(expected.to_owned()), "{args}");
        }
    }

    #[test]
    fn names_and_selectors_exclude_each_other() {
        let selecting = Context { has_selector: true, ..Context::default() };
        assert_eq!(parse_in("pods", selecting).unwrap(), asked(&[("pods", "")]));
        assert_eq!(
            parse_in("pods a", selecting),
            Err("name cannot be provided when a selector is specified".to_owned())
        );
        let told =
            Err("selectors and the all flag cannot be used when passing resource/name arguments".to_owned());
        assert_eq!(parse_in("pod/a", selecting), told);
        assert_eq!(parse_in("pod/a", Context { has_all: true, ..Context::default() }), told);
    }
}
