//! TLS configurations: the protocol versions and algorithms of rustls with ring, and the [`Trust`] of a configuration.
//!
//! The cryptography is passed explicitly. A process-wide provider is neither read nor installed: that choice belongs to
//! the application.

mod authorities;
mod unverified;

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

use self::authorities::{Authorities, RotatedAuthorities};
use self::unverified::Unverified;
use crate::kubeconfig::Error;
use crate::kubeconfig::Trust;

/// Returns a configuration without a client certificate.
///
/// # Errors
/// [`Error::Invalid`] when there is no usable authority.
pub(crate) fn client_config(trust: &Trust) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(trust, &provider).map_err(|error| invalid(&error))?;
    let builder = builder(provider)?.dangerous().with_custom_certificate_verifier(verifier);
    Ok(builder.with_no_client_auth())
}

/// Returns a configuration that trusts no server, for plain connections: they start faster without the system's
/// authorities.
///
/// # Errors
/// As [`client_config`].
pub(crate) fn unused() -> Result<ClientConfig, Error> {
    let builder = builder(Arc::new(ring::default_provider()))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn builder(provider: Arc<CryptoProvider>) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, Error> {
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.map_err(|error| invalid(&error))
}

fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Box<dyn std::error::Error>> {
    Ok(match trust {
        Trust::System => Arc::new(rustls_platform_verifier::Verifier::new(Arc::clone(provider))?),
        Trust::Authorities(trusted) => Arc::new(Authorities::new(trusted, provider)?),
        Trust::AuthorityFile(file, present) => {
            let present = Authorities::new(present, provider)?;
            Arc::new(RotatedAuthorities::new(file.clone(), present, Arc::clone(provider)))
        }
        Trust::Unverified => Arc::new(Unverified),
    })
}

fn invalid(error: &impl fmt::Display) -> Error {
    Error::Invalid(format!("invalid TLS configuration: {error}"))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use rustls::ServerConfig;
    use rustls::pki_types::PrivateKeyDer;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::api::{Client, Request};
    use crate::kubeconfig::{Config, ConfigOptions};

    /// Starts a TLS server with a certificate of its own for `kdelta.test` and loopback.
    async fn server() -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let names = vec!["kdelta.test".to_owned(), "127.0.0.1".to_owned()];
        let own = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let _ = stream.read(&mut [0; 4096]).await;
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await;
                    let _ = stream.shutdown().await;
                }
            }
        });
        (url, own.pem())
    }

    /// rustls keeps the provider of a process in one place, and no other unit test may install one.
    #[tokio::test]
    async fn no_provider_is_installed_for_the_process() {
        let (url, authority) = server().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.crt");
        std::fs::write(&file, authority).unwrap();
        let trusting =
            ConfigOptions { server: Some(url), certificate_authority: Some(file), ..Default::default() };
        let renamed = ConfigOptions { tls_server_name: Some("kdelta.test".into()), ..trusting.clone() };
        let unverified =
            ConfigOptions { insecure_skip_tls_verify: true, certificate_authority: None, ..trusting.clone() };
        for options in [trusting, renamed, unverified] {
            let client = Client::new(&Config::load(&options).unwrap()).unwrap();
            let response = client.send(&Request::new("/version")).await;
            assert!(response.is_ok(), "{options:?}: {:?}", response.err());
        }
        Client::new(&Config::for_server("https://127.0.0.1:1").unwrap()).expect("the system's authorities");
        assert!(CryptoProvider::get_default().is_none());
    }
}
