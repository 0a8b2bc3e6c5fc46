//! The settings of an authentication provider in the text of a kubeconfig: reads them, and changes them so that the
//! rest of the file stays as it is, byte for byte. Pure.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};

/// The settings of a provider: `users[name].user.auth-provider.config`.
pub(super) type Settings = BTreeMap<String, String>;

/// Returns the user's settings; `None` without such a user or provider.
pub(super) fn read(text: &str, user: &str) -> Option<Settings> {
    let yaml = Yaml::parse(text)?;
    let entries = yaml.entries(yaml.provider(user)?);
    Some(entries.into_iter().filter_map(|(key, value)| Some((yaml.text(key)?, yaml.text(value)?))).collect())
}

/// Returns the text with these settings of the user changed.
///
/// # Errors
/// The change would affect other parts of the file.
pub(super) fn set(text: &str, user: &str, settings: &[(&str, &str)]) -> Result<String, &'static str> {
    const IMPOSSIBLE: &str = "its form allows no change that leaves the rest as it is";
    let mut changed = text.to_owned();
    for (name, value) in settings {
        changed = with(&changed, user, name, value).ok_or(IMPOSSIBLE)?;
    }
    // The result is parsed again and compared, since YAML has more special cases than this code handles.
    let names: Vec<&str> = settings.iter().map(|(name, _)| *name).collect();
    let (before, after) = (Yaml::parse(text), Yaml::parse(&changed));
    let same = before.zip(after).is_some_and(|(before, after)| {
        before.without(user, &names).is_some_and(|before| after.without(user, &names) == Some(before))
    });
    let found = read(&changed, user).ok_or(IMPOSSIBLE)?;
    let is_set = settings.iter().all(|(name, value)| found.get(*name).is_some_and(|found| found == value));
    if same && is_set { Ok(changed) } else { Err(IMPOSSIBLE) }
}

/// Returns the text with one setting replaced, or inserted before the first.
fn with(text: &str, user: &str, name: &str, value: &str) -> Option<String> {
    let yaml = Yaml::parse(text)?;
    let provider = yaml.provider(user)?;
    let entries = yaml.entries(provider);
    let old = entries.iter().find(|(key, _)| yaml.text(*key).is_some_and(|key| key == name));
    let (place, new) = if let Some((key, at)) = old {
        let place = yaml.range(*at)?;
        let is_plain = matches!(yaml.events[*at].0, Event::Scalar(_, ScalarStyle::Plain, ..));
        if place.is_empty() {
            // The parser may place an empty value anywhere before the next key.
            let next_sibling = yaml.range(*key)?.end;
            let colon = next_sibling + text[next_sibling..].find(':')? + 1;
            (colon..colon, format!(" {}", scalar(value, is_plain)))
        } else {
            (place, scalar(value, is_plain).into_owned())
        }
    } else {
        let first = yaml.range(entries.first()?.0)?.start;
        let is_flow = matches!(yaml.events[provider].0, Event::MappingStart(StructureStyle::Flow, ..));
        (first..first, entry(name, value, is_flow, &text[..first]))
    };
    let mut changed = text.to_owned();
    changed.replace_range(place, &new);
    Some(changed)
}

/// Formats a new entry of a mapping, to be inserted after the text `before` and in front of the present first entry.
fn entry(name: &str, value: &str, is_flow: bool, before: &str) -> String {
    if is_flow {
        return format!("{}: {}, ", scalar(name, false), scalar(value, false));
    }
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let end = if before[..line].ends_with("\r\n") { "\r\n" } else { "\n" };
    let indent = " ".repeat(before[line..].chars().count());
    format!("{name}: {}{end}{indent}", scalar(value, true))
}

/// Formats a text as a YAML scalar: plain if it is unambiguous, as most tokens are.
fn scalar(text: &str, plain: bool) -> Cow<'_, str> {
    let is_token = text.len() >= 16
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if plain && is_token {
        return Cow::Borrowed(text);
    }
    // YAML accepts JSON strings.
    Cow::Owned(serde_json::Value::from(text).to_string())
}

/// A document as a sequence of events with their positions.
struct Yaml<'a> {
    events: Vec<(Event<'a>, Span)>,
}

impl<'a> Yaml<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let is_comment = |event: &Result<_, _>| matches!(event, Ok((Event::Comment(..), _)));
        let events = Parser::new_from_str(text).filter(|event| !is_comment(event));
        Some(Self { events: events.collect::<Result<_, _>>().ok()? })
    }

    /// Returns the first node.
    fn root(&self) -> Option<usize> {
        Some(self.events.iter().position(|(event, _)| matches!(event, Event::DocumentStart(..)))? + 1)
    }

    /// Returns the start of the next sibling.
    fn next_sibling(&self, mut at: usize) -> usize {
        let mut depth = 0_usize;
        loop {
            match self.events.get(at).map(|(event, _)| event) {
                Some(Event::MappingStart(..) | Event::SequenceStart(..)) => depth += 1,
                Some(Event::MappingEnd | Event::SequenceEnd) => depth = depth.saturating_sub(1),
                Some(_) => {}
                None => return at,
            }
            at += 1;
            if depth == 0 {
                return at;
            }
        }
    }

    /// Returns the starts of the child nodes.
    fn children(&self, at: usize) -> Vec<usize> {
        let (mut child, end) = (at + 1, self.next_sibling(at).saturating_sub(1));
        let mut children = Vec::new();
        while child < end {
            children.push(child);
            child = self.next_sibling(child);
        }
        children
    }

    /// Returns the keys and values of a mapping; empty for any other node.
    fn entries(&self, at: usize) -> Vec<(usize, usize)> {
        match self.events.get(at) {
            Some((Event::MappingStart(..), _)) => {
                self.children(at).chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
            }
            _ => Vec::new(),
        }
    }

    fn get(&self, at: usize, name: &str) -> Option<usize> {
        let found =
            self.entries(at).into_iter().find(|(key, _)| self.text(*key).is_some_and(|key| key == name));
        found.map(|(_, value)| value)
    }

    fn text(&self, at: usize) -> Option<String> {
        match self.events.get(at) {
            Some((Event::Scalar(text, ..), _)) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Returns the byte range of a scalar; `None` for one with an anchor.
    fn range(&self, at: usize) -> Option<Range<usize>> {
        let (Event::Scalar(_, _, 0, None), span) = self.events.get(at)? else { return None };
        Some(span.start.byte_offset()?..span.end.byte_offset()?)
    }

    /// Returns the settings of the user's provider.
    fn provider(&self, user: &str) -> Option<usize> {
        let users = self.get(self.root()?, "users")?;
        let is_it = |at: &usize| {
            self.get(*at, "name").and_then(|name| self.text(name)).is_some_and(|name| name == user)
        };
        let found = self.children(users).into_iter().find(is_it)?;
        let provider = self.get(self.get(found, "user")?, "auth-provider")?;
        self.get(provider, "config").filter(|at| !self.entries(*at).is_empty())
    }

    /// Returns all events except those of these settings of the user, without positions.
    fn without(&self, user: &str, names: &[&str]) -> Option<Vec<&Event<'a>>> {
        let entries = self.entries(self.provider(user)?);
        let is_named = |key: usize| self.text(key).is_some_and(|key| names.contains(&key.as_str()));
        let left_out: Vec<usize> = entries
            .into_iter()
            .filter(|(key, _)| is_named(*key))
            .flat_map(|(key, value)| [key, value])
            .collect();
        let kept = self.events.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
        Some(kept.map(|(_, (event, _))| event).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "# mine\nusers:\n- name: other\n  user: {token: x}\n- name: me # here\n  user:\n    \
                         auth-provider:\n      name: oidc\n      config:\n        idp-issuer-url: https://i\n        \
                         id-token: old # one\n        client-id: c\ncurrent-context: x\n";
    const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln_-";

    #[test]
    fn set_replaces_a_token_and_nothing_else() {
        let set = set(BLOCK, "me", &[("id-token", JWT)]).unwrap();
        assert_eq!(set, BLOCK.replace("id-token: old", &format!("id-token: {JWT}")));
        let set = super::set(BLOCK, "me", &[("id-token", "no: plain #one")]).unwrap();
        assert_eq!(set, BLOCK.replace("id-token: old", "id-token: \"no: plain #one\""));
    }

    #[test]
    fn new_token_is_inserted_first() {
        let set = set(BLOCK, "me", &[("refresh-token", "r"), ("id-token", JWT)]).unwrap();
        let first = "        idp-issuer-url";
        let expected = BLOCK.replace(first, &format!("        refresh-token: \"r\"\n{first}"));
        assert_eq!(set, expected.replace("id-token: old", &format!("id-token: {JWT}")));
        let windows = BLOCK.replace('\n', "\r\n");
        let set = super::set(&windows, "me", &[("refresh-token", "r")]).unwrap();
        assert_eq!(set, windows.replace(first, &format!("        refresh-token: \"r\"\r\n{first}")));
    }

    #[test]
    fn json_stays_json() {
        let json = |provider_settings: &str| {
            format!(
                r#"{{"users":[{{"name":"me","user":{{"auth-provider":{{"name":"oidc","config":{{{provider_settings}"client-id":"ü"}}}}}}}}]}}"#
            )
        };
        let set = set(&json(r#""id-token": "old", "#), "me", &[("id-token", "a\"b"), ("refresh-token", "r")]);
        let set = set.unwrap();
        assert_eq!(set, json(r#""refresh-token": "r", "id-token": "a\"b", "#));
        assert!(serde_json::from_str::<serde_json::Value>(&set).is_ok());
    }

    #[test]
    fn empty_and_folded_values_are_replaced() {
        for old in [
            "id-token:",
            "id-token: ''",
            "id-token: \"a\\\n          b\"",
            "id-token: >-\n          a\n          b",
        ] {
            let text = BLOCK.replace("id-token: old # one", old);
            match set(&text, "me", &[("id-token", JWT)]) {
                Ok(set) => assert_eq!(read(&set, "me").unwrap()["id-token"], JWT, "{old}"),
                Err(why) => assert!(old.contains('>') && why.contains("form"), "{old}: {why}"),
            }
        }
    }

    #[test]
    fn anchored_and_missing_settings_are_left_alone() {
        let anchored =
            BLOCK.replace("id-token: old", "id-token: &a old").replace("client-id: c", "client-id: *a");
        for (text, user) in
            [(BLOCK, "nobody"), (BLOCK, "other"), (anchored.as_str(), "me"), ("a: [", "me"), ("", "me")]
        {
            assert!(set(text, user, &[("id-token", JWT)]).is_err(), "{text}");
        }
    }
}
