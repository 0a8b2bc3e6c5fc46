//! Random identifiers, times and the repeated parts of objects.

use jiff::Timestamp;

/// Returns this many hexadecimal digits.
pub(super) fn hex(random: &mut fastrand::Rng, len: usize) -> String {
    (0..len).map(|_| char::from(b"0123456789abcdef"[random.usize(..16)])).collect()
}

/// Returns this many letters and digits, like the hashes in names.
pub(super) fn word(random: &mut fastrand::Rng, len: usize) -> String {
    (0..len).map(|_| char::from(b"bcdfghjklmnpqrstvwxz2456789"[random.usize(..27)])).collect()
}

/// Returns a random uid.
pub(super) fn uid(random: &mut fastrand::Rng) -> String {
    let parts = [8, 4, 3, 3, 12].map(|len| hex(random, len));
    format!("{}-{}-4{}-9{}-{}", parts[0], parts[1], parts[2], parts[3], parts[4])
}

/// Returns a private address.
pub(super) fn address(random: &mut fastrand::Rng) -> String {
    format!("10.{}.{}.{}", random.u8(1..32), random.u8(..), random.u8(1..255))
}

/// Returns the text of a time in Unix milliseconds.
pub(super) fn time(milliseconds: i64) -> String {
    Timestamp::from_second(milliseconds.div_euclid(1000)).expect("a time of this century").to_string()
}

/// Returns an entry of `managedFields`.
pub(super) fn managed(manager: &str, subresource: &str, api: &str, at: i64, fields: &str) -> String {
    let subresource =
        if subresource.is_empty() { String::new() } else { format!(r#","subresource":"{subresource}""#) };
    format!(
        r#"{{"manager":"{manager}","operation":"Update","apiVersion":"{api}","time":"{}","fieldsType":"FieldsV1","fieldsV1":{fields}{subresource}}}"#,
        time(at)
    )
}

/// Returns an owner reference of a controller.
pub(super) fn owner(api: &str, kind: &str, name: &str, uid: &str) -> String {
    format!(
        r#""ownerReferences":[{{"apiVersion":"{api}","kind":"{kind}","name":"{name}","uid":"{uid}","controller":true,"blockOwnerDeletion":true}}]"#
    )
}

/// Returns the age cell of something that began at a time.
pub(super) fn age(since: i64, now: i64) -> String {
    kdelta::object::human_duration((now - since) / 1000)
}
