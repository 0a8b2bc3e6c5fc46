//! The environment variables and terminals, read once and passed on as values.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use kdelta::kubeconfig::{ConfigOptions, Secret};

/// The variables that the program and its library read, with their purpose, as printed by the help and the manual.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("KUBECONFIG", "list of kubeconfig files, in the format of PATH; default ~/.kube/config"),
    ("HOME", "directory of .kube/config and of the cache"),
    (
        "PATH",
        "directories of credential plugins, and of kubectl or kustomize for -k; relative entries do not count",
    ),
    ("KUBERNETES_MASTER", "server if no kubeconfig names one"),
    ("KUBERNETES_SERVICE_HOST", "server, inside a pod"),
    ("KUBERNETES_SERVICE_PORT", "port of that server"),
    ("POD_NAMESPACE", "namespace, inside a pod"),
    ("HTTPS_PROXY", "proxy for https servers, in upper or lower case"),
    ("HTTP_PROXY", "proxy for http servers"),
    ("NO_PROXY", "hosts, domains and networks that bypass the proxy, as in Go programs"),
    ("DISABLE_HTTP2", "any value: HTTP/1.1 only"),
    (
        "KDELTA_WATCH_CONNECTIONS",
        "number of watches with their own connection, which is faster; further ones share HTTP/2; default 8",
    ),
    (
        "HTTP2_READ_IDLE_TIMEOUT_SECONDS",
        "idle seconds before a connection is checked; 0 disables the check; default 30",
    ),
    ("HTTP2_PING_TIMEOUT_SECONDS", "seconds to wait for the response to that check; default 15"),
    ("SSL_CERT_FILE", "trusted certificate authorities if the kubeconfig names none"),
    ("SSL_CERT_DIR", "directory of trusted certificate authorities"),
    ("KUBE_FEATURE_WatchListClient", "false: the initial state is requested by paged lists"),
    ("KUBE_CACHE_MUTATION_DETECTOR", "true: cached objects are checked for mutations, for debugging"),
    ("KUBECACHEDIR", "kubectl's cache directory; kdelta stores discovery results in kdelta/ in it"),
    ("KDELTA_CACHE_DIR", "directory for discovery results instead"),
    (
        "KDELTA_CONFIG",
        "file with defaults for flags; off: none, as in scripts; default ~/.config/kdelta/config.toml",
    ),
    ("XDG_CONFIG_HOME", "absolute directory of kdelta/config.toml, instead of ~/.config"),
    (
        "XDG_STATE_HOME",
        "absolute directory of kdelta/redaction.key and kdelta/recording-keys, instead of ~/.local/state",
    ),
    ("APPDATA", "directory of kdelta\\config.toml on Windows"),
    ("KDELTA_<FLAG>", "default of a flag, such as KDELTA_OUTPUT=wide: see `kdelta help config`"),
    ("KUBERC", "file with kubectl's preferences; default ~/.kube/kuberc; off disables them"),
    ("KUBECTL_KUBERC", "false: no preferences, and no flag --kuberc"),
    ("KDELTA_DEMO_SEED", "a number: the demo makes the same changes each time"),
    ("NO_COLOR", "any value: no colour"),
    ("TERM", "dumb: no colour"),
    ("CLICOLOR", "0: no colour"),
    ("CLICOLOR_FORCE", "any value but 0: colour even in files and pipes; overrides the other variables"),
    ("FORCE_COLOR", "same as CLICOLOR_FORCE"),
    ("COLUMNS", "width of the help"),
    ("USERPROFILE", "home directory on Windows if HOME is not set"),
];

/// The file with the defaults of flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ConfigFile {
    /// None: `KDELTA_CONFIG=off`, or there is no directory for it.
    #[default]
    Off,
    /// The file of `$KDELTA_CONFIG`, which must exist.
    Named(PathBuf),
    /// The file in the user's configuration directory, if it exists.
    Usual(PathBuf),
}

/// The environment of the program.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Environment {
    /// `$KDELTA_CACHE_DIR`.
    pub(crate) kdelta_cache_dir: Option<PathBuf>,
    /// `$KUBECACHEDIR`.
    pub(crate) kube_cache_dir: Option<PathBuf>,
    /// `$KUBERC`.
    pub(crate) kuberc: Option<OsString>,
    /// Whether `$KUBECTL_KUBERC` is `false`, which disables kubectl's preferences.
    pub(crate) no_kuberc: bool,
    /// The variables of the configuration, and whether stdin is a terminal.
    pub(crate) config: ConfigOptions,
    /// Whether `$NO_COLOR` is set and not empty.
    pub(crate) no_color: bool,
    /// Whether `$TERM` is `dumb`.
    pub(crate) dumb_terminal: bool,
    /// Whether `$CLICOLOR` is `0`.
    pub(crate) clicolor_off: bool,
    /// Whether `$CLICOLOR_FORCE` or `$FORCE_COLOR` is set, and neither empty nor `0`.
    pub(crate) force_color: bool,
    /// Whether `$COLUMNS` is `0`, which some shells set if the width is unknown.
    pub(crate) no_columns: bool,
    /// `$PATH`.
    pub(crate) search_path: OsString,
    /// `$KDELTA_DEMO_SEED`.
    pub(crate) demo_seed: Option<String>,
    /// `$KUBE_FEATURE_WatchListClient`.
    pub(crate) watch_list_client: Option<String>,
    /// Whether `$KUBE_CACHE_MUTATION_DETECTOR` is true in one of Go's spellings.
    pub(crate) mutation_detector: bool,
    /// The file with the defaults of flags.
    pub(crate) config_file: ConfigFile,
    /// kdelta's directory for the user's state.
    pub(crate) state_dir: Option<PathBuf>,
    /// The variables `KDELTA_…` that are not empty, by name. A value may be a credential that is refused later, and is
    /// `None` if it is not UTF-8.
    pub(crate) kdelta_variables: BTreeMap<String, Option<Secret>>,
    /// Whether stdout is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// Whether stderr is a terminal.
    pub(crate) stderr_is_terminal: bool,
}

impl Environment {
    /// Reads the environment of this process.
    pub(crate) fn read() -> Self {
        let mut environment = Self::from_variables(|name| std::env::var_os(name));
        environment.kdelta_variables = kdelta_variables(std::env::vars_os());
        environment.config.stdin_is_terminal = std::io::stdin().is_terminal();
        environment.stdout_is_terminal = std::io::stdout().is_terminal();
        environment.stderr_is_terminal = std::io::stderr().is_terminal();
        environment
    }

    /// Reads the environment with `variable`. An empty variable counts as not set.
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let forces = |name: &str| set(name).is_some_and(|value| value != "0");
        Self {
            kdelta_cache_dir: set("KDELTA_CACHE_DIR").map(PathBuf::from),
            kube_cache_dir: set("KUBECACHEDIR").map(PathBuf::from),
            kuberc: set("KUBERC"),
            no_kuberc: set("KUBECTL_KUBERC").is_some_and(|value| value == "false"),
            config: ConfigOptions::from_variables(&variable),
            no_color: set("NO_COLOR").is_some(),
            dumb_terminal: set("TERM").is_some_and(|term| term == "dumb"),
            clicolor_off: set("CLICOLOR").is_some_and(|value| value == "0"),
            force_color: forces("CLICOLOR_FORCE") || forces("FORCE_COLOR"),
            no_columns: set("COLUMNS").is_some_and(|value| value == "0"),
            search_path: set("PATH").unwrap_or_default(),
            demo_seed: set("KDELTA_DEMO_SEED").map(|value| value.to_string_lossy().into_owned()),
            watch_list_client: set("KUBE_FEATURE_WatchListClient")
                .map(|value| value.to_string_lossy().into_owned()),
            mutation_detector: set("KUBE_CACHE_MUTATION_DETECTOR").is_some_and(|value| {
                ["1", "t", "true"].iter().any(|truth| value.eq_ignore_ascii_case(truth))
            }),
            config_file: config_file(set, cfg!(windows)),
            state_dir: state_dir(set, cfg!(windows)),
            kdelta_variables: BTreeMap::new(),
            stdout_is_terminal: false,
            stderr_is_terminal: false,
        }
    }
}

/// Returns the file with the defaults of flags. As the XDG specification demands, a relative directory is ignored.
fn config_file(set: impl Fn(&str) -> Option<OsString>, is_windows: bool) -> ConfigFile {
    let folder = match set("KDELTA_CONFIG").map(PathBuf::from) {
        Some(file) if file.as_os_str() == "off" => return ConfigFile::Off,
        Some(file) => return ConfigFile::Named(file),
        None if is_windows => set("APPDATA").map(PathBuf::from),
        None => set("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
            .or_else(|| Some(PathBuf::from(set("HOME")?).join(".config"))),
    };
    folder.map_or(ConfigFile::Off, |folder| ConfigFile::Usual(folder.join("kdelta").join("config.toml")))
}

/// Returns the directory of the user's state. As the XDG specification demands, a relative directory is ignored.
fn state_dir(set: impl Fn(&str) -> Option<OsString>, is_windows: bool) -> Option<PathBuf> {
    let folder = if is_windows {
        set("APPDATA").map(PathBuf::from)
    } else {
        set("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
            .or_else(|| Some(PathBuf::from(set("HOME")?).join(".local").join("state")))
    };
    folder.map(|folder| folder.join("kdelta"))
}

/// Selects the variables of kdelta. On Windows, their names may be in any case.
fn kdelta_variables(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> BTreeMap<String, Option<Secret>> {
    let named = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let named = named.map(|(name, value)| (if cfg!(windows) { name.to_uppercase() } else { name }, value));
    let own = named.filter(|(name, value)| name.starts_with("KDELTA_") && !value.is_empty());
    own.map(|(name, value)| (name, value.into_string().ok().map(Secret::from))).collect()
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
    fn empty_variables_are_ignored() {
        let environment = with(&[("NO_COLOR", ""), ("KUBECACHEDIR", ""), ("CLICOLOR_FORCE", "0")]);
        assert!(!environment.no_color && !environment.force_color);
        assert_eq!(environment.kube_cache_dir, None);
    }

    #[test]
    fn common_environment_variables_are_honoured() {
        let environment = with(&[
            ("NO_COLOR", "1"),
            ("FORCE_COLOR", "1"),
            ("TERM", "dumb"),
            ("CLICOLOR", "0"),
            ("HOME", "/h"),
        ]);
        assert!(environment.no_color && environment.force_color);
        assert!(environment.dumb_terminal && environment.clicolor_off);
        assert_eq!(environment.config.home, Some("/h".into()));
    }

    #[test]
    fn config_file_is_in_the_users_configuration_folder() {
        let usual = |path: &str| ConfigFile::Usual(path.into());
        for (pairs, is_windows, expected) in [
            (&[][..], false, ConfigFile::Off),
            (&[("HOME", "/h")], false, usual("/h/.config/kdelta/config.toml")),
            (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], false, usual("/x/kdelta/config.toml")),
            (&[("HOME", "/h"), ("XDG_CONFIG_HOME", "x")], false, usual("/h/.config/kdelta/config.toml")),
            (&[("HOME", "/h"), ("APPDATA", "/a")], true, usual("/a/kdelta/config.toml")),
            (&[("HOME", "/h")], true, ConfigFile::Off),
            (&[("HOME", "/h"), ("KDELTA_CONFIG", "off")], false, ConfigFile::Off),
            (&[("HOME", "/h"), ("KDELTA_CONFIG", "my.toml")], false, ConfigFile::Named("my.toml".into())),
            (&[("HOME", "/h"), ("KDELTA_CONFIG", "")], false, usual("/h/.config/kdelta/config.toml")),
        ] {
            let set = |name: &str| {
                let found = pairs.iter().find(|(key, value)| *key == name && !value.is_empty());
                found.map(|(_, value)| OsString::from(value))
            };
            assert_eq!(config_file(set, is_windows), expected, "{pairs:?} {is_windows}");
        }
    }

    #[test]
    fn own_variables_are_collected_without_showing_values() {
        let pairs =
            [("KDELTA_OUTPUT", "wide"), ("KDELTA_TOKEN", "s3cr3t"), ("KDELTA_X", ""), ("OUTPUT", "y")];
        let found = kdelta_variables(pairs.iter().map(|(name, value)| (name.into(), value.into())));
        assert_eq!(found.keys().collect::<Vec<_>>(), ["KDELTA_OUTPUT", "KDELTA_TOKEN"]);
        assert!(!format!("{found:?}").contains("s3cr3t"), "{found:?}");
    }

    #[test]
    fn mutation_detector_follows_client_go_variable() {
        for (value, expected) in
            [("true", true), ("1", true), ("T", true), ("false", false), ("yes", false), ("", false)]
        {
            assert_eq!(
                with(&[("KUBE_CACHE_MUTATION_DETECTOR", value)]).mutation_detector,
                expected,
                "{value}"
            );
        }
    }
}
