//! The server certificates that a connection accepts.

use std::path::PathBuf;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// The authorities that may sign a server's certificate.
#[derive(Debug, Clone, Default)]
pub(crate) enum Trust {
    /// The authorities of the operating system.
    #[default]
    System,
    /// These authorities, and these certificates themselves.
    Authorities(Vec<CertificateDer<'static>>),
    /// The authorities of a file that is rotated while the process runs, as in a pod, with its present content.
    AuthorityFile(PathBuf, Vec<CertificateDer<'static>>),
    /// Any certificate: none is verified.
    Unverified,
}

/// Returns the certificates of a PEM text. As in Go, a section that can't be decoded is skipped.
///
/// # Errors
/// kubectl's message for a text without any certificate.
pub(crate) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, &'static str> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok).collect();
    if found.is_empty() { Err("unable to parse bytes as PEM block") } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::test_server::SELF_SIGNED;

    #[test]
    fn sections_that_cannot_be_decoded_are_skipped() {
        let damaged = "-----BEGIN CERTIFICATE-----\n%%\n-----END CERTIFICATE-----\n";
        let unfinished = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        let text = format!("comment\n{damaged}{SELF_SIGNED}{unfinished}");
        assert_eq!(certificates(text.as_bytes()).unwrap().len(), 1);
        for none in ["", "nothing", damaged, unfinished] {
            assert_eq!(certificates(none.as_bytes()), Err("unable to parse bytes as PEM block"), "{none}");
        }
    }
}
