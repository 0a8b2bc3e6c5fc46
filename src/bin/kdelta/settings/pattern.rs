//! Name patterns as in a shell: `*` matches any text, `?` any single character.

/// A name, or a pattern of names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pattern(String);

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the text as typed.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether the pattern matches only itself.
    pub(crate) fn is_plain(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Whether the pattern matches every name.
    pub(crate) fn is_any(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte == b'*')
    }

    /// Whether the whole name matches. Worst-case time is proportional to the product of both lengths.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut p, mut n) = (0, 0);
        // The position of the last star, and the end of its current match.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, n));
                    p += 1;
                }
                Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
                _ => {
                    let Some((at, reach)) = star else { return false };
                    star = Some((at, reach + 1));
                    (p, n) = (at + 1, reach + 1);
                }
            }
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_matches_text_and_question_mark_one_character() {
        for (pattern, name, expected) in [
            ("team-*", "team-a", true),
            ("team-*", "team-", true),
            ("team-*", "my-team-a", false),
            ("*-prod", "eu-prod", true),
            ("*-prod", "eu-prod-2", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("team-?", "team-a", true),
            ("team-?", "team-", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("plain", "plain", true),
            ("grün-?", "grün-ä", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn plain_names_are_not_patterns() {
        assert!(Pattern::new("a").is_plain() && !Pattern::new("a*").is_plain());
        assert!(Pattern::new("**").is_any() && !Pattern::new("").is_any() && !Pattern::new("*a").is_any());
    }
}
