//! Files with kubectl's preferences, which invocations name by `--kuberc` or `KUBERC`.

/// Defaults, aliases and entries that can't be applied.
const PREFERENCES: &str = "\
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: get
  options: [{name: output, default: name}, {name: chunk-size, default: '2'}]
- command: api-resources
  options: [{name: api-group, default: apps}, {name: no-headers, default: t}]
- command: api-versions
  options: [{name: namespace, default: empty}]
- command: events
  options: [{name: types, default: Warning}, {name: no-headers, default: 'true'}]
- command: explain
  options: [{name: recursive, default: 'true'}]
- command: version
  options: [{name: client, default: 'true'}]
- command: apply
  options: [{name: server-side, default: 'true'}]
- command: config view
  options: [{name: output, default: json}]
aliases:
- name: getn
  command: get
  prependArgs: [nodes]
  options: [{name: show-labels, default: 'true'}]
- name: onlyweb
  command: get pods
  appendArgs: [-l, app=web]
- name: wide
  command: get
  options: [{name: output, default: wide}, {name: namespace, default: other}]
- name: after
  command: get
  appendArgs: [--, web-1]
- name: labelled
  command: get
  options: [{name: label-columns, default: app}]
- name: plain
  command: get
  options: [{name: server-print, default: 'false'}, {name: sort-by, default: .metadata.name}]
- {name: lost, command: nope}
- {name: losttwo, command: nope more}
- {name: get, command: api-versions}
";

/// The older version of the format, in the third document.
const ALPHA: &str = "\
apiVersion: v1
kind: ConfigMap
--- # the next
# a comment
---
apiVersion: kubectl.config.k8s.io/v9
kind: Preference
---
apiVersion: kubectl.config.k8s.io/v1alpha1
kind: Preference
overrides:
- command: get
  flags: [{name: output, default: name}]
aliases:
- name: getn
  command: get
  prependArgs: [nodes]
  flags: [{name: no-headers, default: T}]
---
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults: [{command: get, options: [{name: output, default: json}]}]
";

/// An entry for a command that does not exist.
const UNKNOWN_COMMAND: &str = "\
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: nope
  options: [{name: no-headers, default: x}]
- command: get x y
  options: [{name: no-headers, default: 'true'}]
- command: ''
  options: [{name: no-headers, default: 'true'}]
";

/// A file with unknown and repeated fields.
const REPEATED: &str = "\
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: events
  command: get
  other: x
  options: [{name: output, default: name, more: {a: 1}}]
";

macro_rules! preferences {
    ($rest:literal) => {
        concat!("apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n", $rest, "\n")
    };
}

/// The files: name and text.
pub(super) const FILES: [(&str, &str); 26] = [
    ("preferences.yaml", PREFERENCES),
    ("alpha.yaml", ALPHA),
    ("unknown-command.yaml", UNKNOWN_COMMAND),
    ("repeated.yaml", REPEATED),
    ("comment.yaml", "# only\n"),
    (
        "preferences.json",
        r#"{"apiVersion": "kubectl.config.k8s.io/v1beta1", "kind": "Preference", "defaults": [{"command": "get", "options": [{"name": "output", "default": "name"}]}]}"#,
    ),
    ("invalid.json", r#"{"apiVersion": "kubectl.config.k8s.io/v1beta1", "kind": "Preference",}"#),
    ("no-kind.yaml", "apiVersion: kubectl.config.k8s.io/v1beta1\n"),
    ("unknown-version.yaml", "apiVersion: kubectl.config.k8s.io/v2\nkind: Preference\n"),
    ("nulls.yaml", preferences!("defaults: null\naliases: [{name: a, options: null}]")),
    ("bool.yaml", preferences!("defaults: [{command: get, options: [{name: no-headers, default: true}]}]")),
    ("yes.yaml", preferences!("defaults: [{command: get, options: [{name: label-columns, default: yes}]}]")),
    ("date.yaml", preferences!("defaults: [{command: get, options: [{name: L, default: 2001-01-01}]}]")),
    ("no-flag.yaml", preferences!("defaults: [{command: get, options: [{name: nope, default: x}]}]")),
    ("dashes.yaml", preferences!("defaults: [{command: x, options: [{name: --output, default: x}]}]")),
    ("no-bool.yaml", preferences!("defaults: [{command: get, options: [{name: no-headers, default: x}]}]")),
    (
        "underscore.yaml",
        preferences!("defaults: [{command: get, options: [{name: show_kind, default: '1'}]}]"),
    ),
    ("alias-name.yaml", preferences!("aliases: [{name: a1, command: get}]")),
    ("alias-twice.yaml", preferences!("aliases: [{name: a, command: get}, {name: a, command: get}]")),
    ("alias-defaults.yaml", preferences!("aliases: [{name: g, command: get}]\ndefaults: [{command: g}]")),
    ("deny.yaml", preferences!("credentialPluginPolicy: DenyAll")),
    ("policy.yaml", preferences!("credentialPluginPolicy: Nope")),
    ("no-list.yaml", preferences!("credentialPluginPolicy: Allowlist")),
    ("unused-list.yaml", preferences!("credentialPluginAllowlist: [{command: a}]")),
    ("empty-entry.yaml", preferences!("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{}]")),
    (
        "contradiction.yaml",
        preferences!("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{name: a, command: b}]"),
    ),
];
