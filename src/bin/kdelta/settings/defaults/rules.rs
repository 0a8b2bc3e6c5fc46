//! The rules of defaults, as the help and the manual print them.

/// The paragraphs of the rules.
pub(crate) const CONFIG_RULES: [&str; 4] = [
    "A flag overrides its variable, a variable the file, and the file the built-in default.",
    "File: kdelta/config.toml in $XDG_CONFIG_HOME or ~/.config, on Windows in %APPDATA%. $KDELTA_CONFIG names another \
     file, or is off for none, as in scripts. A key at the top applies to all commands that have the flag, a key in a \
     table such as [watch] to that command, with precedence.",
    "Variables: KDELTA_ and the flag in upper case with _ for -, such as KDELTA_REQUEST_TIMEOUT. A list has one text per \
     line. An empty variable counts as not set. KDELTA_EVENT_* are for commands that kdelta starts.",
    "A default yields to flags that exclude it and is ignored where it does not apply: -A overrides namespace, and \
     changes is ignored without a watch.",
];

/// The example of a file.
pub(crate) const CONFIG_EXAMPLE: &str = r#"  output = "wide"
  request-timeout = "30s"

  [watch]
  changes = 'inline'
  ignore = ["metadata.managedFields", "status.conditions[*].lastHeartbeatTime"]

  [get]
  sort-by = ".metadata.creationTimestamp"
"#;
