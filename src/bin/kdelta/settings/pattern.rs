//! Names by pattern, as a shell has them: `*` is any text, `?` any one letter.

/// A name, or a pattern of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As it was typed.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether it matches itself and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Whether it matches every name.
    pub(crate) fn is_any(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte == b'*')
    }

    /// Whether the whole name is matched. In time proportional to both lengths at worst.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let (pattern, name): (Vec<char>, Vec<char>) = (self.0.chars().collect(), name.chars().collect());
        let (mut p, mut n) = (0, 0);
        // Where the last star stands, and up to where it reaches for now.
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
    fn stars_are_any_text_and_question_marks_one_letter() {
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
    fn a_pattern_knows_whether_it_is_one() {
        assert!(Pattern::new("a").is_plain() && !Pattern::new("a*").is_plain());
        assert!(Pattern::new("**").is_any() && !Pattern::new("").is_any() && !Pattern::new("*a").is_any());
    }
}
