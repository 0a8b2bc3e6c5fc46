//! The kubeconfig file of a server, removed when the server stops.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kdelta::recording::NetworkEndpoint;
use serde_json::{Value, json};

/// A file that only its owner can read. Dropping it removes the file: the token in it is useless without the server.
pub(super) struct KubeconfigFile {
    path: PathBuf,
}

impl KubeconfigFile {
    /// Creates a file that does not exist yet.
    ///
    /// # Errors
    /// It exists, or can't be written.
    pub(super) fn create(path: &Path, text: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let created = Self { path: std::path::absolute(path)? };
        file.write_all(text.as_bytes())?;
        Ok(created)
    }

    /// Creates a file in place of one that a killed server left at the same address.
    ///
    /// # Errors
    /// It can't be written.
    pub(super) fn replace(path: &Path, text: &str) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(dir)?;
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Self::create(path, text),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for KubeconfigFile {
    fn drop(&mut self) {
        // A file that was removed meanwhile is fine.
        let _ = fs::remove_file(&self.path);
    }
}

/// A context that is served.
pub(super) struct ServedContext<'a> {
    pub(super) name: &'a str,
    /// The namespace of requests without one; `None` for that of kubectl.
    pub(super) namespace: Option<String>,
    pub(super) endpoint: &'a NetworkEndpoint,
}

/// Returns the kubeconfig, in JSON, which is YAML too. Without `current`, the first context is the current one.
pub(super) fn text(contexts: &[ServedContext<'_>], current: Option<&str>) -> String {
    let entries = contexts.iter().map(|ServedContext { name, namespace, endpoint }| Entry {
        context: name,
        namespace: namespace.as_deref(),
        url: endpoint.url(),
        certificate: endpoint.certificate(),
        token: endpoint.token(),
    });
    text_of(&entries.collect::<Vec<_>>(), current)
}

/// The data of one context.
struct Entry<'a> {
    context: &'a str,
    namespace: Option<&'a str>,
    url: String,
    certificate: &'a str,
    token: &'a str,
}

fn text_of(entries: &[Entry<'_>], current: Option<&str>) -> String {
    let is_served = |name: &&str| entries.iter().any(|entry| entry.context == *name);
    let first = entries.first().map(|entry| entry.context);
    let each = |value: &dyn Fn(&Entry<'_>) -> Value| entries.iter().map(value).collect::<Vec<_>>();
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current.filter(is_served).or(first),
        "contexts": each(&|Entry { context, namespace, .. }| {
            let mut settings = json!({"cluster": context, "user": context});
            if let Some(namespace) = namespace {
                settings["namespace"] = (*namespace).into();
            }
            json!({"name": context, "context": settings})
        }),
        "clusters": each(&|Entry { context, url, certificate, .. }| {
            let authority = STANDARD.encode(certificate);
            json!({"name": context, "cluster": {"server": url, "certificate-authority-data": authority}})
        }),
        "users": each(&|Entry { context, token, .. }| {
            json!({"name": context, "user": {"token": token}})
        }),
    });
    format!("{config:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_context_has_its_server_and_token() {
        let entry = |context, namespace, url: &str| {
            let (url, certificate, token) = (url.to_owned(), "PEM", "t");
            Entry { context, namespace, url, certificate, token }
        };
        let entries =
            [entry("dev", None, "https://127.0.0.1:1"), entry("prod", Some("n"), "https://127.0.0.1:2")];
        let read = |current| serde_json::from_str::<Value>(&text_of(&entries, current)).expect("JSON");
        let config = read(Some("prod"));
        assert_eq!(config["current-context"], "prod");
        assert_eq!(config["clusters"][1]["cluster"]["server"], "https://127.0.0.1:2");
        assert_eq!(config["users"][0]["user"]["token"], "t");
        assert_eq!(config["contexts"][0]["context"], json!({"cluster": "dev", "user": "dev"}));
        assert_eq!(config["contexts"][1]["context"]["namespace"], "n");
        assert_eq!(read(Some("test"))["current-context"], "dev");
        assert_eq!(read(None)["current-context"], "dev");
    }

    #[cfg(unix)]
    #[test]
    fn file_is_private_and_removed() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("sub/config");
        for _ in 0..2 {
            let file = KubeconfigFile::replace(&path, "text").expect("a file");
            let mode = fs::metadata(file.path()).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            KubeconfigFile::create(&path, "other").map(|_| ()).expect_err("it exists");
            assert_eq!(fs::read_to_string(&path).expect("a file"), "text");
            // As after a kill.
            std::mem::forget(file);
        }
        drop(KubeconfigFile::replace(&path, "text").expect("a file"));
        assert!(!path.exists());
    }
}
