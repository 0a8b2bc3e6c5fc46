//! The documents of a `kuberc` file, decoded as kubectl decodes them: the first usable one counts, and of that one
//! unknown and repeated fields are reported.

use kdelta::object::go_quote;
use serde::de::IgnoredAny;

use super::node::{Member, Node};

const GROUP: &str = "kubectl.config.k8s.io/";

/// The preferences of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Preferences {
    /// Default values for the flags of commands.
    pub(super) defaults: Vec<CommandDefaults>,
    pub(super) aliases: Vec<Alias>,
    pub(super) plugin_policy: String,
    /// The programs that may provide credentials; `None` if the field is absent or null.
    pub(super) plugin_allowlist: Option<Vec<String>>,
}

/// Default values for the flags of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CommandDefaults {
    /// The words of the command.
    pub(super) command: String,
    pub(super) options: Vec<OptionDefault>,
}

/// The default value of a flag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OptionDefault {
    /// The long name, without dashes.
    pub(super) name: String,
    pub(super) value: String,
}

/// A name for a command with arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Alias {
    pub(super) name: String,
    /// The words of the command.
    pub(super) command: String,
    pub(super) options: Vec<OptionDefault>,
    /// Arguments after the alias.
    pub(super) prepend: Vec<String>,
    /// Arguments after all others.
    pub(super) append: Vec<String>,
}

/// The usable document of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) preferences: Preferences,
    /// kubectl's error about unknown and repeated fields, which are ignored.
    pub(super) ignored: Option<String>,
}

/// No document of the file can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NothingUsable;

/// Returns the first usable document of a file; `None` for a file without documents.
pub(super) fn read(text: &str) -> Result<Option<Found>, NothingUsable> {
    let documents: Vec<String> =
        split(text).into_iter().filter(|document| !document.trim().is_empty()).collect();
    match documents.iter().find_map(|document| decode(document)) {
        None if !documents.is_empty() => Err(NothingUsable),
        found => Ok(found),
    }
}

/// Splits a file at its lines of `---`, which may have a comment.
fn split(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.split_inclusive('\n') {
        let is_separator = line.strip_prefix("---").is_some_and(|rest| {
            let rest = rest.trim();
            rest.is_empty() || rest.starts_with('#')
        });
        match documents.last_mut() {
            Some(document) if !is_separator => document.push_str(line),
            _ => documents.push(String::new()),
        }
    }
    documents
}

/// Decodes a document; `None` if it is none of the preferences, or a field has another type.
fn decode(document: &str) -> Option<Found> {
    let is_json = document.trim_start().starts_with('{');
    if is_json {
        serde_json::from_str::<IgnoredAny>(document).ok()?;
    }
    let Node::Map(members) = Node::from_yaml(document)? else { return None };
    let (api_version, kind) = (text_of(&members, "apiVersion")?, text_of(&members, "kind")?);
    let version = Version::parse(&api_version).filter(|_| kind == "Preference")?;
    let mut decoder = Decoder { problems: Vec::new(), version, is_json };
    let preferences = decoder.preferences(&members)?;
    let mut problems = Vec::new();
    let repeated = Node::Map(members).repeated_keys();
    if !is_json && !repeated.is_empty() {
        problems.push(format!("yaml: unmarshal errors:\n  {}", repeated.join("\n  ")));
    }
    problems.append(&mut decoder.problems);
    let ignored = (!problems.is_empty()).then(|| format!("strict decoding error: {}", problems.join(", ")));
    Some(Found { preferences, ignored })
}

/// Returns the text of a field; empty if it is absent.
fn text_of(members: &[Member], name: &str) -> Option<String> {
    members
        .iter()
        .rev()
        .find(|member| member.key == name)
        .map_or(Some(String::new()), |member| text(&member.value))
}

/// The version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V1Alpha1,
    V1Beta1,
}

impl Version {
    fn parse(api_version: &str) -> Option<Self> {
        match api_version.strip_prefix(GROUP)? {
            "v1alpha1" => Some(Self::V1Alpha1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        }
    }

    /// Returns the name of the list of defaults.
    fn defaults(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "overrides",
            Self::V1Beta1 => "defaults",
        }
    }

    /// Returns the name of the options of a command.
    fn options(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "flags",
            Self::V1Beta1 => "options",
        }
    }
}

/// Decodes the fields of a version, and collects the problems of fields. Each function returns `None` for a value of
/// another type.
struct Decoder {
    problems: Vec<String>,
    version: Version,
    is_json: bool,
}

impl Decoder {
    fn preferences(&mut self, members: &[Member]) -> Option<Preferences> {
        let mut read = Preferences::default();
        let version = self.version;
        self.each_member(members, "", |decoder, key, value, path| {
            match key {
                "kind" | "apiVersion" => text(value).map(drop)?,
                "aliases" => read.aliases = decoder.list(value, path, Self::alias)?,
                _ if key == version.defaults() => {
                    read.defaults = decoder.list(value, path, Self::command_defaults)?;
                }
                "credentialPluginPolicy" if version == Version::V1Beta1 => read.plugin_policy = text(value)?,
                "credentialPluginAllowlist" if version == Version::V1Beta1 => {
                    let entries = decoder.list(value, path, Self::allowlist_entry)?;
                    read.plugin_allowlist = (*value != Node::Null).then_some(entries);
                }
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(read)
    }

    fn command_defaults(&mut self, value: &Node, path: &str) -> Option<CommandDefaults> {
        let mut read = CommandDefaults::default();
        self.each_member(map(value)?, path, |decoder, key, value, path| {
            match key {
                "command" => read.command = text(value)?,
                _ if key == decoder.version.options() => {
                    read.options = decoder.list(value, path, Self::option)?;
                }
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(read)
    }

    fn alias(&mut self, value: &Node, path: &str) -> Option<Alias> {
        let mut read = Alias::default();
        self.each_member(map(value)?, path, |decoder, key, value, path| {
            match key {
                "name" => read.name = text(value)?,
                "command" => read.command = text(value)?,
                "prependArgs" => read.prepend = decoder.list(value, path, |_, value, _| text(value))?,
                "appendArgs" => read.append = decoder.list(value, path, |_, value, _| text(value))?,
                _ if key == decoder.version.options() => {
                    read.options = decoder.list(value, path, Self::option)?;
                }
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(read)
    }

    fn option(&mut self, value: &Node, path: &str) -> Option<OptionDefault> {
        let mut read = OptionDefault::default();
        self.each_member(map(value)?, path, |_, key, value, _| {
            match key {
                "name" => read.name = text(value)?,
                "default" => read.value = text(value)?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(read)
    }

    /// Returns the command of an entry, for which `name` is an older name. They may not contradict each other.
    fn allowlist_entry(&mut self, value: &Node, path: &str) -> Option<String> {
        let (mut command, mut name) = (String::new(), String::new());
        self.each_member(map(value)?, path, |_, key, value, _| {
            match key {
                "command" => command = text(value)?,
                "name" => name = text(value)?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        match (command.is_empty(), name.is_empty()) {
            (false, false) if command != name => None,
            (true, _) => Some(name),
            (false, _) => Some(command),
        }
    }

    /// Decodes the members of a map with `field`, which returns whether it knows the key, and reports the others. Of a
    /// repeated member the last counts. As in kubectl, which converts YAML to JSON, members of YAML are sorted and
    /// occur once; those of JSON are reported if they are repeated.
    fn each_member(
        &mut self,
        members: &[Member],
        path: &str,
        mut field: impl FnMut(&mut Self, &str, &Node, &str) -> Option<bool>,
    ) -> Option<()> {
        let mut ordered: Vec<&Member> = members.iter().collect();
        if !self.is_json {
            ordered.reverse();
            ordered.sort_by(|one, other| one.key.cmp(&other.key));
            ordered.dedup_by(|next, kept| next.key == kept.key);
        }
        for (at, Member { key, value, .. }) in ordered.iter().enumerate() {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let is_known = field(self, key, value, &path)?;
            let is_repeated = || ordered[..at].iter().any(|earlier| earlier.key == *key);
            let problem = match is_known {
                false => format!("unknown field {}", go_quote(&path)),
                true if is_repeated() => format!("duplicate field {}", go_quote(&path)),
                true => continue,
            };
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        Some(())
    }

    fn list<T>(
        &mut self,
        value: &Node,
        path: &str,
        item: impl Fn(&mut Self, &Node, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        match value {
            Node::Null => Some(Vec::new()),
            Node::List(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, value)| item(self, value, &format!("{path}[{at}]"))).collect()
            }
            Node::Text(_) | Node::Map(_) | Node::Other => None,
        }
    }
}

/// Returns a text; empty for null.
fn text(value: &Node) -> Option<String> {
    match value {
        Node::Null => Some(String::new()),
        Node::Text(text) => Some(text.clone()),
        Node::List(_) | Node::Map(_) | Node::Other => None,
    }
}

/// Returns the members of a map; none for null.
fn map(value: &Node) -> Option<&[Member]> {
    match value {
        Node::Null => Some(&[]),
        Node::Map(members) => Some(members),
        Node::Text(_) | Node::List(_) | Node::Other => None,
    }
}

#[cfg(test)]
mod tests;
