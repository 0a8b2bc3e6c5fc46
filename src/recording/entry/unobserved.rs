//! The times and collections that were not observed, and their descriptions.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use crate::object::ApiResource;

/// The maximum number of namespaces that a warning names.
const MAX_NAMES: usize = 4;

/// A time during which changes were not observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The time of the last observation before the gap.
    pub from: Timestamp,
    /// The time from which changes are observed again.
    pub to: Timestamp,
    /// The resource whose watch was lost. `None` if no recorder was running.
    pub resource: Option<Arc<ApiResource>>,
    /// The namespace whose watch was lost; empty for all namespaces.
    pub namespace: Arc<str>,
    /// The namespaces that were observed nevertheless, by watches of their own.
    pub except: Vec<Arc<str>>,
}

/// The reasons why the state at a moment may not be that of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unobserved {
    /// The gaps that the moment lies in. Those in which no recorder was running precede those of single resources.
    pub gaps: Vec<Gap>,
    /// The resources of which only a part had been listed.
    pub incomplete_lists: Vec<IncompleteList>,
    /// The resources of which only some namespaces were recorded, at any moment.
    pub limits: Vec<NamespaceLimit>,
}

/// A resource of which only some namespaces were recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceLimit {
    /// The resource.
    pub resource: Arc<ApiResource>,
    /// The recorded namespaces, sorted.
    pub namespaces: Vec<Arc<str>>,
}

/// A resource whose first list was not complete at a moment, so that objects may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteList {
    /// The resource.
    pub resource: Arc<ApiResource>,
    /// The time from which it is complete. `None` if it never was.
    pub until: Option<Timestamp>,
}

impl Gap {
    /// Returns what was not observed, such as `pods in the namespace shop`; empty if no recorder was running.
    #[must_use]
    pub fn subject(&self) -> String {
        let Some(resource) = &self.resource else { return String::new() };
        let name = resource.group_resource();
        match (&*self.namespace, &self.except[..]) {
            ("", []) => name,
            ("", [except]) => format!("{name} outside of the namespace {except}"),
            ("", except) => format!("{name} outside of the namespaces {}", except.join(", ")),
            (namespace, _) => format!("{name} in the namespace {namespace}"),
        }
    }

    /// Returns whether objects of a namespace were not observed. Those of a cluster-scoped resource are in the namespace "".
    #[must_use]
    pub fn includes_namespace(&self, namespace: &str) -> bool {
        let is_in = self.namespace.is_empty() || *self.namespace == *namespace;
        is_in && !self.except.iter().any(|except| **except == *namespace)
    }
}

/// Prints what was not observed, and from when to when.
impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.resource {
            Some(_) => write!(f, "{} were not observed", self.subject())?,
            None => f.write_str("nothing was recorded")?,
        }
        write!(f, " from {} to {}", self.from, self.to)
    }
}

impl Unobserved {
    /// Returns the reasons that concern the objects of a resource, as texts for people, without ends of sentences. With a
    /// namespace, they concern only the objects in it.
    #[must_use]
    pub fn warnings(&self, resource: &ApiResource, namespace: Option<&str>) -> Vec<String> {
        let namespace = namespace.filter(|_| resource.namespaced);
        let is_of =
            |other: &ApiResource| (&other.group, &other.resource) == (&resource.group, &resource.resource);
        let is_gap_of = |gap: &&Gap| {
            gap.resource.as_ref().is_none_or(|other| is_of(other))
                && namespace.is_none_or(|namespace| gap.includes_namespace(namespace))
        };
        let gap = self.gaps.iter().find(is_gap_of).map(|gap| format!("{gap}: this is the state before"));
        let list = self.incomplete_lists.iter().find(|list| is_of(&list.resource)).map(ToString::to_string);
        let limit = self.limits.iter().find(|limit| resource.namespaced && is_of(&limit.resource));
        let limit = limit.filter(|limit| namespace.is_none_or(|namespace| !limit.includes(namespace)));
        gap.into_iter().chain(list).chain(limit.map(ToString::to_string)).collect()
    }
}

impl NamespaceLimit {
    /// Returns whether a namespace was recorded.
    #[must_use]
    pub fn includes(&self, namespace: &str) -> bool {
        self.namespaces.iter().any(|recorded| **recorded == *namespace)
    }
}

/// Prints the recorded namespaces.
impl fmt::Display for NamespaceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, namespaces } = self;
        let named = &namespaces[..namespaces.len().min(MAX_NAMES)];
        write!(f, "only the {} in {}", resource.group_resource(), named.join(", "))?;
        match namespaces.len() - named.len() {
            0 => {}
            more => write!(f, " and {more} more namespaces")?,
        }
        f.write_str(" were recorded")
    }
}

/// Prints that objects may be missing.
impl fmt::Display for IncompleteList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the first list of {} was not complete ", self.resource.group_resource())?;
        match self.until {
            Some(until) => write!(f, "before {until}: objects may be missing"),
            None => f.write_str("at this moment: objects may be missing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(plural: &str, kind: &str, namespaced: bool) -> Arc<ApiResource> {
        let [group, version] = ["", "v1"].map(str::to_owned);
        Arc::new(ApiResource { group, version, resource: plural.into(), kind: kind.into(), namespaced })
    }

    fn unobserved() -> Unobserved {
        let (pods, nodes) = (resource("pods", "Pod", true), resource("nodes", "Node", false));
        let time = |text: &str| -> Timestamp { text.parse().expect("a time") };
        let (from, to) = (time("2026-11-24T03:00:00Z"), time("2026-11-24T03:10:00Z"));
        let gap = |resource: &Arc<ApiResource>, namespace: &str, except: &[&str]| Gap {
            from,
            to,
            resource: Some(Arc::clone(resource)),
            namespace: namespace.into(),
            except: except.iter().map(|name| (*name).into()).collect(),
        };
        Unobserved {
            gaps: vec![gap(&nodes, "", &[]), gap(&pods, "shop", &[]), gap(&pods, "", &["shop", "api"])],
            incomplete_lists: vec![IncompleteList { resource: Arc::clone(&nodes), until: Some(to) }],
            limits: vec![NamespaceLimit {
                resource: resource("secrets", "Secret", true),
                namespaces: ["a", "b", "c", "d", "e"].map(Into::into).into(),
            }],
        }
    }

    #[test]
    fn warnings_concern_the_resource_and_the_namespace() {
        let unobserved = unobserved();
        let warnings = |resource: &ApiResource, namespace| unobserved.warnings(resource, namespace);
        let (pods, nodes) = (resource("pods", "Pod", true), resource("nodes", "Node", false));
        let time = "from 2026-11-24T03:00:00Z to 2026-11-24T03:10:00Z: this is the state before";
        assert_eq!(
            warnings(&nodes, Some("")),
            [
                format!("nodes were not observed {time}"),
                "the first list of nodes was not complete before 2026-11-24T03:10:00Z: objects may be missing".to_owned(),
            ]
        );
        let in_shop = format!("pods in the namespace shop were not observed {time}");
        assert_eq!(warnings(&pods, Some("shop")), [in_shop.as_str()]);
        assert_eq!(warnings(&pods, None), [in_shop]);
        let outside = format!("pods outside of the namespaces shop, api were not observed {time}");
        assert_eq!(warnings(&pods, Some("db")), [outside]);
        assert!(warnings(&pods, Some("api")).is_empty());
        assert!(warnings(&resource("events", "Event", true), None).is_empty());
    }

    #[test]
    fn a_limit_concerns_the_namespaces_that_were_not_recorded() {
        let unobserved = unobserved();
        let secrets = resource("secrets", "Secret", true);
        let limit = "only the secrets in a, b, c, d and 1 more namespaces were recorded";
        for (namespace, expected) in [(None, Some(limit)), (Some("x"), Some(limit)), (Some("e"), None)] {
            let warnings = unobserved.warnings(&secrets, namespace);
            assert_eq!(warnings.first().map(String::as_str), expected, "{namespace:?}");
        }
    }

    #[test]
    fn a_gap_of_all_has_no_subject() {
        let gap = Gap { resource: None, ..unobserved().gaps.remove(0) };
        assert_eq!(gap.to_string(), "nothing was recorded from 2026-11-24T03:00:00Z to 2026-11-24T03:10:00Z");
        assert_eq!(gap.subject(), "");
    }
}
