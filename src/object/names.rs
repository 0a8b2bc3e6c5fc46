//! The rules for names that become part of a URL (Kubernetes: `IsDNS1123Label`, `IsDNS1123Subdomain`,
//! `IsValidPathSegmentName`).

/// The longest DNS label.
const LABEL: usize = 63;
/// The longest DNS subdomain.
const SUBDOMAIN: usize = 253;

/// Whether a text is a DNS label of RFC 1123 in lower case: the rule for API versions and resources.
#[must_use]
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= LABEL && is_label_of_any_length(text)
}

/// Whether a text is a DNS subdomain of RFC 1123 in lower case: the rule for API groups.
#[must_use]
pub fn is_dns_subdomain(text: &str) -> bool {
    // Kubernetes limits the whole, and not each label.
    text.len() <= SUBDOMAIN && text.split('.').all(is_label_of_any_length)
}

fn is_label_of_any_length(text: &str) -> bool {
    let is_alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.iter().all(|byte| is_alphanumeric(byte) || *byte == b'-')
        && bytes.first().is_some_and(is_alphanumeric)
        && bytes.last().is_some_and(is_alphanumeric)
}

/// The reasons why a name can't be one segment of a path, in Kubernetes' words; none for a good name.
#[must_use]
pub fn path_segment_problems(name: &str) -> Vec<&'static str> {
    match name {
        "." => return vec!["may not be '.'"],
        ".." => return vec!["may not be '..'"],
        _ => {}
    }
    let forbidden = [('/', "may not contain '/'"), ('%', "may not contain '%'")];
    forbidden.into_iter().filter(|(c, _)| name.contains(*c)).map(|(_, problem)| problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_subdomains_follow_rfc_1123_in_lower_case() {
        let long = "a".repeat(63);
        let longer = "a".repeat(64);
        for (text, label, subdomain) in [
            ("pods", true, true),
            ("v1beta1", true, true),
            ("7", true, true),
            ("a-b", true, true),
            (&*long, true, true),
            (&*longer, false, true),
            ("apps.example.com", false, true),
            (&*format!("{}a", "a.".repeat(126)), false, true),
            (&*format!("{}a", "a.".repeat(127)), false, false),
            ("", false, false),
            (".", false, false),
            ("..", false, false),
            ("a..b", false, false),
            (".a", false, false),
            ("a.", false, false),
            ("-a", false, false),
            ("a-", false, false),
            ("a.-b", false, false),
            ("Pods", false, false),
            ("a_b", false, false),
            ("a/b", false, false),
            ("../v1", false, false),
            ("%2e%2e", false, false),
            ("a\\b", false, false),
            ("a b", false, false),
            ("a\n", false, false),
            ("\u{fc}", false, false),
        ] {
            assert_eq!((is_dns_label(text), is_dns_subdomain(text)), (label, subdomain), "{text:?}");
        }
    }

    #[test]
    fn a_path_segment_is_refused_in_kubernetes_words() {
        for (name, problems) in [
            ("web", &[][..]),
            ("system:node", &[]),
            ("...", &[]),
            (".", &["may not be '.'"]),
            ("..", &["may not be '..'"]),
            ("a/b", &["may not contain '/'"]),
            ("a%2fb", &["may not contain '%'"]),
            ("../%", &["may not contain '/'", "may not contain '%'"]),
        ] {
            assert_eq!(path_segment_problems(name), problems, "{name}");
        }
    }
}
