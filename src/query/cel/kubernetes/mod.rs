//! The types that Kubernetes adds to CEL.

mod named_format;
mod network;
mod quantity;
mod semver;
mod url;

pub(super) use named_format::NamedFormat;
pub(super) use network::{Cidr, is_global_unicast, is_link_local_multicast, is_link_local_unicast, parse_ip};
pub(super) use quantity::Quantity;
pub(super) use semver::SemanticVersion;
pub(super) use url::{Url, is_url, pairs};
