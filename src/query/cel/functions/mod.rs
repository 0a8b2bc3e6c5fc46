//! The functions of CEL's standard library, its extensions, and Kubernetes' libraries.

mod convert;
mod declaration;
mod format_string;
mod lists;
mod named_format;
mod network;
mod operators;
mod optional;
mod quantity;
mod regex;
mod semver;
mod strings;
mod table;
mod time;
mod url;

pub(super) use declaration::{Overload, parse_signature};
pub(super) use format_string::check_format;
pub(super) use lists::sorted_by;
pub(super) use regex::ConstantRegex;
pub(super) use table::DECLARATIONS;
