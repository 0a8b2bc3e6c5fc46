//! The public key of an X.509 version 1 certificate, the form that `openssl x509 -req` writes without extensions.
//! webpki parses version 3 only; TLS does not require it of a client's own certificate.

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;

/// Returns the `SubjectPublicKeyInfo` of a version 1 certificate, with its tag and length; `None` for every other
/// version and for malformed input.
pub(super) fn public_key_info(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, []) = Element::take(certificate)? else { return None };
    let (to_be_signed, _) = Element::take(certificate.content_of(SEQUENCE)?)?;
    // Later versions begin with an explicit version number; version 1 begins with the serial number.
    let (serial_number, mut rest) = Element::take(to_be_signed.content_of(SEQUENCE)?)?;
    serial_number.content_of(INTEGER)?;
    for _ in ["signature algorithm", "issuer", "validity", "subject"] {
        let (field, after) = Element::take(rest)?;
        field.content_of(SEQUENCE)?;
        rest = after;
    }
    let (info, _) = Element::take(rest)?;
    info.content_of(SEQUENCE)?;
    Some(info.encoded)
}

/// One DER element.
struct Element<'a> {
    /// Tag, length and content.
    encoded: &'a [u8],
    content: &'a [u8],
}

impl<'a> Element<'a> {
    /// Splits the first element off.
    fn take(input: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (&first, after) = input.get(1..)?.split_first()?;
        let (length, after) = if first < 0x80 {
            (usize::from(first), after)
        } else {
            // Four bytes of length are more than any certificate has; 0x80 (no length) is not DER.
            let (digits, after) = after.split_at_checked(usize::from(first & 0x7f))?;
            let length = matches!(digits.len(), 1..=4)
                .then(|| digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)))?;
            (length, after)
        };
        let (content, rest) = after.split_at_checked(length)?;
        Some((Self { encoded: &input[..input.len() - rest.len()], content }, rest))
    }

    fn content_of(&self, tag: u8) -> Option<&'a [u8]> {
        (self.encoded.first() == Some(&tag)).then_some(self.content)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::client::login::certificate::identity;

    fn encode(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82], &length[..], content].concat()
    }

    /// The version 1 form of a certificate: without version and extensions. The signature no longer matches.
    fn version_one_of(certificate: &[u8]) -> Vec<u8> {
        let (certificate, _) = Element::take(certificate).unwrap();
        let (to_be_signed, signature) = Element::take(certificate.content).unwrap();
        let (_version, mut rest) = Element::take(to_be_signed.content).unwrap();
        let mut kept = Vec::new();
        for _ in 0..6 {
            let (field, after) = Element::take(rest).unwrap();
            kept.extend_from_slice(field.encoded);
            rest = after;
        }
        encode(SEQUENCE, &[&encode(SEQUENCE, &kept), signature].concat())
    }

    #[test]
    fn only_version_one_is_parsed_and_no_input_panics() {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["me".into()]).unwrap();
        let third = params.self_signed(&key).unwrap();
        let first = version_one_of(third.der());
        assert_eq!(public_key_info(third.der()), None);
        let info = public_key_info(&first).unwrap();
        assert!(info.ends_with(key.public_key_raw()), "{info:?}");
        for length in 0..first.len() {
            assert_eq!(public_key_info(&first[..length]), None, "{length} bytes");
        }
        for position in 0..first.len() {
            for byte in [0, 0x7f, 0x80, 0x84, 0xff] {
                let mut damaged = first.clone();
                damaged[position] = byte;
                let _ = public_key_info(&damaged);
            }
        }
    }

    fn pem(der: &[u8]) -> Vec<u8> {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(der)).into()
    }

    #[test]
    fn version_one_certificate_is_accepted_with_its_own_key_only() {
        let [own, other] = [(); 2].map(|()| rcgen::KeyPair::generate().unwrap());
        let params = rcgen::CertificateParams::new(vec![]).unwrap();
        let chain = pem(&version_one_of(params.self_signed(&own).unwrap().der()));
        let checked = |key: &rcgen::KeyPair| identity(&chain, key.serialize_pem().as_bytes()).map(|_| ());
        assert_eq!(checked(&own), Ok(()));
        assert_eq!(checked(&other), Err("tls: private key does not match public key".to_owned()));
        let noise = pem(b"no certificate");
        let refused = identity(&noise, own.serialize_pem().as_bytes()).map(|_| ());
        assert_eq!(refused, Err("x509: malformed certificate".to_owned()));
    }
}
