//! IP addresses and CIDRs.

use std::net::IpAddr;

use super::declaration::{Declaration, MISMATCH, global, invalid, member, quoted};
use crate::query::cel::error::CelError;
use crate::query::cel::kubernetes::{
    Cidr, is_global_unicast, is_link_local_multicast, is_link_local_unicast, parse_ip,
};
use crate::query::cel::value::{Outcome, Value};

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("ip", "string -> ip", |_, arguments| {
        with_text(arguments, |text| parse_ip(text).map(Value::Ip).ok_or_else(|| not_an_ip(text)))
    }),
    global("isIP", "string -> bool", |_, arguments| {
        with_text(arguments, |text| Ok(Value::Bool(parse_ip(text).is_some())))
    }),
    global("ip.isCanonical", "string -> bool", |_, arguments| {
        with_text(arguments, |text| {
            let address = parse_ip(text).ok_or_else(|| not_an_ip(text))?;
            Ok(Value::Bool(address.to_string() == text))
        })
    }),
    global("string", "ip -> string", |budget, arguments| match arguments {
        [Value::Ip(address)] => Value::made_text(address.to_string(), budget),
        _ => Err(MISMATCH),
    }),
    member("family", "ip -> int", |_, arguments| {
        with_ip(arguments, |address| Value::Int(if address.is_ipv4() { 4 } else { 6 }))
    }),
    member("isUnspecified", "ip -> bool", |_, arguments| {
        with_ip(arguments, |address| Value::Bool(address.is_unspecified()))
    }),
    member("isLoopback", "ip -> bool", |_, arguments| {
        with_ip(arguments, |address| Value::Bool(address.is_loopback()))
    }),
    member("isLinkLocalMulticast", "ip -> bool", |_, arguments| {
        with_ip(arguments, |address| Value::Bool(is_link_local_multicast(address)))
    }),
    member("isLinkLocalUnicast", "ip -> bool", |_, arguments| {
        with_ip(arguments, |address| Value::Bool(is_link_local_unicast(address)))
    }),
    member("isGlobalUnicast", "ip -> bool", |_, arguments| {
        with_ip(arguments, |address| Value::Bool(is_global_unicast(address)))
    }),
    global("cidr", "string -> cidr", |_, arguments| {
        with_text(arguments, |text| Cidr::parse(text).map(Value::Cidr).ok_or_else(|| not_a_cidr(text)))
    }),
    global("isCIDR", "string -> bool", |_, arguments| {
        with_text(arguments, |text| Ok(Value::Bool(Cidr::parse(text).is_some())))
    }),
    global("string", "cidr -> string", |budget, arguments| match arguments {
        [Value::Cidr(cidr)] => Value::made_text(format!("{}/{}", cidr.address, cidr.bits), budget),
        _ => Err(MISMATCH),
    }),
    member("containsIP", "cidr, string -> bool", |_, arguments| match arguments {
        [Value::Cidr(cidr), Value::Text(text)] => {
            let address = parse_ip(text).ok_or_else(|| not_an_ip(text))?;
            Ok(Value::Bool(cidr.contains(address)))
        }
        _ => Err(MISMATCH),
    }),
    member("containsIP", "cidr, ip -> bool", |_, arguments| match arguments {
        [Value::Cidr(cidr), Value::Ip(address)] => Ok(Value::Bool(cidr.contains(*address))),
        _ => Err(MISMATCH),
    }),
    member("containsCIDR", "cidr, string -> bool", |_, arguments| match arguments {
        [Value::Cidr(cidr), Value::Text(text)] => {
            let other = Cidr::parse(text).ok_or_else(|| not_a_cidr(text))?;
            Ok(Value::Bool(cidr.contains_cidr(other)))
        }
        _ => Err(MISMATCH),
    }),
    member("containsCIDR", "cidr, cidr -> bool", |_, arguments| match arguments {
        [Value::Cidr(cidr), Value::Cidr(other)] => Ok(Value::Bool(cidr.contains_cidr(*other))),
        _ => Err(MISMATCH),
    }),
    member("ip", "cidr -> ip", |_, arguments| with_cidr(arguments, |cidr| Value::Ip(cidr.address))),
    member("prefixLength", "cidr -> int", |_, arguments| {
        with_cidr(arguments, |cidr| Value::Int(i64::from(cidr.bits)))
    }),
    member("masked", "cidr -> cidr", |_, arguments| with_cidr(arguments, |cidr| Value::Cidr(cidr.masked()))),
];

fn with_text<'a>(arguments: &[Value<'a>], call: impl FnOnce(&str) -> Outcome<'a>) -> Outcome<'a> {
    match arguments {
        [Value::Text(text)] => call(text),
        _ => Err(MISMATCH),
    }
}

fn with_ip<'a>(arguments: &[Value<'a>], call: fn(IpAddr) -> Value<'static>) -> Outcome<'a> {
    match arguments {
        [Value::Ip(address)] => Ok(call(*address)),
        _ => Err(MISMATCH),
    }
}

fn with_cidr<'a>(arguments: &[Value<'a>], call: fn(Cidr) -> Value<'static>) -> Outcome<'a> {
    match arguments {
        [Value::Cidr(cidr)] => Ok(call(*cidr)),
        _ => Err(MISMATCH),
    }
}

fn not_an_ip(text: &str) -> CelError {
    invalid(format!("{} is no IP address", quoted(text)))
}

fn not_a_cidr(text: &str) -> CelError {
    invalid(format!("{} is no CIDR", quoted(text)))
}
