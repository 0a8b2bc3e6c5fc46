//! IP addresses and CIDRs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Parses an address without a zone that is no IPv4 address mapped to IPv6.
pub(in crate::query::cel) fn parse_ip(text: &str) -> Option<IpAddr> {
    let address: IpAddr = text.parse().ok()?;
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => None,
        address => Some(address),
    }
}

pub(in crate::query::cel) fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

pub(in crate::query::cel) fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

pub(in crate::query::cel) fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !(is_broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local_unicast(address))
}

/// An address and the length of its network's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query::cel) struct Cidr {
    pub(in crate::query::cel) address: IpAddr,
    pub(in crate::query::cel) bits: u8,
}

impl Cidr {
    pub(in crate::query::cel) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.rsplit_once('/')?;
        let address = parse_ip(address)?;
        let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || (bits.len() > 1 && bits.starts_with('0')) {
            return None;
        }
        let bits = bits.parse().ok()?;
        (bits <= if address.is_ipv4() { 32 } else { 128 }).then_some(Self { address, bits })
    }

    /// Returns the first address of the network, with the prefix.
    pub(in crate::query::cel) fn masked(self) -> Self {
        let bits = u32::from(self.bits);
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        Self { address, bits: self.bits }
    }

    pub(in crate::query::cel) fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4()
            && Self { address, bits: self.bits }.masked() == self.masked()
    }

    pub(in crate::query::cel) fn contains_cidr(self, other: Self) -> bool {
        self.bits <= other.bits && self.contains(other.address)
    }
}
