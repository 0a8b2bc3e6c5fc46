//! A CEL expression and the object that it is evaluated on.
#![no_main]

use std::time::SystemTime;

use kdelta::query::{CelFilter, CelInput, CelValues};

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8], &[u8])| {
    let (text, object, old) = input;
    let (expression, value) = CelValues::split(text);
    assert!(value.is_none_or(|value| expression.len() + 1 + value.len() == text.len()));
    if let Ok(values) = CelValues::parse(expression) {
        let mut count = 0;
        let visited = values.visit(object, &mut |_| count += 1);
        assert!(visited.is_ok() || count == 0);
    }
    let Ok(filter) = CelFilter::parse(text, true) else { return };
    let input = CelInput::new(object, SystemTime::UNIX_EPOCH).with_old(old);
    let result = filter.evaluate(&input);
    assert_eq!(result, filter.evaluate_with_validity(&input).0);
    let _paths = filter.paths();
});
