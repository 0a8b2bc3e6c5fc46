//! Client certificates: from a kubeconfig, from files that may be rotated, and from a plugin.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::token_file::FILE_LIFE;
use super::version_one::public_key_info;
use crate::kubeconfig::Error;
use crate::kubeconfig::Secret;
use crate::kubeconfig::file_format::AuthInfo;
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};
use crate::listwatch::system_words;

/// The client certificate of a configuration. Files are reread about every minute, and when the server refuses the
/// certificate. An unreadable or mismatched pair keeps the last one.
pub(super) struct Certificate {
    chain: Pem,
    key: Pem,
    /// The last content and the time of reading. A std lock: held for two small reads of local files, never across an
    /// await.
    last: Mutex<Last>,
}

struct Last {
    /// The text of certificate and key, for comparison.
    text: (Vec<u8>, Vec<u8>),
    identity: Arc<CertifiedKey>,
    read: Instant,
}

/// The source of a certificate or key.
enum Pem {
    Data(Vec<u8>),
    File(PathBuf),
}

impl Pem {
    /// Selects the source: data precedes a file; `None` without either.
    fn of(what: &str, data: Option<&str>, file: Option<&String>) -> Result<Option<Self>, Error> {
        let Some(data) = data.filter(|data| !data.is_empty()) else {
            return Ok(file.map(|path| Self::File(path.into())));
        };
        // The data may be folded over several lines.
        let decoded = STANDARD.decode(data.split_ascii_whitespace().collect::<String>());
        let decoded = decoded.map_err(|_| invalid(format!("{what}-data: illegal base64 data")))?;
        Ok(Some(Self::Data(decoded)))
    }

    fn read(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Data(data) => Ok(data.clone()),
            Self::File(path) => local_file::read(path, CREDENTIAL_LIMIT)
                .map_err(|error| invalid(format!("open {}: {}", path.display(), system_words(&error)))),
        }
    }
}

impl Certificate {
    /// Reads the user's certificate with its key; `None` if the user has none.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unreadable, invalid or mismatched pair.
    pub(super) fn of(user: &AuthInfo, now: Instant) -> Result<Option<Self>, Error> {
        let data = user.client_certificate_data.as_deref();
        let chain = Pem::of("client-certificate", data, user.client_certificate.as_ref())?;
        let data = user.client_key_data.as_ref().map(Secret::expose);
        let key = Pem::of("client-key", data, user.client_key.as_ref())?;
        let (Some(chain), Some(key)) = (chain, key) else { return Ok(None) };
        let text = (chain.read()?, key.read()?);
        let identity = identity(&text.0, &text.1).map_err(invalid)?;
        let last = Mutex::new(Last { text, identity, read: now });
        Ok(Some(Self { chain, key, last }))
    }

    /// Returns the certificate to present.
    pub(super) fn identity(&self, now: Instant) -> Arc<CertifiedKey> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(last.read) >= FILE_LIFE {
            self.read_again(&mut last, now);
        }
        Arc::clone(&last.identity)
    }

    /// Returns the certificate if it differs from the one that the server refused.
    pub(super) fn replacement_for(
        &self,
        refused: Option<&Arc<CertifiedKey>>,
        now: Instant,
    ) -> Option<Arc<CertifiedKey>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_refused = |last: &Last| refused.is_some_and(|refused| Arc::ptr_eq(refused, &last.identity));
        if is_refused(&last) {
            self.read_again(&mut last, now);
        }
        (!is_refused(&last)).then(|| Arc::clone(&last.identity))
    }

    fn read_again(&self, last: &mut Last, now: Instant) {
        last.read = now;
        let (Ok(chain), Ok(key)) = (self.chain.read(), self.key.read()) else { return };
        let text = (chain, key);
        // The halves of a pair that is being rotated may not match yet.
        if text != last.text
            && let Ok(identity) = identity(&text.0, &text.1)
        {
            last.identity = identity;
            last.text = text;
        }
    }
}

fn invalid(why: impl AsRef<str>) -> Error {
    Error::Invalid(format!("unable to use the client certificate: {}", why.as_ref()))
}

/// Parses a certificate chain and the key of its first certificate from PEM. The key may be PKCS#8, PKCS#1 (RSA) or
/// SEC1 (EC).
///
/// # Errors
/// The problem, in Go's words where it has some; never the content.
pub(super) fn identity(certificates: &[u8], key: &[u8]) -> Result<Arc<CertifiedKey>, String> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<_, _>>()
        .map_err(|_| "tls: failed to find any PEM data in certificate input".to_owned())?;
    if chain.is_empty() {
        return Err("tls: failed to find any PEM data in certificate input".to_owned());
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| key_words(&error, key))?;
    let provider = rustls::crypto::ring::default_provider();
    let key = provider.key_provider.load_private_key(key);
    let certified = CertifiedKey::new(chain, key.map_err(|_| "tls: failed to parse private key".to_owned())?);
    match_keys(&certified)?;
    Ok(Arc::new(certified))
}

/// Compares the public key of the first certificate with that of the private key.
fn match_keys(certified: &CertifiedKey) -> Result<(), String> {
    use rustls::InconsistentKeys::{KeyMismatch, Unknown};
    let matched =
        match (certified.cert.first().and_then(|own| public_key_info(own)), certified.key.public_key()) {
            (Some(info), Some(key)) if info != key.as_ref() => Err(KeyMismatch.into()),
            (Some(_), _) => Ok(()),
            (None, _) => certified.keys_match(),
        };
    match matched {
        // A key that does not expose its public half can't be compared; rustls accepts it as well.
        Ok(()) | Err(rustls::Error::InconsistentKeys(Unknown)) => Ok(()),
        Err(rustls::Error::InconsistentKeys(_)) => {
            Err("tls: private key does not match public key".to_owned())
        }
        Err(_) => Err("x509: malformed certificate".to_owned()),
    }
}

fn key_words(error: &PemError, key: &[u8]) -> String {
    let marks: [&[u8]; 2] = [b"ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];
    if marks.iter().any(|mark| key.windows(mark.len()).any(|part| part == *mark)) {
        return "the private key is encrypted, which is not supported: store it decrypted".to_owned();
    }
    match error {
        PemError::NoItemsFound => "tls: failed to find any PEM data in key input".to_owned(),
        _ => "tls: failed to parse private key".to_owned(),
    }
}
