//! Authentication of requests: credentials, their renewal, and impersonation.
//!
//! Each request carries a [`RequestAuth`]. One from a file, a plugin or an issuer is renewed shortly before it
//! expires, and once more when the server refuses it: of many requests refused together one renews it, and the others
//! wait. Clients of one process with the same plugin or issuer share its credentials.

mod basic;
mod bearer;
mod certificate;
mod excerpt;
mod impersonation;
mod oidc;
mod plugin;
pub(crate) mod progress;
mod refresh;
mod renewal_backoff;
mod request_auth;
mod shared;
#[cfg(test)]
mod tests;
mod token_file;
mod version_one;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};

pub use self::plugin::CredentialPlugins;

use self::certificate::Certificate;
use self::oidc::{ISSUERS, Oidc};
use self::plugin::{PLUGINS, Plugin};
use self::refresh::RefreshingCredential;
use self::renewal_backoff::AcceptanceHistory;
pub(crate) use self::request_auth::RequestAuth;
use self::token_file::TokenFile;
use super::notice::NoticeListener;
use crate::kubeconfig::Config;
use crate::kubeconfig::Error;

/// The credentials of one configuration.
pub(crate) struct Credentials {
    source: Source,
    /// The server's acceptance of the source's credentials.
    acceptance: AcceptanceHistory,
    /// The client certificate of the configuration itself.
    certificate: Option<Certificate>,
    /// The impersonation headers.
    impersonation: HeaderMap,
    /// Receives the notices of a plugin.
    listener: Option<NoticeListener>,
}

/// The source of credentials.
enum Source {
    Fixed(Option<HeaderValue>),
    File(TokenFile),
    Plugin(Arc<RefreshingCredential<Plugin>>),
    Oidc(Arc<RefreshingCredential<Oidc>>),
}

impl Credentials {
    /// Prepares the credentials of a configuration. Reads files; runs no program and opens no connection. The
    /// listener receives a plugin's standard error; without a listener it is part of the error when the plugin fails.
    /// Runs of a plugin are registered in `plugins`.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] for unreadable or unusable settings.
    pub(crate) fn open(
        config: &Config,
        listener: Option<NoticeListener>,
        plugins: CredentialPlugins,
    ) -> Result<Self, Error> {
        Ok(Self {
            source: Source::of(config, plugins)?,
            acceptance: AcceptanceHistory::default(),
            certificate: Certificate::of(config.user(), Instant::now())?,
            impersonation: impersonation::headers(config.user())?,
            listener,
        })
    }

    /// Returns whether a plugin or an issuer provides the credentials, which may take long.
    pub(crate) fn are_external(&self) -> bool {
        matches!(self.source, Source::Plugin(_) | Source::Oidc(_))
    }

    /// Returns the credentials of the next request; credentials that are about to expire are renewed first.
    ///
    /// # Errors
    /// [`Error::Credentials`] when they can't be obtained.
    pub(crate) async fn current(&self) -> Result<RequestAuth, Error> {
        let now = Instant::now();
        let auth = match &self.source {
            Source::Fixed(header) => RequestAuth { authorization: header.clone(), ..RequestAuth::default() },
            Source::File(file) => {
                RequestAuth { authorization: Some(file.header(now)), ..RequestAuth::default() }
            }
            Source::Plugin(plugin) => plugin.current(self.listener.as_ref()).await?,
            Source::Oidc(oidc) => oidc.current(self.listener.as_ref()).await?,
        };
        Ok(match &self.certificate {
            Some(certificate) => RequestAuth { identity: Some(certificate.identity(now)), ..auth },
            None => auth,
        })
    }

    /// Returns credentials to use instead of refused ones; `None` if there are no others.
    ///
    /// # Errors
    /// As [`Credentials::current`].
    pub(crate) async fn replacement_for(&self, refused: &RequestAuth) -> Result<Option<RequestAuth>, Error> {
        let now = Instant::now();
        let fresh_certificate =
            self.certificate.as_ref().and_then(|own| own.replacement_for(refused.identity(), now));
        let (acceptance, listener) = (&self.acceptance, self.listener.as_ref());
        let fresh = match &self.source {
            Source::Fixed(_) => None,
            Source::File(file) => file
                .replacement_for(refused.authorization.as_ref(), now)
                .map(|header| RequestAuth { authorization: Some(header), ..refused.clone() }),
            Source::Plugin(plugin) => plugin.replacement_for(refused.number, acceptance, listener).await?,
            Source::Oidc(oidc) => oidc.replacement_for(refused.number, acceptance, listener).await?,
        };
        if fresh.is_none() && fresh_certificate.is_none() {
            return Ok(None);
        }
        let auth = fresh.unwrap_or_else(|| refused.clone());
        let identity = fresh_certificate.or_else(|| match self.certificate {
            Some(_) => refused.identity.clone(),
            None => auth.identity.clone(),
        });
        Ok(Some(RequestAuth { identity, ..auth }))
    }

    /// Records that the server accepted the credentials.
    pub(crate) fn accepted(&self, auth: &RequestAuth) {
        self.acceptance.accepted(auth.number);
    }

    /// Returns the headers of a request with these credentials.
    pub(crate) fn headers(&self, auth: &RequestAuth) -> HeaderMap {
        let mut headers = self.impersonation.clone();
        if let Some(header) = &auth.authorization {
            headers.insert(AUTHORIZATION, header.clone());
        }
        headers
    }
}

impl Source {
    /// Selects the source: direct credentials precede an issuer, which precedes a plugin. The configuration has left
    /// at most one of the last two.
    fn of(config: &Config, plugins: CredentialPlugins) -> Result<Self, Error> {
        let user = config.user();
        if let (Some(name), Some(password)) = (&user.username, &user.password) {
            return Ok(Self::Fixed(Some(basic::header(name, password.expose())?)));
        }
        let token = user.token.as_ref().map(|token| bearer::header(token.expose())).transpose()?;
        if let Some(path) = &user.token_file {
            return Ok(Self::File(TokenFile::open(PathBuf::from(path), token, Instant::now())?));
        }
        if token.is_some() {
            return Ok(Self::Fixed(token));
        }
        if let Some(provider) = &user.auth_provider {
            let oidc = Oidc::of(&provider.config, config)?;
            return Ok(Self::Oidc(ISSUERS.share(oidc.sharing_key(), oidc)));
        }
        let Some(exec) = &user.exec else { return Ok(Self::Fixed(None)) };
        let plugin = Plugin::of(exec, config, plugins);
        Ok(Self::Plugin(PLUGINS.share(plugin.sharing_key(), plugin)))
    }
}
