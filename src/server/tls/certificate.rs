//! A self-signed certificate for one run of a server.

use std::net::IpAddr;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};

/// The validity of a certificate. Its key is never stored and is lost when the server ends.
const VALIDITY: SignedDuration = SignedDuration::from_hours(366 * 24);

/// The tolerance for clients whose clocks are behind.
const TOLERANCE: SignedDuration = SignedDuration::from_hours(24);

/// A certificate that signs itself, and its private key. Clients trust this certificate only, as their authority.
pub(super) struct Certificate {
    pub(super) der: Vec<u8>,
    pub(super) pem: String,
    /// In PKCS #8.
    pub(super) key: Vec<u8>,
}

impl Certificate {
    /// Creates a certificate with a new key, for `localhost` and these addresses. It is valid for whole days.
    ///
    /// # Errors
    /// The operating system has no random numbers.
    pub(super) fn new(addresses: &[IpAddr], now: Timestamp) -> Result<Self, rcgen::Error> {
        let names = addresses.iter().map(IpAddr::to_string).chain(["localhost".to_owned()]);
        let mut certificate = CertificateParams::new(names.collect::<Vec<_>>())?;
        certificate.distinguished_name = DistinguishedName::new();
        certificate.distinguished_name.push(DnType::CommonName, "kdelta");
        certificate.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let date = |later| {
            let date = now.checked_add(later).unwrap_or(now).to_zoned(TimeZone::UTC).date();
            date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
        };
        certificate.not_before = date(-TOLERANCE);
        certificate.not_after = date(VALIDITY);
        let key = KeyPair::generate()?;
        let signed = certificate.self_signed(&key)?;
        Ok(Self { der: signed.der().to_vec(), pem: signed.pem(), key: key.serialize_der() })
    }
}
