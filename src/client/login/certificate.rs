//! Client certificates: from a kubeconfig, from files that may be renewed, and from a plugin.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::FILE_LIFE;
use super::version_one::public_key_info;
use crate::kubeconfig::Error;
use crate::kubeconfig::Secret;
use crate::kubeconfig::file_format::AuthInfo;
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};
use crate::listwatch::system_words;

/// The certificate that a configuration names. Files are read again about every minute, and when the server refuses
/// what they held; a pair that can't be read then, or does not match, keeps the last one.
pub(super) struct Certificate {
    chain: Pem,
    key: Pem,
    /// What was read and when. A std lock: held for two small reads of local files, never across an await.
    last: Mutex<Last>,
}

struct Last {
    /// Certificate and key as they were read, to see whether they changed.
    text: (Vec<u8>, Vec<u8>),
    identity: Arc<CertifiedKey>,
    read: Instant,
}

/// Where one half of it stands.
enum Pem {
    Data(Vec<u8>),
    File(PathBuf),
}

impl Pem {
    /// Data stands before a file; nothing where there is neither.
    fn of(what: &str, data: Option<&str>, file: Option<&String>) -> Result<Option<Self>, Error> {
        let Some(data) = data.filter(|data| !data.is_empty()) else {
            return Ok(file.map(|path| Self::File(path.into())));
        };
        // It may be folded over several lines.
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
    /// The user's certificate with its key; nothing where the user has none.
    ///
    /// # Errors
    /// [`Error::Invalid`] for what can't be read, is none, or does not match.
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

    /// The certificate to show.
    pub(super) fn identity(&self, now: Instant) -> Arc<CertifiedKey> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(last.read) >= FILE_LIFE {
            self.read_again(&mut last, now);
        }
        Arc::clone(&last.identity)
    }

    /// The certificate when it is another one than the server has refused.
    pub(super) fn instead_of(
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
        // The halves of a pair that is being renewed may not match yet.
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

/// A chain of certificates and the key of its first one, from PEM. The key may be PKCS#8, PKCS#1 (RSA) or SEC1 (EC).
///
/// # Errors
/// What is wrong with them, in Go's words where it has some; never what they hold.
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
        // A key that does not give its public half can't be compared; rustls uses it as well.
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
