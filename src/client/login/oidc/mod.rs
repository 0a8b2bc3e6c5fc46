//! `OpenID` Connect (`auth-provider` of name `oidc`): the token of the kubeconfig until it expires, then a new one
//! from the issuer.
//!
//! As in client-go, new tokens are written into the kubeconfig for the next program. In addition, a token that the
//! server refuses is renewed, tokens that another program has written into the kubeconfig are used before a refresh
//! token is spent, and a kubeconfig that can't be written is reported without failing the request. `extra-scopes` has
//! no effect on a refresh.

mod id_token;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::request::Builder;
use http::{Request, StatusCode};
use jiff::Timestamp;
use serde::Deserialize;
use tower::BoxError;
use url::Url;

use super::excerpt::cut;
use super::refresh::{IssuedCredential, Issuer, RefreshRequest};
use super::shared::Registry;
use super::{basic, bearer};
use crate::client::connection::Transport;
use crate::client::connection::tls;
use crate::client::failure::sentence;
use crate::client::notice::Notice;
use crate::client::redaction::Redaction;
use crate::client::request_log::RequestLog;
use crate::kubeconfig::Error;
use crate::kubeconfig::Secret;
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};
use crate::kubeconfig::{Config, ConnectionOptions, Trust, certificates};
use crate::listwatch::system_words;

/// An issuer's response has a few kilobytes.
const RESPONSE_LIMIT: usize = 1024 * 1024;
/// The time limit for one response of an issuer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The issuers of this process: contexts with one user share one login, and no refresh token is spent twice.
pub(super) static ISSUERS: Registry<Oidc> = Registry::new();

/// An issuer and the credentials of its client.
pub(super) struct Oidc {
    issuer: Url,
    client_id: String,
    client_secret: Secret,
    /// The kubeconfig's token, until it is used up.
    id_token: Option<Secret>,
    /// The last one that the issuer sent, or the kubeconfig's.
    refresh_token: Option<Secret>,
    /// The tokens in the kubeconfig when it was last read: another id-token there is from another program, and
    /// another refresh token here is still to be saved.
    saved_id_token: Option<Secret>,
    saved_refresh_token: Option<Secret>,
    /// Whether the failure to write the kubeconfig was reported.
    is_failure_reported: bool,
    /// The authorities that the issuer's certificate is verified against.
    trust: Trust,
    config: Config,
    /// The credentials that the issuer may repeat.
    redaction: Redaction,
    /// Created for the first refresh: while the token is valid, missing settings do no harm.
    http: Option<Transport>,
}

#[derive(Deserialize)]
struct Metadata {
    token_endpoint: Option<String>,
}

/// A response of the token endpoint. It has no `Debug`, since it holds credentials.
#[derive(Deserialize, Default)]
struct TokenResponse {
    id_token: Option<String>,
    refresh_token: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

impl Oidc {
    /// Reads the settings of a kubeconfig; opens no connection.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] naming the missing or unusable setting.
    pub(super) fn of(settings: &BTreeMap<String, String>, config: &Config) -> Result<Self, Error> {
        let given = |name: &str| settings.get(name).filter(|text| !text.is_empty());
        let must = |name: &str| given(name).ok_or_else(|| Error::Credentials(format!("Must provide {name}")));
        let url = must("idp-issuer-url")?;
        let client_id = must("client-id")?.clone();
        let redaction = Redaction::default();
        let secret = |name: &str| given(name).map(|text| masked(&redaction, text.clone()));
        let issuer = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "https" | "http"));
        let issuer = issuer.ok_or_else(|| Error::Credentials("idp-issuer-url is not a URL".to_owned()))?;
        Ok(Self {
            issuer,
            client_id,
            client_secret: secret("client-secret").unwrap_or_else(|| Secret::new("")),
            id_token: secret("id-token"),
            refresh_token: secret("refresh-token"),
            saved_id_token: secret("id-token"),
            saved_refresh_token: secret("refresh-token"),
            is_failure_reported: false,
            trust: trust(settings)?,
            config: config.clone(),
            redaction: redaction.clone(),
            http: None,
        })
    }

    /// Returns a text of all settings that affect the login. It contains credentials.
    pub(super) fn sharing_key(&self) -> String {
        let exposed = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
        let known_by = (&self.client_id, self.client_secret.expose(), &self.trust);
        let tokens = (exposed(&self.id_token), exposed(&self.refresh_token));
        let (options, spares) =
            (self.config.connection_options_to(&self.issuer).ok(), self.config.spares_refresh_tokens());
        format!(
            "{} {known_by:?} {tokens:?} {options:?} {spares} {:?}",
            self.issuer,
            self.config.token_store()
        )
    }

    /// Returns the token of the kubeconfig if another program has written a new one there.
    fn newer_saved_token(&mut self) -> Option<Secret> {
        let settings = self.config.token_store()?.settings()?;
        let given = |name: &str| {
            let text = settings.get(name).filter(|text| !text.is_empty())?;
            Some(masked(&self.redaction, text.clone()))
        };
        let found = given("id-token").filter(|found| Some(found) != self.saved_id_token.as_ref())?;
        if !is_named(&settings, &self.issuer, &self.client_id) {
            return None;
        }
        self.saved_id_token = Some(found.clone());
        self.saved_refresh_token = given("refresh-token");
        self.refresh_token = self.saved_refresh_token.clone().or(self.refresh_token.take());
        Some(found)
    }

    /// Saves a new id-token, and a changed refresh token, in the kubeconfig. A failed save is retried with the next
    /// one.
    async fn save_tokens(&mut self, id_token: Option<&str>, why: RefreshRequest<'_>) {
        let Some(token_store) = self.config.token_store().cloned() else { return };
        let other =
            self.refresh_token.clone().filter(|token| Some(token) != self.saved_refresh_token.as_ref());
        let new = [("id-token", id_token.map(Secret::new)), ("refresh-token", other.clone())];
        let new: Vec<_> = new.into_iter().filter_map(|(name, token)| Some((name, token?))).collect();
        if new.is_empty() {
            return;
        }
        let (issuer, client_id, store) = (self.issuer.clone(), self.client_id.clone(), token_store.clone());
        // In a blocking thread, since it may wait for other programs and for the disk; it continues when the login is
        // dropped.
        let written = tokio::task::spawn_blocking(move || {
            let tokens: Vec<_> = new.iter().map(|(name, token)| (*name, token.expose())).collect();
            store.save(&tokens, |found| is_named(found, &issuer, &client_id))
        });
        match written.await.unwrap_or_else(|_| Err("it was given up".to_owned())) {
            Ok(()) => {
                self.saved_id_token = id_token.map(Secret::new).or(self.saved_id_token.take());
                self.saved_refresh_token = other.or(self.saved_refresh_token.take());
            }
            Err(reason) if !self.is_failure_reported => {
                self.is_failure_reported = true;
                let next = if other.is_some() { "; other programs will have to log in again" } else { "" };
                let (user, file) = (&token_store.user, token_store.file.display());
                let text = format!("the new tokens of user {user:?} can't be kept in {file}: {reason}{next}");
                why.tell(Notice::TokensNotSaved(&text));
            }
            Err(_) => {}
        }
    }

    /// Requests a new token from the issuer. A new refresh token is kept whatever else the response lacks: the old
    /// one may be spent.
    async fn refresh(&mut self, refresh_token: &Secret) -> Result<String, String> {
        if self.http.is_none() {
            let log = RequestLog::of_issuer(self.redaction.clone());
            let made = transport(&self.issuer, &self.trust, &self.config, log);
            self.http = Some(made.map_err(|error| format!("oidc: {error}"))?);
            if let Some(proxy) =
                self.config.connection_options_to(&self.issuer).ok().and_then(|options| options.proxy)
            {
                self.redaction.add_proxy(&proxy);
            }
        }
        let endpoint = self.token_endpoint().await?;
        let in_header = !self.client_secret.expose().is_empty();
        let mut response = self.request_token(&endpoint, refresh_token, in_header).await?;
        // Some issuers expect the client's secret in the body, and only report an unknown client.
        if in_header && response.error.as_deref().is_some_and(|error| error != "invalid_grant") {
            response = self.request_token(&endpoint, refresh_token, false).await?;
        }
        if let Some(error) = &response.error {
            let why = response.error_description.as_deref().unwrap_or_default();
            // Masked before the texts are cut: the beginning of a credential would not be recognized.
            let [error, why] = [error, why].map(|text| cut(&self.redaction.apply(text)));
            return Err(format!("failed to refresh token: oauth2: {error:?} {why:?}"));
        }
        let next = response.refresh_token.filter(|token| !token.is_empty());
        let next = next.map(|token| masked(&self.redaction, token));
        self.refresh_token = next.or(self.refresh_token.take());
        response.id_token.filter(|token| !token.is_empty()).ok_or_else(|| {
            "token response did not contain an id_token, either the scope \"openid\" wasn't requested upon login, \
             or the provider doesn't support id_tokens as part of the refresh response"
                .to_owned()
        })
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
        // A secret must not be sent over a less secure connection than the issuer's.
        let is_safe = |url: &Url| url.scheme() == "https" || url.scheme() == self.issuer.scheme();
        let endpoint = Url::parse(&endpoint).ok().filter(is_safe);
        endpoint.ok_or_else(|| "oidc: the issuer's token_endpoint is not a https URL".to_owned())
    }

    /// Sends one refresh request, with the client's id and secret in the header or in the body (RFC 6749, 2.3.1).
    async fn request_token(
        &self,
        endpoint: &Url,
        refresh_token: &Secret,
        in_header: bool,
    ) -> Result<TokenResponse, String> {
        let (head, form) = self.refreshing(endpoint, refresh_token, in_header)?;
        let (status, body) = self.send(head, form).await?;
        let response: Option<TokenResponse> = serde_json::from_slice(&body).ok();
        match response {
            Some(response) if status.is_success() || response.error.is_some() => Ok(response),
            _ if status.is_success() => {
                Err("failed to refresh token: the issuer's response is not JSON".to_owned())
            }
            _ => Ok(TokenResponse { error: Some(status.to_string()), ..TokenResponse::default() }),
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
            self.redaction.add_header(&header);
            head = head.header(AUTHORIZATION, header);
        } else {
            form.append_pair("client_id", id);
            if !secret.is_empty() {
                form.append_pair("client_secret", secret);
            }
        }
        Ok((head.header(CONTENT_TYPE, "application/x-www-form-urlencoded"), form.finish()))
    }

    /// Does not follow redirects, which would send the refresh token to another server.
    async fn send(&self, head: Builder, body: String) -> Result<(StatusCode, Vec<u8>), String> {
        let failed = |error: BoxError| {
            let host = self.issuer.host_str().unwrap_or_default();
            format!("oidc: the issuer {host} does not respond: {}", sentence(error.as_ref()))
        };
        let request = head.header(ACCEPT, "application/json").body(Bytes::from(body));
        let request = request.map_err(|error| failed(error.into()))?;
        let Some(http) = &self.http else { return Err("oidc: there are no connections yet".to_owned()) };
        let mut response = http.send(request, Some(TIMEOUT)).await.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > RESPONSE_LIMIT {
                return Err("oidc: the issuer's response is too long".to_owned());
            }
            body.extend_from_slice(&chunk);
        }
        Ok((response.head.status, body))
    }
}

impl Issuer for Oidc {
    async fn issue(&mut self, why: RefreshRequest<'_>) -> Result<Option<IssuedCredential>, Error> {
        if let Some(token) = self.id_token.take().filter(|_| !why.refused)
            && let Some(issued) = unless_expired(&token, why.now)?
        {
            return Ok(Some(issued));
        }
        if let Some(token) = self.newer_saved_token()
            && let Ok(Some(issued)) = unless_expired(&token, why.now)
        {
            return Ok(Some(issued));
        }
        let Some(refresh_token) = self.refresh_token.clone() else {
            if why.refused {
                return Ok(None);
            }
            let text = "No valid id-token, and cannot refresh without refresh-token";
            return Err(Error::Credentials(text.to_owned()));
        };
        if self.config.spares_refresh_tokens() {
            if why.refused {
                return Ok(None);
            }
            let text = "No valid id-token, and the refresh-token is to be left unspent";
            return Err(Error::Credentials(text.to_owned()));
        }
        let made = self.refresh(&refresh_token).await.map_err(Error::Credentials);
        let made = made.and_then(|token| {
            self.redaction.add(&token);
            Ok((credential(&token)?, token))
        });
        self.save_tokens(made.as_ref().ok().map(|(_, token)| token.as_str()), why).await;
        let masked = |error| match error {
            Error::Credentials(text) => Error::Credentials(self.redaction.apply(&text).into_owned()),
            other => other,
        };
        made.map(|(issued, _)| Some(issued)).map_err(masked)
    }

    fn name(&self) -> String {
        format!("the issuer {}", self.issuer.host_str().unwrap_or_default())
    }
}

/// Wraps a credential of a kubeconfig or an issuer and masks it from now on.
fn masked(redaction: &Redaction, text: String) -> Secret {
    redaction.add(&text);
    Secret::from(text)
}

/// Returns whether these settings are of that issuer and client.
fn is_named(settings: &BTreeMap<String, String>, issuer: &Url, client_id: &str) -> bool {
    settings.get("idp-issuer-url").and_then(|text| Url::parse(text).ok()).as_ref() == Some(issuer)
        && settings.get("client-id").is_some_and(|found| found == client_id)
}

/// Returns a token as a credential with its expiry.
fn credential(token: &str) -> Result<IssuedCredential, Error> {
    let expires = Some(id_token::expiry(token).map_err(Error::Credentials)?);
    Ok(IssuedCredential {
        authorization: Some(bearer::header(token)?),
        expires,
        ..IssuedCredential::default()
    })
}

/// Returns a token as a credential, unless it has expired.
fn unless_expired(token: &Secret, now: Timestamp) -> Result<Option<IssuedCredential>, Error> {
    let issued = credential(token.expose())?;
    Ok(Some(issued).filter(|issued| issued.expires.is_none_or(|expires| now < expires)))
}

/// Returns the authorities that the issuer's certificate is verified against.
fn trust(settings: &BTreeMap<String, String>) -> Result<Trust, Error> {
    const NAME: &str = "idp-certificate-authority";
    let given = |name: &str| settings.get(name).filter(|text| !text.is_empty());
    let invalid = |why: &str| Error::Invalid(format!("{NAME}: {why}"));
    let pem = if let Some(data) = given(&format!("{NAME}-data")) {
        STANDARD.decode(data).map_err(|_| invalid("illegal base64 data"))?
    } else if let Some(path) = given(NAME) {
        local_file::read(Path::new(path), CREDENTIAL_LIMIT)
            .map_err(|error| invalid(&format!("open {path}: {}", system_words(&error))))?
    } else {
        return Ok(Trust::System);
    };
    Ok(Trust::Authorities(certificates(&pem).map_err(invalid)?))
}

fn transport(issuer: &Url, trust: &Trust, config: &Config, log: RequestLog) -> Result<Transport, Error> {
    // Sequential requests to possibly two hosts: there is nothing to share.
    let options = ConnectionOptions { http1_only: true, ..config.connection_options_to(issuer)? };
    Ok(Transport::new(&options, tls::client_config(trust)?, true, log))
}
