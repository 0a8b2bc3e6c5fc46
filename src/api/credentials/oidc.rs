//! `OpenID` Connect (`auth-provider` of name `oidc`): the token of the kubeconfig while it is good, then a new one from its
//! issuer.
//!
//! As client-go does it, except that new tokens are not written back to the kubeconfig file, and that a token that the
//! server refuses is renewed as well. `extra-scopes` has no meaning when a token is refreshed.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::request::Builder;
use http::{Request, StatusCode};
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::Deserialize;
use tower::BoxError;
use url::Url;

use super::renewing::{Issued, Issuer};
use super::{basic, bearer, cut, id_token};
use crate::api::config::Config;
use crate::api::error::Error;
use crate::api::failure::{sentence, system_words};
use crate::api::secret::Secret;
use crate::api::tls;
use crate::api::transport::Transport;

/// An answer of an issuer is some kilobytes.
const ANSWER_LIMIT: usize = 1024 * 1024;
/// How long an issuer may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An issuer and what it takes to be known by it.
pub(super) struct Oidc {
    issuer: Url,
    client_id: String,
    client_secret: Secret,
    /// The kubeconfig's token, until it is used up.
    id_token: Option<Secret>,
    /// The last one that the issuer gave, or the kubeconfig's.
    refresh_token: Option<Secret>,
    http: Transport,
}

#[derive(Deserialize)]
struct Metadata {
    token_endpoint: Option<String>,
}

/// What the token endpoint answers. Without `Debug`: it is a credential.
#[derive(Deserialize, Default)]
struct Answer {
    id_token: Option<String>,
    refresh_token: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

impl Oidc {
    /// Reads the settings of a kubeconfig; connects to nothing.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] naming what is missing or can't be used.
    pub(super) fn of(settings: &HashMap<String, String>, config: &Config) -> Result<Self, Error> {
        let given = |name: &str| settings.get(name).filter(|text| !text.is_empty());
        let must = |name: &str| given(name).ok_or_else(|| Error::Credentials(format!("Must provide {name}")));
        let url = must("idp-issuer-url")?;
        let client_id = must("client-id")?.clone();
        let secret = |name: &str| given(name).cloned().map(Secret::from);
        let issuer = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "https" | "http"));
        let issuer = issuer.ok_or_else(|| Error::Credentials("idp-issuer-url is not a URL".to_owned()))?;
        let http = transport(&issuer, authorities(settings)?, config)?;
        Ok(Self {
            issuer,
            client_id,
            client_secret: secret("client-secret").unwrap_or_else(|| Secret::new("")),
            id_token: secret("id-token"),
            refresh_token: secret("refresh-token"),
            http,
        })
    }

    /// Asks the issuer for a new token.
    async fn refresh(&mut self, refresh_token: &Secret) -> Result<String, String> {
        let endpoint = self.token_endpoint().await?;
        let in_header = !self.client_secret.expose().is_empty();
        let mut answer = self.ask(&endpoint, refresh_token, in_header).await?;
        // Some issuers want the client's secret in the body instead, and say only that they don't know the client.
        if in_header && answer.error.as_deref().is_some_and(|error| error != "invalid_grant") {
            answer = self.ask(&endpoint, refresh_token, false).await?;
        }
        if let Some(error) = &answer.error {
            let why = answer.error_description.as_deref().unwrap_or_default();
            return Err(format!("failed to refresh token: oauth2: {:?} {:?}", cut(error), cut(why)));
        }
        let id_token = answer.id_token.filter(|token| !token.is_empty()).ok_or(
            "token response did not contain an id_token, either the scope \"openid\" wasn't requested upon login, \
             or the provider doesn't support id_tokens as part of the refresh response",
        )?;
        if let Some(next) = answer.refresh_token.filter(|token| !token.is_empty()) {
            self.refresh_token = Some(next.into());
        }
        Ok(id_token)
    }

    async fn token_endpoint(&self) -> Result<Url, String> {
        let well_known =
            format!("{}/.well-known/openid-configuration", self.issuer.as_str().trim_end_matches('/'));
        let (status, body) = self.send(Request::get(well_known), String::new()).await?;
        if !status.is_success() {
            return Err(format!("oidc: failed to query metadata endpoint {status}"));
        }
        let metadata: Metadata = serde_json::from_slice(&body)
            .map_err(|_| "oidc: failed to decode provider discovery object".to_owned())?;
        let endpoint =
            metadata.token_endpoint.ok_or("oidc: discovery object doesn't contain a token_endpoint")?;
        // A secret that is safe on its way to the issuer stays so.
        let is_safe = |url: &Url| url.scheme() == "https" || url.scheme() == self.issuer.scheme();
        let endpoint = Url::parse(&endpoint).ok().filter(is_safe);
        endpoint.ok_or_else(|| "oidc: the issuer's token_endpoint is not a https URL".to_owned())
    }

    /// One refresh, with the client's id and secret in the header or in the body (RFC 6749, 2.3.1).
    async fn ask(&self, endpoint: &Url, refresh_token: &Secret, in_header: bool) -> Result<Answer, String> {
        let (head, form) = self.refreshing(endpoint, refresh_token, in_header)?;
        let (status, body) = self.send(head, form).await?;
        let answer: Option<Answer> = serde_json::from_slice(&body).ok();
        match answer {
            Some(answer) if status.is_success() || answer.error.is_some() => Ok(answer),
            _ if status.is_success() => {
                Err("failed to refresh token: the issuer's answer is not JSON".to_owned())
            }
            _ => Ok(Answer { error: Some(status.to_string()), ..Answer::default() }),
        }
    }

    fn refreshing(
        &self,
        endpoint: &Url,
        refresh_token: &Secret,
        in_header: bool,
    ) -> Result<(Builder, String), String> {
        let (id, secret) = (&self.client_id, self.client_secret.expose());
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "refresh_token").append_pair("refresh_token", refresh_token.expose());
        let mut head = Request::post(endpoint.as_str());
        if in_header {
            let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let header = basic::header(&encoded(id), &encoded(secret)).map_err(|error| error.to_string())?;
            head = head.header(AUTHORIZATION, header);
        } else {
            form.append_pair("client_id", id);
            if !secret.is_empty() {
                form.append_pair("client_secret", secret);
            }
        }
        Ok((head.header(CONTENT_TYPE, "application/x-www-form-urlencoded"), form.finish()))
    }

    /// Redirections are not followed: one would take the refresh token elsewhere.
    async fn send(&self, head: Builder, body: String) -> Result<(StatusCode, Vec<u8>), String> {
        let failed = |error: BoxError| {
            let host = self.issuer.host_str().unwrap_or_default();
            format!("oidc: the issuer {host} does not answer: {}", sentence(error.as_ref()))
        };
        let request = head.header(ACCEPT, "application/json").body(Bytes::from(body));
        let request = request.map_err(|error| failed(error.into()))?;
        let mut answer = self.http.send(request, Some(PATIENCE)).await.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > ANSWER_LIMIT {
                return Err("oidc: the issuer's answer is too long".to_owned());
            }
            body.extend_from_slice(&chunk);
        }
        Ok((answer.head.status, body))
    }
}

impl Issuer for Oidc {
    async fn issue(&mut self, refused: bool, now: Timestamp) -> Result<Option<Issued>, Error> {
        if let Some(token) = self.id_token.take().filter(|_| !refused) {
            let expires = id_token::expiry(token.expose()).map_err(Error::Credentials)?;
            if now < expires {
                let authorization = Some(bearer(token.expose())?);
                return Ok(Some(Issued { authorization, expires: Some(expires), ..Issued::default() }));
            }
        }
        let Some(refresh_token) = self.refresh_token.clone() else {
            if refused {
                return Ok(None);
            }
            let why = "No valid id-token, and cannot refresh without refresh-token";
            return Err(Error::Credentials(why.to_owned()));
        };
        let token = self.refresh(&refresh_token).await.map_err(Error::Credentials)?;
        let expires = Some(id_token::expiry(&token).map_err(Error::Credentials)?);
        Ok(Some(Issued { authorization: Some(bearer(&token)?), expires, ..Issued::default() }))
    }
}

/// The authorities that the issuer's certificate is checked against; `None` is the system's.
fn authorities(settings: &HashMap<String, String>) -> Result<Option<Vec<Vec<u8>>>, Error> {
    const NAME: &str = "idp-certificate-authority";
    let given = |name: &str| settings.get(name).filter(|text| !text.is_empty());
    let invalid = |why: String| Error::Invalid(format!("{NAME}: {why}"));
    let pem = if let Some(data) = given(&format!("{NAME}-data")) {
        STANDARD.decode(data).map_err(|_| invalid("illegal base64 data".to_owned()))?
    } else if let Some(path) = given(NAME) {
        std::fs::read(path).map_err(|error| invalid(format!("open {path}: {}", system_words(&error))))?
    } else {
        return Ok(None);
    };
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let read = read.map_err(|_| invalid("unable to parse bytes as PEM block".to_owned()))?;
    if read.is_empty() {
        return Err(invalid("unable to parse bytes as PEM block".to_owned()));
    }
    Ok(Some(read.into_iter().map(|certificate| certificate.to_vec()).collect()))
}

fn transport(issuer: &Url, root_cert: Option<Vec<Vec<u8>>>, config: &Config) -> Result<Transport, Error> {
    let uri = issuer.as_str().parse();
    let uri = uri.map_err(|_| Error::Credentials("idp-issuer-url is not a URL".to_owned()))?;
    let mut trust = kube_client::Config::new(uri);
    trust.root_cert = root_cert;
    Ok(Transport::new(&config.way_to(issuer)?, tls::client_config(&trust)?, true))
}
