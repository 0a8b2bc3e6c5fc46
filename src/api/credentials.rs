//! Who we say we are: the headers that go with every request.
//!
//! Tokens and token files are sent by this room itself; credential plugins, basic and OIDC are kube-client's, whose
//! middleware is laid over a service that sends nothing and answers with the headers it was given.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use kube_client::client::{AuthError, Body, ConfigExt};
use kube_client::config::AuthInfo;
use secrecy::ExposeSecret;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer, ServiceExt, service_fn};

use super::error::Error;
use super::failure::system_words;

/// How long the content of a token file is used: the kubelet renews it well before it expires.
const TOKEN_FILE_LIFE: Duration = Duration::from_secs(50);

/// A source of headers, good until the server no longer takes them.
pub(super) struct Credentials {
    own: Own,
    plugin: Plugin,
    middleware: BoxCloneSyncService<http::Request<Body>, http::Response<()>, BoxError>,
    /// Whether the middleware itself adds an `Authorization`; not so with a plugin that returns a certificate.
    pub(super) by_header: bool,
}

/// The `Authorization` that needs no middleware.
enum Own {
    None,
    Token(HeaderValue),
    File(TokenFile),
}

impl Own {
    /// Takes what this room sends itself out of the user, so that no middleware sends it as well.
    fn take(user: &mut AuthInfo) -> Result<Self, Error> {
        if user.username.is_some() && user.password.is_some() {
            return Ok(Self::None);
        }
        let (file, token) = (user.token_file.take(), user.token.take());
        let token = token.map(|token| bearer(token.expose_secret())).transpose()?;
        let own = match (file.map(|path| TokenFile::open(path.into())), token) {
            (Some(Ok(file)), _) => Self::File(file),
            // A token beside a file is for when the file can't be read.
            (_, Some(token)) => Self::Token(token),
            (Some(Err(error)), None) => return Err(error),
            (None, None) => return Ok(Self::None),
        };
        user.exec = None;
        user.auth_provider = None;
        Ok(own)
    }
}

impl Credentials {
    /// Makes the credentials of a configuration ready. Runs the plugin where one is configured, so it may take long
    /// and is not for an async thread.
    ///
    /// # Errors
    /// [`Error::Credentials`] when a file can't be read, the plugin fails, or what they give is not usable.
    pub(super) fn open(config: &kube_client::Config) -> Result<Self, Error> {
        let mut config = config.clone();
        let own = Own::take(&mut config.auth_info)?;
        let plugin = Plugin::of(&config);
        let layer = config.auth_layer().map_err(|error| match &error {
            kube_client::Error::Auth(error) => plugin.failed(error),
            other => plugin.failed(other),
        })?;
        let by_header = layer.is_some();
        let extra = config.extra_headers_layer().map_err(|_| {
            Error::Invalid("the names to impersonate hold characters that a header can't carry".to_owned())
        })?;
        let echo = service_fn(|request: http::Request<Body>| async move {
            let mut response = http::Response::new(());
            *response.headers_mut() = request.into_parts().0.headers;
            Ok::<_, Infallible>(response)
        })
        .map_err(|never| -> BoxError { match never {} });
        let middleware = match layer {
            Some(layer) => BoxCloneSyncService::new(extra.layer(layer.layer(echo))),
            None => BoxCloneSyncService::new(extra.layer(echo)),
        };
        Ok(Self { own, plugin, middleware, by_header })
    }

    /// The headers of the next request; a token about to expire is renewed first.
    ///
    /// # Errors
    /// [`Error::Credentials`] when it can't be renewed.
    pub(super) async fn headers(&self) -> Result<HeaderMap, Error> {
        let mut request = http::Request::new(Body::empty());
        match &self.own {
            Own::None => {}
            Own::Token(header) => {
                request.headers_mut().insert(AUTHORIZATION, header.clone());
            }
            Own::File(file) => {
                request.headers_mut().insert(AUTHORIZATION, file.header(Instant::now()));
            }
        }
        let answer = self.middleware.clone().oneshot(request).await;
        Ok(answer.map_err(|error| self.plugin.failed(error.as_ref()))?.into_parts().0.headers)
    }
}

/// A file that holds a token, read again about every minute.
struct TokenFile {
    path: PathBuf,
    /// What was read and when. A std lock: held for one small read of a local file, never across an await.
    last: Mutex<(HeaderValue, Instant)>,
}

impl TokenFile {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let header = read_token(&path)?;
        Ok(Self { path, last: Mutex::new((header, Instant::now())) })
    }

    /// The file's token. One that can no longer be read keeps its last value: some take the file away on purpose.
    fn header(&self, now: Instant) -> HeaderValue {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(last.1) >= TOKEN_FILE_LIFE {
            if let Ok(header) = read_token(&self.path) {
                last.0 = header;
            }
            last.1 = now;
        }
        last.0.clone()
    }
}

fn read_token(path: &Path) -> Result<HeaderValue, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let shown = path.display().to_string();
        let why = system_words(&error);
        Error::Credentials(format!("failed to read token file {shown:?}: open {shown}: {why}"))
    })?;
    match text.trim() {
        "" => Err(Error::Credentials(format!("read empty token from file {:?}", path.display()))),
        token => bearer(token),
    }
}

/// A token as a header, marked so that nothing on the way shows it.
fn bearer(token: &str) -> Result<HeaderValue, Error> {
    let mut header = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| Error::Credentials("the token holds characters that a header can't carry".to_owned()))?;
    header.set_sensitive(true);
    Ok(header)
}

/// The plugin of a configuration, for messages about it.
#[derive(Default)]
struct Plugin {
    command: String,
    install_hint: String,
}

impl Plugin {
    fn of(config: &kube_client::Config) -> Self {
        let Some(exec) = &config.auth_info.exec else { return Self::default() };
        // The hint is text of a file that goes to a terminal.
        let plain = |char: &char| !char.is_control() || matches!(char, '\n' | '\t');
        let install_hint =
            exec.install_hint.as_deref().unwrap_or_default().trim().chars().filter(plain).collect();
        Self { command: exec.command.clone().unwrap_or_default(), install_hint }
    }

    /// What is told of a failure. Of the plugin's output only what it wrote to stderr: stdout may hold a token. Of
    /// its command line only the program: arguments and environment may.
    fn failed(&self, error: &(dyn std::error::Error + 'static)) -> Error {
        let command = &self.command;
        let why = match error.downcast_ref::<AuthError>() {
            Some(AuthError::AuthExecStart(reason)) if reason.kind() == std::io::ErrorKind::NotFound => {
                format!("exec: executable {command} not found\n{}", self.install_hint).trim_end().to_owned()
            }
            Some(AuthError::AuthExecStart(reason)) => {
                format!("exec: executable {command} can't be run: {reason}")
            }
            Some(AuthError::AuthExecRun { out, .. }) => {
                let end = out
                    .status
                    .code()
                    .map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
                let words = cut(&String::from_utf8_lossy(&out.stderr));
                let colon = if words.is_empty() { "" } else { ": " };
                format!("exec: executable {command} failed with {end}{colon}{words}")
            }
            Some(AuthError::AuthExec(why)) => why.clone(),
            Some(AuthError::AuthExecParse(_)) => {
                "exec: the plugin's output is not an ExecCredential".to_owned()
            }
            Some(AuthError::ExecPluginFailed | AuthError::UnrefreshableTokenResponse) => {
                "exec plugin didn't return a token or cert/key pair".to_owned()
            }
            Some(AuthError::InvalidBearerToken(_)) => {
                "the token holds characters that a header can't carry".to_owned()
            }
            _ => cut(&error.to_string()),
        };
        Error::Credentials(format!("getting credentials: {why}"))
    }
}

/// The beginning of somebody else's words: enough to know what is wrong, whatever a plugin or an issuer prints.
fn cut(words: &str) -> String {
    words.trim().chars().take(2000).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use kube_client::config::{ExecConfig, ExecInteractiveMode};
    use tempfile::TempDir;

    use super::*;
    use crate::api::Config;
    use crate::api::session::Session;

    fn kube(user: AuthInfo) -> kube_client::Config {
        let mut kube = Config::for_server("https://127.0.0.1:1").unwrap().kube().clone();
        kube.auth_info = user;
        kube
    }

    async fn sent(credentials: &Credentials) -> Vec<String> {
        let headers = credentials.headers().await.unwrap();
        assert!(headers.get(AUTHORIZATION).is_none_or(HeaderValue::is_sensitive));
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    #[tokio::test]
    async fn a_token_file_is_trimmed_and_read_again_after_a_while() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "one\n").unwrap();
        let user = AuthInfo { token_file: Some(path.to_str().unwrap().into()), ..Default::default() };
        assert_eq!(sent(&Credentials::open(&kube(user)).unwrap()).await, ["authorization: Bearer one"]);
        let file = TokenFile::open(path.clone()).unwrap();
        let start = Instant::now();
        fs::write(&path, "two\n").unwrap();
        assert_eq!(file.header(start + TOKEN_FILE_LIFE / 2), "Bearer one");
        assert_eq!(file.header(start + TOKEN_FILE_LIFE * 2), "Bearer two");
        fs::remove_file(&path).unwrap();
        assert_eq!(
            file.header(start + TOKEN_FILE_LIFE * 4),
            "Bearer two",
            "a file that went keeps its last token"
        );
        assert!(TokenFile::open(path).is_err());
    }

    #[tokio::test]
    async fn whom_to_act_as_goes_with_every_request() {
        let user = AuthInfo {
            username: Some("n".into()),
            password: Some("p".to_owned().into()),
            impersonate: Some("jane".into()),
            impersonate_groups: Some(vec!["a".into(), "b".into()]),
            ..Default::default()
        };
        let mut headers = sent(&Credentials::open(&kube(user)).unwrap()).await;
        headers.sort();
        let expected = [
            "authorization: Basic bjpw",
            "impersonate-group: a",
            "impersonate-group: b",
            "impersonate-user: jane",
        ];
        assert_eq!(headers, expected);
    }

    #[test]
    fn a_token_that_no_header_carries_is_refused_without_showing_it() {
        let user = AuthInfo { token: Some("s3cret\nx".to_owned().into()), ..Default::default() };
        let error = Credentials::open(&kube(user)).err().unwrap();
        assert!(matches!(error, Error::Credentials(_)) && !error.to_string().contains("s3cret"), "{error}");
    }

    /// A plugin that counts its runs in a file beside it and says this.
    fn plugin(folder: &TempDir, says: &str, code: u8) -> AuthInfo {
        let path = folder.path().join("plugin");
        let runs = folder.path().join("runs");
        fs::write(
            &path,
            format!("echo run >> {}\necho '{says}'\necho 'no luck' >&2\nexit {code}\n", runs.display()),
        )
        .unwrap();
        let exec = ExecConfig {
            api_version: Some("client.authentication.k8s.io/v1".into()),
            // Through a shell: a file just written can't be run while another test's fork still holds it open.
            command: Some("sh".into()),
            args: Some(vec![path.to_str().unwrap().into()]),
            interactive_mode: Some(ExecInteractiveMode::Never),
            ..Default::default()
        };
        AuthInfo { exec: Some(exec), ..Default::default() }
    }

    fn runs(folder: &TempDir) -> usize {
        fs::read_to_string(folder.path().join("runs")).unwrap_or_default().lines().count()
    }

    fn credential(token: &str, expires: &str) -> String {
        format!(
            r#"{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"{token}","expirationTimestamp":"{expires}"}}}}"#
        )
    }

    #[tokio::test]
    async fn a_plugin_is_run_once_for_headers_and_tls_and_again_when_its_token_is_about_to_expire() {
        let folder = TempDir::new().unwrap();
        let mut config = Config::for_server("https://127.0.0.1:1").unwrap();
        config.kube_mut().auth_info = plugin(&folder, &credential("t", "2999-01-01T00:00:00Z"), 0);
        let session = Session::open(&config, 0).unwrap();
        assert_eq!(sent(&session.credentials).await, ["authorization: Bearer t"]);
        assert_eq!(runs(&folder), 1);
        config.kube_mut().auth_info = plugin(&folder, &credential("t", "2001-01-01T00:00:00Z"), 0);
        let session = Session::open(&config, 0).unwrap();
        assert_eq!(runs(&folder), 2);
        sent(&session.credentials).await;
        assert_eq!(runs(&folder), 3);
    }

    #[test]
    fn a_plugin_that_fails_is_told_by_its_exit_code_and_its_stderr_only() {
        let folder = TempDir::new().unwrap();
        let error = Credentials::open(&kube(plugin(&folder, "s3cret", 3))).err().unwrap().to_string();
        assert_eq!(error, "getting credentials: exec: executable sh failed with exit code 3: no luck");
        let error = Credentials::open(&kube(plugin(&folder, "s3cret", 0))).err().unwrap().to_string();
        assert_eq!(error, "getting credentials: exec: the plugin's output is not an ExecCredential");
        let mut missing = plugin(&folder, "", 0);
        let exec = missing.exec.as_mut().unwrap();
        exec.command = Some("kdelta-no-such-plugin".into());
        exec.install_hint = Some("\u{1b}[1mget it".into());
        let error = Credentials::open(&kube(missing)).err().unwrap().to_string();
        assert_eq!(error, "getting credentials: exec: executable kdelta-no-such-plugin not found\n[1mget it");
    }
}
