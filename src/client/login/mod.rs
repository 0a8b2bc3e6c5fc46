//! Who we say we are: what proves it to the server, and whom to act as.
//!
//! Each request shows a [`Proof`]. Where it comes from a file, a plugin or an issuer it is renewed shortly before it
//! expires, and once more when the server refuses it: of many requests refused together one renews, the others wait for
//! it. Of what a plugin or an issuer makes, clients of one process that would have the same made share it.

mod basic;
mod certificate;
mod impersonation;
mod oidc;
mod plugin;
pub(crate) mod progress;
mod refresh;
mod renewal_backoff;
mod shared;
#[cfg(test)]
mod tests;
mod token_file;
mod version_one;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use rustls::sign::CertifiedKey;

pub use self::plugin::{a_plugin_runs, end_plugins, kill_plugins};

use self::certificate::Certificate;
use self::oidc::{ISSUERS, Oidc};
use self::plugin::{PLUGINS, Plugin};
use self::refresh::Renewing;
use self::renewal_backoff::Standing;
use self::token_file::TokenFile;
use super::notice::Listener;
use crate::kubeconfig::Config;
use crate::kubeconfig::Error;

/// How long the content of a file is used: the kubelet renews a token well before it expires.
const FILE_LIFE: Duration = Duration::from_secs(50);

/// The credentials of one configuration.
pub(crate) struct Credentials {
    source: Source,
    /// What our own server makes of what the source gives.
    standing: Standing,
    /// The client certificate that the configuration itself names.
    certificate: Option<Certificate>,
    /// Whom to act as.
    impersonation: HeaderMap,
    /// Who hears what a plugin says.
    listener: Option<Listener>,
}

/// Where a proof comes from.
enum Source {
    Fixed(Option<HeaderValue>),
    File(TokenFile),
    Plugin(Arc<Renewing<Plugin>>),
    Oidc(Arc<Renewing<Oidc>>),
}

/// What one request shows. Neither `Debug` nor anything else shows what it holds.
#[derive(Clone, Default)]
pub(crate) struct Proof {
    authorization: Option<HeaderValue>,
    identity: Option<Arc<CertifiedKey>>,
    /// Which one of its issuer's it is.
    number: u64,
}

impl Proof {
    /// The client certificate to show; the same one is the same `Arc`.
    pub(crate) fn identity(&self) -> Option<&Arc<CertifiedKey>> {
        self.identity.as_ref()
    }
}

impl Credentials {
    /// Makes the credentials of a configuration ready: reads files; runs nothing and connects to nothing yet. What a
    /// plugin says goes to the listener; without one it is part of the error when the plugin fails.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] for what can't be read or can't be used.
    pub(crate) fn open(config: &Config, listener: Option<Listener>) -> Result<Self, Error> {
        Ok(Self {
            source: Source::of(config)?,
            standing: Standing::default(),
            certificate: Certificate::of(config.user(), Instant::now())?,
            impersonation: impersonation::headers(config.user())?,
            listener,
        })
    }

    /// Whether somebody else makes them, which may take long.
    pub(crate) fn are_made_elsewhere(&self) -> bool {
        matches!(self.source, Source::Plugin(_) | Source::Oidc(_))
    }

    /// What the next request shows; what is about to expire is renewed first.
    ///
    /// # Errors
    /// [`Error::Credentials`] when it can't be had.
    pub(crate) async fn proof(&self) -> Result<Proof, Error> {
        let now = Instant::now();
        let proof = match &self.source {
            Source::Fixed(header) => Proof { authorization: header.clone(), ..Proof::default() },
            Source::File(file) => Proof { authorization: Some(file.header(now)), ..Proof::default() },
            Source::Plugin(plugin) => plugin.current(self.listener.as_ref()).await?,
            Source::Oidc(oidc) => oidc.current(self.listener.as_ref()).await?,
        };
        Ok(match &self.certificate {
            Some(certificate) => Proof { identity: Some(certificate.identity(now)), ..proof },
            None => proof,
        })
    }

    /// What to show instead of a proof that the server refused; nothing when there is no other one.
    ///
    /// # Errors
    /// As [`Credentials::proof`].
    pub(crate) async fn instead_of(&self, refused: &Proof) -> Result<Option<Proof>, Error> {
        let now = Instant::now();
        let fresh_certificate =
            self.certificate.as_ref().and_then(|own| own.instead_of(refused.identity(), now));
        let (standing, listener) = (&self.standing, self.listener.as_ref());
        let fresh = match &self.source {
            Source::Fixed(_) => None,
            Source::File(file) => file
                .instead_of(refused.authorization.as_ref(), now)
                .map(|header| Proof { authorization: Some(header), ..refused.clone() }),
            Source::Plugin(plugin) => plugin.instead_of(refused.number, standing, listener).await?,
            Source::Oidc(oidc) => oidc.instead_of(refused.number, standing, listener).await?,
        };
        if fresh.is_none() && fresh_certificate.is_none() {
            return Ok(None);
        }
        let proof = fresh.unwrap_or_else(|| refused.clone());
        let identity = fresh_certificate.or_else(|| match self.certificate {
            Some(_) => refused.identity.clone(),
            None => proof.identity.clone(),
        });
        Ok(Some(Proof { identity, ..proof }))
    }

    /// The server took this proof.
    pub(crate) fn accepted(&self, proof: &Proof) {
        self.standing.accepted(proof.number);
    }

    /// The headers of a request that shows this proof.
    pub(crate) fn headers(&self, proof: &Proof) -> HeaderMap {
        let mut headers = self.impersonation.clone();
        if let Some(header) = &proof.authorization {
            headers.insert(AUTHORIZATION, header.clone());
        }
        headers
    }
}

impl Source {
    /// What is given directly stands before an issuer, that before a plugin; the configuration has left one of the last.
    fn of(config: &Config) -> Result<Self, Error> {
        let user = config.user();
        if let (Some(name), Some(password)) = (&user.username, &user.password) {
            return Ok(Self::Fixed(Some(basic::header(name, password.expose())?)));
        }
        let token = user.token.as_ref().map(|token| bearer(token.expose())).transpose()?;
        if let Some(path) = &user.token_file {
            return Ok(Self::File(TokenFile::open(PathBuf::from(path), token, Instant::now())?));
        }
        if token.is_some() {
            return Ok(Self::Fixed(token));
        }
        if let Some(provider) = &user.auth_provider {
            let oidc = Oidc::of(&provider.config, config)?;
            return Ok(Self::Oidc(ISSUERS.share(oidc.made_of(), oidc)));
        }
        let Some(exec) = &user.exec else { return Ok(Self::Fixed(None)) };
        let plugin = Plugin::of(exec, config);
        Ok(Self::Plugin(PLUGINS.share(plugin.made_of(), plugin)))
    }
}

/// A token as a header, marked so that nothing on the way shows it.
fn bearer(token: &str) -> Result<HeaderValue, Error> {
    let mut header = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| Error::Credentials("the token holds characters that a header can't carry".to_owned()))?;
    header.set_sensitive(true);
    Ok(header)
}

/// The beginning of somebody else's words: enough to know what is wrong, whatever a plugin or an issuer prints.
fn cut(words: &str) -> String {
    words.trim().chars().take(2000).collect()
}
