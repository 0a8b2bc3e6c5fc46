//! The label selectors of repeated `-l` flags, one of which must select an object.

use kdelta::object::LabelSelector;

use crate::settings::UsageError;

/// Returns the selector for the server, unparsed, and the alternatives that it can't express.
///
/// The server takes a single selector, of which all requirements must hold. Values of one label are its alternatives in
/// `KEY in (…)`. Others are evaluated here, on all objects: a list of each selector would repeat the objects that several
/// select.
pub(super) fn read(texts: &[String]) -> Result<(Option<String>, Option<Vec<LabelSelector>>), UsageError> {
    if texts.iter().any(String::is_empty) {
        return Ok((None, None));
    }
    let mut different: Vec<&str> = Vec::new();
    for text in texts {
        if !different.contains(&text.as_str()) {
            different.push(text);
        }
    }
    match different.as_slice() {
        [] => return Ok((None, None)),
        [only] => return Ok((Some((*only).to_owned()), None)),
        several => {
            if let Some(one) = values_of_one_label(several) {
                return Ok((Some(one), None));
            }
        }
    }
    let parse = |text: &str| {
        LabelSelector::parse(text).map_err(|error| UsageError::Labels { text: text.to_owned(), error })
    };
    Ok((None, Some(different.into_iter().map(parse).collect::<Result<_, _>>()?)))
}

/// Returns one selector for `KEY=VALUE` selectors of the same label.
fn values_of_one_label(texts: &[&str]) -> Option<String> {
    let pairs: Vec<(&str, &str)> = texts.iter().map(|text| pair(text)).collect::<Option<_>>()?;
    let (key, _) = *pairs.first()?;
    let values: Vec<&str> =
        pairs.iter().filter(|(other, _)| *other == key).map(|(_, value)| *value).collect();
    (values.len() == pairs.len()).then(|| format!("{key} in ({})", values.join(",")))
}

/// Returns the label and the value of `KEY=VALUE` or `KEY==VALUE`.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let value = value.strip_prefix('=').unwrap_or(value);
    let is_plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
    };
    (is_plain(key) && is_plain(value)).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(texts: &[&str]) -> (Option<String>, Option<usize>) {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let (server, alternatives) = read(&texts).expect("selectors");
        (server, alternatives.map(|selectors| selectors.len()))
    }

    #[test]
    fn repeated_selectors_are_alternatives() {
        for (texts, server, alternatives) in [
            (&[][..], None, None),
            (&["app=a"], Some("app=a"), None),
            (&["not a selector"], Some("not a selector"), None),
            (&["app=a,tier!=x"], Some("app=a,tier!=x"), None),
            (&["app=a", "app==b"], Some("app in (a,b)"), None),
            (&["a.b/c=a", "a.b/c=b", "a.b/c=a"], Some("a.b/c in (a,b)"), None),
            (&["app=a", "app=a"], Some("app=a"), None),
            (&["app=a", "tier=b"], None, Some(2)),
            (&["app=a", "app!=b"], None, Some(2)),
            (&["app=a", "app in (b,c)", "!x"], None, Some(3)),
            (&["app=a", ""], None, None),
        ] {
            assert_eq!(read_words(texts), (server.map(str::to_owned), alternatives), "{texts:?}");
        }
    }

    #[test]
    fn invalid_selector_of_several_is_named() {
        let error = read(&["a=b".to_owned(), "c in d".to_owned()]).expect_err("no set").to_string();
        assert!(error.starts_with("invalid --selector \"c in d\": "), "{error}");
    }
}
