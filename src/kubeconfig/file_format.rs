//! The kubeconfig file format: the fields that kubectl reads, with its tolerance. An unknown field is ignored, and a
//! missing or null field has its zero value; a field of the wrong type makes the file invalid. Pure, no I/O.
//!
//! The types that hold credentials implement no `Debug`.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Secret;
use super::yaml_booleans::with_quoted_words;

/// The name of the cluster extension that is reserved for credential plugins.
const EXEC_EXTENSION: &str = "client.authentication.k8s.io/exec";

/// The reason why a text is not a kubeconfig file. Its text may quote values of the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FormatError {
    /// The text is not YAML.
    #[error("yaml: {0}")]
    Yaml(Box<serde_saphyr::Error>),
    /// A field has another type.
    #[error("json: {place}: {error}")]
    Type {
        /// The list entry, such as `users[0]`, or `kubeconfig` for a field outside of the lists.
        place: String,
        /// The expected type.
        error: serde_json::Error,
    },
}

/// One kubeconfig file, or several merged ones.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Kubeconfig {
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) clusters: Vec<NamedCluster>,
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) users: Vec<NamedAuthInfo>,
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) contexts: Vec<NamedContext>,
    pub(crate) current_context: Option<String>,
    pub(crate) preferences: Option<Preferences>,
    pub(crate) extensions: Option<Vec<NamedExtension>>,
}

impl Kubeconfig {
    /// Parses the text of a file. Several YAML documents are merged. As in kubectl, the text is converted to JSON
    /// first, so that a field of type string rejects an unquoted number.
    ///
    /// # Errors
    /// The parser's error, whose text may quote values of the file.
    pub(crate) fn from_yaml(text: &str) -> Result<Self, FormatError> {
        // As in kubectl, an unquoted `n` is a boolean, which a field of type string rejects.
        let options = serde_saphyr::options! { strict_booleans: false };
        let text = with_quoted_words(text);
        let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(&text, options)
            .map_err(|error| FormatError::Yaml(Box::new(error)))?;
        documents.into_iter().try_fold(Self::default(), |merged, document| {
            let document: Option<Self> = Deserialize::deserialize(&document)
                .map_err(|error| FormatError::Type { place: wrong_entry(&document), error })?;
            Ok(merged.merge(document.unwrap_or_default()))
        })
    }

    /// Adds the entries of another file. Of two entries with one name the first counts, all of it; so does the first
    /// current context.
    #[must_use]
    pub(crate) fn merge(mut self, next: Self) -> Self {
        append_new(&mut self.clusters, next.clusters, |cluster| &cluster.name);
        append_new(&mut self.users, next.users, |user| &user.name);
        append_new(&mut self.contexts, next.contexts, |context| &context.name);
        self.current_context = self.current_context.or(next.current_context);
        self
    }
}

/// Returns the first list entry that has a field of the wrong type.
fn wrong_entry(document: &Value) -> String {
    let wrong = |list: &str, is_valid: fn(&Value) -> bool| {
        let entries = document.get(list)?.as_array()?;
        let index = entries.iter().position(|entry| !is_valid(entry))?;
        Some(format!("{list}[{index}]"))
    };
    wrong("clusters", |entry| NamedCluster::deserialize(entry).is_ok())
        .or_else(|| wrong("users", |entry| NamedAuthInfo::deserialize(entry).is_ok()))
        .or_else(|| wrong("contexts", |entry| NamedContext::deserialize(entry).is_ok()))
        .unwrap_or_else(|| "kubeconfig".to_owned())
}

fn append_new<T>(entries: &mut Vec<T>, next: Vec<T>, name: impl Fn(&T) -> &String) {
    let known: HashSet<String> = entries.iter().map(|entry| name(entry).clone()).collect();
    entries.extend(next.into_iter().filter(|entry| !known.contains(name(entry))));
}

/// Settings of kubectl itself, which have no effect here.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Preferences {
    pub(crate) colors: Option<bool>,
    pub(crate) extensions: Option<Vec<NamedExtension>>,
}

/// Data of another program.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NamedExtension {
    #[serde(deserialize_with = "null_as_default")]
    name: String,
    extension: Value,
}

/// An entry of `clusters`.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NamedCluster {
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) cluster: Cluster,
}

/// An API server and the means to verify it.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Cluster {
    /// The URL of the server.
    pub(crate) server: Option<String>,
    /// The name that the server's certificate is verified against, instead of the URL's host.
    pub(crate) tls_server_name: Option<String>,
    pub(crate) insecure_skip_tls_verify: Option<bool>,
    /// The path of a PEM file with the trusted authorities.
    pub(crate) certificate_authority: Option<String>,
    /// The content of such a file in base64.
    pub(crate) certificate_authority_data: Option<String>,
    pub(crate) proxy_url: Option<String>,
    pub(crate) disable_compression: Option<bool>,
    pub(crate) extensions: Option<Vec<NamedExtension>>,
}

impl Cluster {
    /// Returns the configuration that the cluster holds for credential plugins.
    pub(crate) fn exec_extension(&self) -> Option<&Value> {
        let own = self.extensions.iter().flatten().find(|extension| extension.name == EXEC_EXTENSION)?;
        Some(&own.extension)
    }
}

/// An entry of `contexts`.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NamedContext {
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) context: Context,
}

/// A cluster, a user and a namespace, by name.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Context {
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) cluster: String,
    pub(crate) user: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) extensions: Option<Vec<NamedExtension>>,
}

/// An entry of `users`.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NamedAuthInfo {
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) user: AuthInfo,
}

/// The credentials of a user, and the identity to impersonate.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct AuthInfo {
    /// The path of a PEM file with the client certificate and its chain.
    pub(crate) client_certificate: Option<String>,
    /// The content of such a file in base64.
    pub(crate) client_certificate_data: Option<String>,
    /// The path of a PEM file with the client certificate's key.
    pub(crate) client_key: Option<String>,
    /// The content of such a file in base64.
    pub(crate) client_key_data: Option<Secret>,
    pub(crate) token: Option<Secret>,
    /// The path of a file with a token.
    #[serde(rename = "tokenFile")]
    pub(crate) token_file: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<Secret>,
    #[serde(rename = "as")]
    pub(crate) impersonate: Option<String>,
    #[serde(rename = "as-uid")]
    pub(crate) impersonate_uid: Option<String>,
    #[serde(rename = "as-groups")]
    pub(crate) impersonate_groups: Option<Vec<String>>,
    #[serde(rename = "as-user-extra")]
    pub(crate) impersonate_user_extra: Option<BTreeMap<String, Vec<String>>>,
    pub(crate) auth_provider: Option<AuthProvider>,
    pub(crate) exec: Option<ExecConfig>,
    pub(crate) extensions: Option<Vec<NamedExtension>>,
}

/// An authentication provider that is part of the client.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuthProvider {
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) name: String,
    /// The provider's settings, which include its tokens.
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) config: BTreeMap<String, String>,
}

/// A credential plugin.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ExecConfig {
    pub(crate) api_version: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) args: Option<Vec<String>>,
    /// Variables that are added to the environment of this process.
    pub(crate) env: Option<Vec<ExecVariable>>,
    /// A text for users who lack the plugin's program.
    pub(crate) install_hint: Option<String>,
    /// An [`InteractiveMode`] by name.
    pub(crate) interactive_mode: Option<String>,
    /// Whether the plugin receives the server's URL and certificates.
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) provide_cluster_info: bool,
}

/// An environment variable of a credential plugin, whose value may be a credential.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ExecVariable {
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "null_as_default")]
    pub(crate) value: String,
}

/// The permission of a credential plugin to use standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InteractiveMode {
    /// The plugin never prompts.
    Never,
    /// The plugin prompts if standard input is a terminal.
    IfAvailable,
    /// The plugin can't run without a terminal.
    Always,
}

impl InteractiveMode {
    /// Returns the mode of that name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "Never" => Some(Self::Never),
            "IfAvailable" => Some(Self::IfAvailable),
            "Always" => Some(Self::Always),
            _ => None,
        }
    }
}

fn null_as_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_read() {
        let text = "
apiVersion: v1
kind: Config
preferences: {colors: true, extensions: [{name: p, extension: {}}]}
extensions: [{name: e, extension: [1]}]
current-context: ctx
clusters:
- name: c
  cluster:
    server: https://h:1
    tls-server-name: real
    insecure-skip-tls-verify: false
    certificate-authority: ca.crt
    certificate-authority-data: Y2E=
    proxy-url: socks5://p
    disable-compression: true
    extensions:
    - {name: other, extension: {}}
    - {name: client.authentication.k8s.io/exec, extension: {audience: a}}
contexts:
- {name: ctx, context: {cluster: c, user: u, namespace: ns, extensions: []}}
users:
- name: u
  user:
    client-certificate: c.crt
    client-certificate-data: Y3J0
    client-key: c.key
    client-key-data: a2V5
    token: t
    tokenFile: t.txt
    username: me
    password: pass
    as: jane
    as-uid: '7'
    as-groups: [g]
    as-user-extra: {scope: [view]}
    auth-provider: {name: oidc, config: {client-id: id}}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: plugin
      args: [login]
      env: [{name: A, value: b}]
      installHint: install it
      interactiveMode: Always
      provideClusterInfo: true
    pub(crate) extensions: []
";
        let read = Kubeconfig::from_yaml(text).unwrap();
        assert_eq!(read.current_context.as_deref(), Some("ctx"));
        let cluster = &read.clusters[0].cluster;
        let texts = [
            &cluster.server,
            &cluster.tls_server_name,
            &cluster.certificate_authority,
            &cluster.certificate_authority_data,
            &cluster.proxy_url,
        ];
        let expected = ["https://h:1", "real", "ca.crt", "Y2E=", "socks5://p"].map(Some);
        assert_eq!(texts.map(Option::as_deref), expected);
        assert_eq!(
            (cluster.insecure_skip_tls_verify, cluster.disable_compression),
            (Some(false), Some(true))
        );
        assert_eq!(cluster.exec_extension().unwrap()["audience"], "a");
        let context = &read.contexts[0].context;
        assert_eq!((&read.contexts[0].name[..], &context.cluster[..]), ("ctx", "c"));
        assert_eq!((context.user.as_deref(), context.namespace.as_deref()), (Some("u"), Some("ns")));
        let user = &read.users[0].user;
        let texts = [
            &user.client_certificate,
            &user.client_certificate_data,
            &user.client_key,
            &user.token_file,
            &user.username,
            &user.impersonate,
            &user.impersonate_uid,
        ];
        let expected = ["c.crt", "Y3J0", "c.key", "t.txt", "me", "jane", "7"].map(Some);
        assert_eq!(texts.map(Option::as_deref), expected);
        let secrets = [&user.client_key_data, &user.token, &user.password];
        let exposed = secrets.map(|secret| secret.as_ref().map(Secret::expose));
        assert_eq!(exposed, ["a2V5", "t", "pass"].map(Some));
        assert_eq!(user.impersonate_groups, Some(vec!["g".to_owned()]));
        assert_eq!(user.impersonate_user_extra.as_ref().unwrap()["scope"], ["view"]);
        let provider = user.auth_provider.as_ref().unwrap();
        assert_eq!((&provider.name[..], &provider.config["client-id"][..]), ("oidc", "id"));
        let exec = user.exec.as_ref().unwrap();
        let texts = [&exec.api_version, &exec.command, &exec.install_hint, &exec.interactive_mode];
        let expected = ["client.authentication.k8s.io/v1", "plugin", "install it", "Always"].map(Some);
        assert_eq!(texts.map(Option::as_deref), expected);
        assert_eq!(exec.args, Some(vec!["login".to_owned()]));
        let variable = &exec.env.as_ref().unwrap()[0];
        assert_eq!((&variable.name[..], &variable.value[..]), ("A", "b"));
        assert!(exec.provide_cluster_info);
    }

    #[test]
    fn unknown_missing_and_null_fields_are_tolerated() {
        for text in [
            "",
            "# nothing",
            "{other: {a: [1]}, clusters: null, users: null, contexts: null, current-context: null}",
            "clusters: [{}, {name: null, cluster: null, other: 1}, {cluster: {server: null, other: 1}}]",
            "contexts: [{}, {name: a, context: {}}, {context: {cluster: null, user: null, other: 1}}]",
            "users: [{}, {user: null}, {user: {token: null, password: null, exec: null, auth-provider: {}}}]",
            "users: [{user: {auth-provider: {name: null, config: null}}}]",
            "users: [{user: {exec: {env: [{}, {name: null, value: null}], provideClusterInfo: null, args: null}}}]",
            "{contexts: [{context: {namespace: oN}}], users: [{user: {username: yEs, token: nO, as: tRUE}}]}",
            "{preferences: {colors: y}, users: [{user: {username: 'n'}}], clusters: [{cluster: {insecure-skip-tls-verify: no}}]}",
            "users: [{user: {exec: {interactiveMode: Sometimes, env: null, other: {}}}}]",
        ] {
            let read = Kubeconfig::from_yaml(text);
            assert!(read.is_ok(), "{text}: {:?}", read.err());
        }
    }

    #[test]
    fn values_of_the_wrong_type_are_rejected() {
        for text in [
            "preferences: 5",
            "preferences: {colors: maybe}",
            "preferences: {colors: oN}",
            "users: [{user: {exec: {provideClusterInfo: yEs}}}]",
            "contexts: [{context: {namespace: On}}]",
            "users: [{user: {username: n}}]",
            "contexts: [{context: {namespace: on}}]",
            "extensions: {}",
            "clusters: {}",
            "clusters: [{cluster: {insecure-skip-tls-verify: maybe}}]",
            "contexts: [{context: {extensions: {}}}]",
            "users: [{user: {as-groups: g}}]",
            "users: [{user: {token: [t]}}]",
            "users: [{user: {extensions: 1}}]",
            "users: [{user: {exec: {provideClusterInfo: often}}}]",
        ] {
            assert!(Kubeconfig::from_yaml(text).is_err(), "{text}");
        }
    }

    #[test]
    fn first_entry_of_a_name_wins_across_documents_and_files() {
        let first = "{clusters: [{name: c, cluster: {server: a}}]}\n---\n\
             {current-context: x, clusters: [{name: c, cluster: {server: b, proxy-url: p}}, {name: d}]}";
        let second = "{current-context: z, users: [{name: u}], contexts: [{name: x}, {name: z}]}";
        let merged = Kubeconfig::from_yaml(first).unwrap().merge(Kubeconfig::from_yaml(second).unwrap());
        let clusters: Vec<_> = merged.clusters.iter().map(|named| &named.name[..]).collect();
        assert_eq!(clusters, ["c", "d"]);
        let cluster = &merged.clusters[0].cluster;
        assert_eq!((cluster.server.as_deref(), cluster.proxy_url.as_deref()), (Some("a"), None));
        assert_eq!(merged.current_context.as_deref(), Some("x"));
        assert_eq!((merged.users.len(), merged.contexts.len()), (1, 2));
    }
}
