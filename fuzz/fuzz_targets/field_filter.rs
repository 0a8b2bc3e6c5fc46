//! A field selector with local terms and the object that it is evaluated on.
#![no_main]

use kdelta::query::FieldFilter;

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8])| {
    let (text, object) = input;
    let Ok((server, filter)) = FieldFilter::split(text) else { return };
    assert_eq!(filter.matches_json(object), filter.matches_json(object));
    // What remains for the server has no local term.
    let (rest, none) = FieldFilter::split(&server).expect("terms of the server's grammar");
    assert!(none.is_empty() && rest == server, "{text:?} {server:?}");
});
