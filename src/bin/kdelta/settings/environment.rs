//! The environment and the terminal, read in one place and handed on as values.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

/// The variables that the program and its library read, and what each is for: the help and the manual print it.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("KUBECONFIG", "the kubeconfig files, as a list like PATH; ~/.kube/config without it"),
    ("HOME", "where .kube/config and the cache are"),
    ("PATH", "where credential plugins are searched for; a plugin that a relative entry has is refused"),
    ("KUBERNETES_MASTER", "the server where no kubeconfig names one"),
    ("KUBERNETES_SERVICE_HOST", "the server inside a pod"),
    ("KUBERNETES_SERVICE_PORT", "its port"),
    ("POD_NAMESPACE", "the namespace inside a pod"),
    ("HTTPS_PROXY", "the proxy to https servers, in capitals or not"),
    ("HTTP_PROXY", "the proxy to http servers"),
    ("NO_PROXY", "the hosts, domains and networks that are reached without one, as in Go's programs"),
    ("DISABLE_HTTP2", "set to anything: HTTP/1.1 only"),
    (
        "KDELTA_WATCH_CONNECTIONS",
        "how many watches may have a connection each, which is faster: 8; more share by HTTP/2",
    ),
    ("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "after how much silence a connection is tried: 30; 0 is never"),
    ("HTTP2_PING_TIMEOUT_SECONDS", "how long it may take to answer that: 15"),
    ("SSL_CERT_FILE", "the authorities to trust where the kubeconfig names none"),
    ("SSL_CERT_DIR", "a directory of them"),
    ("KUBE_FEATURE_WatchListClient", "false: initial states are asked for by pages"),
    ("KUBE_CACHE_MUTATION_DETECTOR", "true: cached objects are compared with what they were, for doubts"),
    ("KUBECACHEDIR", "kubectl's cache; kdelta keeps what discovery found in kdelta/ there"),
    ("KDELTA_CACHE_DIR", "another directory for that"),
    ("KDELTA_DEMO_SEED", "a number: the demo does the same things each time"),
    ("NO_COLOR", "set to anything: no colour"),
    ("TERM", "dumb: no colour"),
    ("CLICOLOR", "0: no colour"),
    ("CLICOLOR_FORCE", "anything but 0: colour in files and pipes too, whatever else says no"),
    ("FORCE_COLOR", "the same"),
    ("COLUMNS", "the width of the help"),
    ("USERPROFILE", "the home directory where HOME is not set"),
];

/// What the program takes from its surroundings; kubeconfig and proxies are read by the library's `api`.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Environment {
    /// `$KDELTA_CACHE_DIR`.
    pub(crate) kdelta_cache_dir: Option<PathBuf>,
    /// `$KUBECACHEDIR`.
    pub(crate) kube_cache_dir: Option<PathBuf>,
    /// The home directory.
    pub(crate) home: Option<PathBuf>,
    /// Whether `$NO_COLOR` is set to anything but nothing.
    pub(crate) no_color: bool,
    /// `$TERM` is `dumb`.
    pub(crate) dumb_terminal: bool,
    /// `$CLICOLOR` is `0`.
    pub(crate) clicolor_off: bool,
    /// `$CLICOLOR_FORCE` or `$FORCE_COLOR` is set to anything but nothing and `0`.
    pub(crate) force_color: bool,
    /// `$COLUMNS` is `0`, as some shells leave it where they know no width.
    pub(crate) no_columns: bool,
    /// `$KDELTA_DEMO_SEED`.
    pub(crate) demo_seed: Option<String>,
    /// `$KUBE_FEATURE_WatchListClient`.
    pub(crate) watch_list_client: Option<String>,
    /// `$KUBE_CACHE_MUTATION_DETECTOR` is true, in one of the ways in which Go writes it.
    pub(crate) mutation_detector: bool,
    /// Whether stdin is a terminal.
    pub(crate) stdin_is_terminal: bool,
    /// Whether stdout is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// Whether stderr is a terminal.
    pub(crate) stderr_is_terminal: bool,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn read() -> Self {
        Self {
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            ..Self::from_variables(|name| std::env::var_os(name))
        }
    }

    /// The part that `variable` answers for. A variable that is set to nothing counts as not set.
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let forces = |name: &str| set(name).is_some_and(|value| value != "0");
        Self {
            kdelta_cache_dir: set("KDELTA_CACHE_DIR").map(PathBuf::from),
            kube_cache_dir: set("KUBECACHEDIR").map(PathBuf::from),
            home: set("HOME").or_else(|| set("USERPROFILE")).map(PathBuf::from),
            no_color: set("NO_COLOR").is_some(),
            dumb_terminal: set("TERM").is_some_and(|term| term == "dumb"),
            clicolor_off: set("CLICOLOR").is_some_and(|value| value == "0"),
            force_color: forces("CLICOLOR_FORCE") || forces("FORCE_COLOR"),
            no_columns: set("COLUMNS").is_some_and(|value| value == "0"),
            demo_seed: set("KDELTA_DEMO_SEED").map(|value| value.to_string_lossy().into_owned()),
            watch_list_client: set("KUBE_FEATURE_WatchListClient")
                .map(|value| value.to_string_lossy().into_owned()),
            mutation_detector: set("KUBE_CACHE_MUTATION_DETECTOR").is_some_and(|value| {
                ["1", "t", "true"].iter().any(|truth| value.eq_ignore_ascii_case(truth))
            }),
            stdin_is_terminal: false,
            stdout_is_terminal: false,
            stderr_is_terminal: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_variables(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn variables_set_to_nothing_are_not_set() {
        let environment = with(&[("NO_COLOR", ""), ("KUBECACHEDIR", ""), ("CLICOLOR_FORCE", "0")]);
        assert!(!environment.no_color && !environment.force_color);
        assert_eq!(environment.kube_cache_dir, None);
    }

    #[test]
    fn the_variables_of_other_tools_are_honoured() {
        let environment = with(&[
            ("NO_COLOR", "1"),
            ("FORCE_COLOR", "1"),
            ("TERM", "dumb"),
            ("CLICOLOR", "0"),
            ("HOME", "/h"),
        ]);
        assert!(environment.no_color && environment.force_color);
        assert!(environment.dumb_terminal && environment.clicolor_off);
        assert_eq!(environment.home, Some("/h".into()));
    }

    #[test]
    fn mutations_are_looked_for_where_client_go_would() {
        for (value, wanted) in
            [("true", true), ("1", true), ("T", true), ("false", false), ("yes", false), ("", false)]
        {
            assert_eq!(with(&[("KUBE_CACHE_MUTATION_DETECTOR", value)]).mutation_detector, wanted, "{value}");
        }
    }
}
