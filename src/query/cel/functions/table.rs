//! The table of all CEL functions, which the checker resolves calls against.

use super::declaration::Declaration;
use super::{
    convert, format_string, lists, named_format, network, operators, optional, quantity, regex, semver,
    strings, time, url,
};

/// All functions, by library.
pub(in crate::query::cel) const DECLARATIONS: &[&[Declaration]] = &[
    operators::DECLARATIONS,
    convert::DECLARATIONS,
    strings::DECLARATIONS,
    format_string::DECLARATIONS,
    regex::DECLARATIONS,
    time::DECLARATIONS,
    lists::DECLARATIONS,
    optional::DECLARATIONS,
    quantity::DECLARATIONS,
    network::DECLARATIONS,
    url::DECLARATIONS,
    semver::DECLARATIONS,
    named_format::DECLARATIONS,
];
