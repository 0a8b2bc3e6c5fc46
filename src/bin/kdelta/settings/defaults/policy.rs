//! The decision for each flag: whether it can have a default, and the places that may set it.

/// The places that may set the default of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// In variables, at the top of the file, and in the tables of commands.
    Everywhere,
    /// Only in the tables of commands, for this reason.
    Tables(&'static str),
    /// Nowhere, for this reason.
    Nowhere(&'static str),
}

const PORT: &str = "in a pod, KDELTA_PORT is the address of a Service named kdelta";
const MEANINGS: &str = "the flag differs between commands";
const CREDENTIALS: &str =
    "each context would send these credentials to its server: use a user of the kubeconfig";
const CLUSTER: &str =
    "the credentials of each context would be sent to this server: use a cluster of the kubeconfig";
const ENTRY: &str = "a context joins a cluster and a user: use a context of the kubeconfig";
const TRUST: &str = "it would apply to every server: use a cluster of the kubeconfig";
const SELECTION: &str = "a default would hide objects, and the command line would not show it";
const SUBJECT: &str = "it is the subject of one command line";
const MODE: &str = "it turns one command into another";
const ONE_WATCH: &str = "it applies to one watch";
const SECRETS: &str = "Secrets stay masked unless the command line shows them";
const KEYS: &str = "the command line shows who can read a recording, and with which identity it is read";
const TEMPLATE: &str = "set output to the format with its template, such as \"go-template={{.kind}}\"";
const PREFERENCES: &str = "kubectl's preferences are read first: set KUBERC";
const NO_EFFECT: &str = "it has no effect";

/// The decisions, for the flags of all commands by their long names.
const POLICIES: &[(Policy, &[&str])] = &[
    (
        Policy::Everywhere,
        &[
            // Connection.
            "all-contexts",
            "cache-dir",
            "context",
            "disable-compression",
            "kubeconfig",
            "match-server-version",
            "namespace",
            "request-timeout",
            "warnings-as-errors",
            // The demo.
            "demo",
            "objects",
            "speed",
            // The terminal.
            "color",
            "log-format",
            "verbose",
            // Selection.
            "all-namespaces",
            "cached",
            "chunk-size",
            "ignore-not-found",
            "list-mode",
            // Output.
            "allow-missing-template-keys",
            "client",
            "depth",
            "fail-if-empty",
            "include",
            "label-columns",
            "no-headers",
            "no-trunc",
            "output",
            "raw-output",
            "related",
            "server-print",
            "show-kind",
            "show-labels",
            "show-managed-fields",
            "stats",
            // Watches.
            "changed-by",
            "changes",
            "duration",
            "fields",
            "ignore",
            "metrics",
            "old",
            "on-slow",
            "only",
            "resync",
            "show-all",
            "ts",
            // Runs.
            "batch",
            "debounce",
            "jobs",
            "latest",
            "mask-secrets",
            "max-retries",
            "retry-delay",
            // Recordings.
            "keep",
            "max-size",
            "no-rows",
            "redact",
        ],
    ),
    (Policy::Tables(PORT), &["port"]),
    (Policy::Tables(MEANINGS), &["recursive", "sort-by", "timeout", "top"]),
    (
        Policy::Nowhere(CREDENTIALS),
        &[
            "as",
            "as-group",
            "as-uid",
            "as-user-extra",
            "client-certificate",
            "client-key",
            "password",
            "token",
            "token-file",
            "username",
        ],
    ),
    (Policy::Nowhere(CLUSTER), &["server"]),
    (Policy::Nowhere(ENTRY), &["cluster", "user"]),
    (Policy::Nowhere(TRUST), &["certificate-authority", "insecure-skip-tls-verify", "tls-server-name"]),
    (
        Policy::Nowhere(SELECTION),
        &[
            "all",
            "all-kinds",
            "api-group",
            "by",
            "categories",
            "field-selector",
            "for",
            "namespace-selector",
            "name",
            "namespaced",
            "newer-than",
            "not-ready",
            "older-than",
            "ready",
            "restarted-within",
            "selector",
            "status",
            "types",
            "verbs",
            "where",
        ],
    ),
    (
        Policy::Nowhere(SUBJECT),
        &[
            "address",
            "api-version",
            "at",
            "avg",
            "brief",
            "filename",
            "from",
            "kustomize",
            "max",
            "min",
            "raw",
            "revision",
            "since",
            "subresource",
            "sum",
            "until",
            "write-kubeconfig",
        ],
    ),
    (
        Policy::Nowhere(MODE),
        &[
            "any",
            "at-least",
            "at-most",
            "explain",
            "fail-fast",
            "fail-on",
            "follow",
            "local",
            "move-to",
            "none",
            "stable",
            "wait-for-create",
            "was",
            "watch",
            "watch-only",
        ],
    ),
    (
        Policy::Nowhere(ONE_WATCH),
        &[
            "checkpoint",
            "count",
            "dead-letters",
            "initial",
            "no-initial",
            "on",
            "resource-version",
            "to",
            "until-synced",
        ],
    ),
    (Policy::Nowhere(SECRETS), &["secrets", "show-secrets"]),
    (Policy::Nowhere(KEYS), &["encrypt-to", "identity", "plain"]),
    (Policy::Nowhere(TEMPLATE), &["template"]),
    (Policy::Nowhere(PREFERENCES), &["kuberc"]),
    (
        Policy::Nowhere(NO_EFFECT),
        &["log-flush-frequency", "output-watch-events", "profile", "profile-output", "vmodule"],
    ),
];

/// Flags that settle the same question: a default of the first yields to the others, without an error from the settings.
const YIELDS: &[(&str, &[&str])] = &[
    ("all-contexts", &["context", "kubeconfig"]),
    ("all-namespaces", &["namespace"]),
    // A context is an entry of the file.
    ("context", &["all-contexts", "kubeconfig"]),
    ("demo", &["from"]),
    ("kubeconfig", &["from"]),
    ("namespace", &["all-namespaces"]),
    ("output", &["template"]),
];

/// Returns the decision for a flag by its long name; `None` if there is none.
pub(super) fn policy(flag: &str) -> Option<Policy> {
    POLICIES.iter().find(|(_, flags)| flags.contains(&flag)).map(|(policy, _)| *policy)
}

/// Returns the flags before which a default of this flag yields.
pub(super) fn yields_to(flag: &str) -> &'static [&'static str] {
    YIELDS.iter().find(|(yielding, _)| *yielding == flag).map_or(&[], |(_, flags)| flags)
}

/// Returns the flags that have no default, by reason.
pub(crate) fn refusals() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    POLICIES.iter().filter_map(|(policy, flags)| match policy {
        Policy::Nowhere(reason) => Some((*reason, *flags)),
        Policy::Everywhere | Policy::Tables(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::settings::defaults::key::{built_app, command_paths, flags_of};

    /// Each new flag needs a decision in [`POLICIES`], and one that is gone must leave it.
    #[test]
    fn each_flag_has_one_decision() {
        let app = built_app();
        let paths = command_paths(&app);
        let flags: BTreeSet<&str> = paths
            .iter()
            .flat_map(|(_, command)| flags_of(command).filter_map(|arg| arg.get_long()))
            .collect();
        let decided: Vec<&str> = POLICIES.iter().flat_map(|(_, flags)| flags.iter().copied()).collect();
        let undecided: Vec<_> = flags.iter().filter(|flag| !decided.contains(flag)).collect();
        assert!(undecided.is_empty(), "decide in {} whether these have defaults: {undecided:?}", file!());
        let unknown: Vec<_> = decided.iter().filter(|flag| !flags.contains(*flag)).collect();
        assert!(unknown.is_empty(), "no command has these flags: {unknown:?}");
        assert_eq!(decided.iter().collect::<BTreeSet<_>>().len(), decided.len(), "a flag is listed twice");
        let yielding = YIELDS.iter().flat_map(|(flag, others)| others.iter().chain([flag]));
        let unknown: Vec<_> = yielding.filter(|flag| !flags.contains(*flag)).collect();
        assert!(unknown.is_empty(), "no command has these flags: {unknown:?}");
    }

    #[test]
    fn credentials_and_required_flags_have_no_default() {
        let app = built_app();
        for (path, command) in command_paths(&app) {
            for arg in flags_of(command).filter(|arg| arg.is_required_set()) {
                let decision = policy(arg.get_long().unwrap_or_default());
                assert!(matches!(decision, Some(Policy::Nowhere(_))), "{path} {arg}");
            }
        }
        for flag in ["token", "token-file", "username", "password", "client-key", "as"] {
            assert_eq!(policy(flag), Some(Policy::Nowhere(CREDENTIALS)), "{flag}");
        }
    }
}
