//! Verifiers for given authorities, with what Go accepts beyond webpki.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::kubeconfig::certificates;
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};

/// The interval at which a file of authorities is read again.
const FILE_LIFE: Duration = Duration::from_mins(1);

/// Accepts the certificates that the authorities signed, and a server that shows one of the certificates given as
/// authorities: Go accepts such a certificate, and kubeconfig files in use rely on it.
#[derive(Debug)]
pub(super) struct Authorities {
    trusted: Vec<CertificateDer<'static>>,
    by_authority: Arc<WebPkiServerVerifier>,
}

impl Authorities {
    /// Returns a verifier for these certificates. As in Go, invalid ones are ignored.
    ///
    /// # Errors
    /// None of the certificates is valid.
    pub(super) fn new(
        trusted: &[CertificateDer<'static>],
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(trusted.iter().cloned());
        let by_authority =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider)).build()?;
        Ok(Self { trusted: trusted.to_vec(), by_authority })
    }
}

impl ServerCertVerifier for Authorities {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use rustls::CertificateError::{Other, UnknownIssuer};
        match self.by_authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        {
            // No authority signed it, or it is an authority itself. Expiry is an error of its own and stays one.
            Err(Error::InvalidCertificate(UnknownIssuer | Other(_))) if self.trusted.contains(end_entity) => {
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
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls12_signature(message, cert, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authority.verify_tls13_signature(message, cert, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_authority.supported_verify_schemes()
    }
}

/// The authorities of a file, which is read again about every minute. Content without an authority keeps the last one:
/// the file may be replaced at that moment.
#[derive(Debug)]
pub(super) struct RotatedAuthorities {
    file: PathBuf,
    provider: Arc<CryptoProvider>,
    /// The present authorities, and the time at which this verifier read them. A std lock: held for one small read of
    /// a local file, never across an await.
    last: Mutex<(Arc<Authorities>, Option<UnixTime>)>,
}

impl RotatedAuthorities {
    /// Returns a verifier that reads the file with the first handshake. `present` is used while the file is
    /// unreadable.
    pub(super) fn new(file: PathBuf, present: Authorities, provider: Arc<CryptoProvider>) -> Self {
        Self { file, provider, last: Mutex::new((Arc::new(present), None)) }
    }

    fn at(&self, now: UnixTime) -> Arc<Authorities> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back counts as well.
        if last.1.is_none_or(|read| now.as_secs().abs_diff(read.as_secs()) >= FILE_LIFE.as_secs()) {
            last.1 = Some(now);
            if let Some(read) = self.read() {
                last.0 = Arc::new(read);
            }
        }
        Arc::clone(&last.0)
    }

    fn read(&self) -> Option<Authorities> {
        let pem = local_file::read(&self.file, CREDENTIAL_LIMIT).ok()?;
        Authorities::new(&certificates(&pem).ok()?, &self.provider).ok()
    }
}

impl ServerCertVerifier for RotatedAuthorities {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.at(now).verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustls::crypto::ring;

    use super::*;
    use crate::client::test_server::SELF_SIGNED;

    fn shown() -> CertificateDer<'static> {
        certificates(SELF_SIGNED.as_bytes()).unwrap().remove(0)
    }

    /// Returns a time at which the self-signed certificate is valid, plus so many seconds.
    fn valid_time(later: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_hours(500_000) + Duration::from_secs(later))
    }

    fn verify(verifier: &impl ServerCertVerifier, name: &str, at: UnixTime) -> Result<(), String> {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let decided = verifier.verify_server_cert(&shown(), &[], &name, &[], at);
        decided.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn server_certificate_given_as_authority_is_trusted_under_its_name() {
        let verifier = Authorities::new(&[shown()], &Arc::new(ring::default_provider())).unwrap();
        let verify = |name, at| verify(&verifier, name, at);
        assert_eq!(verify("kdelta.test", valid_time(0)), Ok(()));
        assert!(verify("other.test", valid_time(0)).unwrap_err().contains("kdelta.test"));
        let long_after = UnixTime::since_unix_epoch(Duration::from_hours(2_500_000));
        assert!(verify("kdelta.test", long_after).unwrap_err().contains("expired"));
    }

    #[test]
    fn rotated_authorities_are_reread_after_a_minute_and_kept_while_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.crt");
        let key = rcgen::KeyPair::generate().unwrap();
        let other = rcgen::CertificateParams::new(vec![]).unwrap().self_signed(&key).unwrap();
        let provider = Arc::new(ring::default_provider());
        let present = Authorities::new(&[shown()], &provider).unwrap();
        let rotated = RotatedAuthorities::new(file.clone(), present, provider);
        let is_trusted = |later| verify(&rotated, "kdelta.test", valid_time(later)).is_ok();
        assert!(is_trusted(0), "the content that the configuration was loaded with");
        fs::write(&file, other.pem()).unwrap();
        assert!(is_trusted(59), "the last content is used for a minute");
        assert!(!is_trusted(60));
        fs::write(&file, "nothing").unwrap();
        assert!(!is_trusted(120), "content without a certificate is ignored");
        fs::remove_file(&file).unwrap();
        assert!(!is_trusted(180));
        fs::write(&file, SELF_SIGNED).unwrap();
        assert!(is_trusted(90), "the clock was set back");
    }
}
