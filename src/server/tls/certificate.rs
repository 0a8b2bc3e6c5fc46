//! A self-signed certificate for one run of a server.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

use super::der;

/// The validity of a certificate. Its key is never stored and is lost when the server ends.
const VALIDITY: SignedDuration = SignedDuration::from_hours(365 * 24);

/// The tolerance for clients whose clocks are behind.
const TOLERANCE: SignedDuration = SignedDuration::from_hours(24);

/// The name of the subject and of the issuer.
const COMMON_NAME: &str = "kdelta";

const COMMON_NAME_ID: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const SERVER_AUTHENTICATION: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];

/// A certificate that signs itself, and its private key. Clients trust this certificate only, as their authority.
pub(super) struct Certificate {
    pub(super) der: Vec<u8>,
    /// In PKCS #8.
    pub(super) key: Vec<u8>,
}

impl Certificate {
    /// Creates a certificate with a new key, for `localhost` and these addresses.
    ///
    /// # Errors
    /// The operating system has no random numbers.
    pub(super) fn new(addresses: &[IpAddr], now: Timestamp) -> Result<Self, Unspecified> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random)?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random)
            .map_err(|_| Unspecified)?;
        let mut serial = [0; 16];
        random.fill(&mut serial)?;
        // Positive, and without a leading zero byte.
        serial[0] = (serial[0] & 0x3f) | 0x40;
        let signed = to_be_signed(&serial, pair.public_key().as_ref(), addresses, now);
        let signature = pair.sign(&random, &signed)?;
        let der = der::sequence(&[&signed, &signature_algorithm(), &der::bit_string(signature.as_ref())]);
        Ok(Self { der, key: key.as_ref().to_vec() })
    }

    /// Returns the certificate in PEM.
    pub(super) fn pem(&self) -> String {
        let text = STANDARD.encode(&self.der);
        let lines: Vec<&str> =
            text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }
}

fn identifier(id: &[u8]) -> Vec<u8> {
    der::value(der::OBJECT_IDENTIFIER, id)
}

fn signature_algorithm() -> Vec<u8> {
    der::sequence(&[&identifier(ECDSA_WITH_SHA256)])
}

fn to_be_signed(serial: &[u8], public_key: &[u8], addresses: &[IpAddr], now: Timestamp) -> Vec<u8> {
    let version_3 = der::value(der::context(0, true), &der::value(der::INTEGER, &[2]));
    let common_name = der::value(der::UTF8_STRING, COMMON_NAME.as_bytes());
    let attribute = der::sequence(&[&identifier(COMMON_NAME_ID), &common_name]);
    let name = der::sequence(&[&der::value(der::SET, &attribute)]);
    let time = |time: Result<Timestamp, jiff::Error>| {
        let text = time.unwrap_or(now).strftime("%y%m%d%H%M%SZ").to_string();
        der::value(der::UTC_TIME, text.as_bytes())
    };
    let validity = der::sequence(&[&time(now.checked_sub(TOLERANCE)), &time(now.checked_add(VALIDITY))]);
    let key_type = der::sequence(&[&identifier(EC_PUBLIC_KEY), &identifier(PRIME256V1)]);
    let key = der::sequence(&[&key_type, &der::bit_string(public_key)]);
    let usage = der::sequence(&[&identifier(SERVER_AUTHENTICATION)]);
    let extensions = der::sequence(&[
        &extension(SUBJECT_ALTERNATIVE_NAME, &alternative_names(addresses)),
        &extension(EXTENDED_KEY_USAGE, &usage),
    ]);
    der::sequence(&[
        &version_3,
        &der::value(der::INTEGER, serial),
        &signature_algorithm(),
        &name,
        &validity,
        &name,
        &key,
        &der::value(der::context(3, true), &extensions),
    ])
}

fn extension(id: &[u8], contents: &[u8]) -> Vec<u8> {
    der::sequence(&[&identifier(id), &der::value(der::OCTET_STRING, contents)])
}

fn alternative_names(addresses: &[IpAddr]) -> Vec<u8> {
    let mut names = der::value(der::context(2, false), b"localhost");
    for address in addresses {
        let bytes = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        names.extend(der::value(der::context(7, false), &bytes));
    }
    der::value(der::SEQUENCE, &names)
}
