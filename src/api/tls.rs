//! How the server proves who it is, and we who we are: kube-client's TLS configuration, and what Go trusts beyond it.

use std::sync::Arc;

use kube_client::client::ConfigExt;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::error::Error;

/// The TLS configuration for these certificates and that trust.
///
/// # Errors
/// [`Error::Invalid`] naming what is wrong with the certificates or the key.
pub(super) fn client_config(config: &kube_client::Config) -> Result<rustls::ClientConfig, Error> {
    let invalid = |why: String| Error::Invalid(format!("invalid TLS configuration: {why}"));
    let mut config = config.clone();
    let own = match &config.root_cert {
        Some(roots) if config.root_cert_file.is_none() && !config.accept_invalid_certs => {
            Some(TrustedItself::new(roots).map_err(|error| invalid(error.to_string()))?)
        }
        _ => None,
    };
    if own.is_some() || config.accept_invalid_certs {
        // Decided here, or not at all: neither these nor the system's have to be read by kube-client.
        config.root_cert = Some(Vec::new());
    }
    let mut tls = config.rustls_client_config().map_err(|error| invalid(words(&error)))?;
    if let Some(verifier) = own {
        tls.dangerous().set_certificate_verifier(Arc::new(verifier));
    }
    Ok(tls)
}

/// Trusts what the authorities signed, and a server that shows one of the certificates given as authorities: Go takes
/// such a certificate, and kubeconfig files in use rely on it.
#[derive(Debug)]
struct TrustedItself {
    trusted: Vec<CertificateDer<'static>>,
    by_authority: Arc<WebPkiServerVerifier>,
}

impl TrustedItself {
    fn new(roots: &[Vec<u8>]) -> Result<Self, Box<dyn std::error::Error>> {
        let trusted: Vec<_> = roots.iter().map(|der| CertificateDer::from(der.clone())).collect();
        let mut store = RootCertStore::empty();
        // What is no certificate is passed over, as in Go.
        store.add_parsable_certificates(trusted.iter().cloned());
        Ok(Self { trusted, by_authority: WebPkiServerVerifier::builder(Arc::new(store)).build()? })
    }
}

impl ServerCertVerifier for TrustedItself {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use rustls::CertificateError::{Other, UnknownIssuer};
        match self.by_authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        {
            // Nobody signed it, or it is an authority itself. Expiry is an error of its own and stays one.
            Err(rustls::Error::InvalidCertificate(UnknownIssuer | Other(_)))
                if self.trusted.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            decided => decided,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_authority.verify_tls12_signature(message, cert, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_authority.verify_tls13_signature(message, cert, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_authority.supported_verify_schemes()
    }
}

fn words(error: &kube_client::Error) -> String {
    match error {
        kube_client::Error::RustlsTls(error) => error.to_string(),
        kube_client::Error::InferKubeconfig(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// A TLS configuration that trusts nobody: for plain connections, which need none, and start faster without the
/// system's authorities.
pub(super) fn unused() -> rustls::ClientConfig {
    rustls::ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::pem::PemObject;

    use super::*;
    use crate::api::test_server::SELF_SIGNED;

    fn verify(
        trusted: &[Vec<u8>],
        shown: &CertificateDer<'_>,
        name: &str,
        at: UnixTime,
    ) -> Result<(), String> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let verifier = TrustedItself::new(trusted).unwrap();
        let decided = verifier.verify_server_cert(shown, &[], &name, &[], at);
        decided.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_that_shows_a_certificate_given_as_authority_is_trusted_under_its_own_name() {
        let shown = CertificateDer::from_pem_slice(SELF_SIGNED.as_bytes()).unwrap();
        let trusted = [shown.to_vec()];
        let now = UnixTime::since_unix_epoch(Duration::from_hours(500_000));
        assert_eq!(verify(&trusted, &shown, "kdelta.test", now), Ok(()));
        assert!(verify(&trusted, &shown, "other.test", now).unwrap_err().contains("kdelta.test"));
        let long_after = UnixTime::since_unix_epoch(Duration::from_hours(2_500_000));
        assert!(verify(&trusted, &shown, "kdelta.test", long_after).unwrap_err().contains("expired"));
    }
}
