//! kubectl's relaxed form of a path.

use super::error::JsonPathError;

/// Completes a path of custom columns or `--sort-by`: `x.y`, `.x.y`, `{x.y}` and `{.x.y}` become `{.x.y}`. An empty path
/// stays empty, as in kubectl.
///
/// # Errors
/// [`JsonPathError::Syntax`] when the path contains other braces.
pub fn relaxed_jsonpath(text: &str) -> Result<String, JsonPathError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    // A lone dot is the path itself: kubectl's expression needs one character after the optional dot.
    let path = inner.strip_prefix('.').filter(|path| !path.is_empty()).unwrap_or(inner);
    if path.is_empty() || path.contains(['{', '}']) {
        return Err(JsonPathError::syntax(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
        ));
    }
    Ok(format!("{{.{path}}}"))
}

#[cfg(test)]
mod tests {
    use super::relaxed_jsonpath;

    #[test]
    fn relaxed_paths_are_completed() {
        for (text, path) in [
            ("x.y", "{.x.y}"),
            (".x.y", "{.x.y}"),
            ("{x.y}", "{.x.y}"),
            ("{.x.y}", "{.x.y}"),
            ("{..x}", "{..x}"),
            ("", ""),
            (".", "{..}"),
            ("{.}", "{..}"),
        ] {
            assert_eq!(relaxed_jsonpath(text).as_deref(), Ok(path), "{text}");
        }
    }

    #[test]
    fn other_braces_are_refused() {
        for text in ["{}", "{", "}", "{x", "x}", "{{x}}", "{x}{y}", "a{x}", "{"] {
            assert!(relaxed_jsonpath(text).is_err(), "{text}");
        }
    }
}
