//! URLs, as Go's `net/url` parses them.

use super::declaration::{Declaration, MISMATCH, global, invalid, member, quoted};
use crate::query::cel::kubernetes::{Url, is_url, pairs};
use crate::query::cel::value::{Outcome, Value};

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("url", "string -> url", |budget, arguments| match arguments {
        [Value::Text(text)] => {
            budget.allocate(text.len())?;
            let url = Url::parse(text).ok_or_else(|| invalid(format!("{} is no URL", quoted(text))))?;
            Ok(Value::Url(url.into()))
        }
        _ => Err(MISMATCH),
    }),
    global("isURL", "string -> bool", |budget, arguments| match arguments {
        [Value::Text(text)] => {
            budget.allocate(text.len())?;
            Ok(Value::Bool(is_url(text)))
        }
        _ => Err(MISMATCH),
    }),
    member("getScheme", "url -> string", |budget, arguments| match arguments {
        [Value::Url(url)] => Value::made_text(url.scheme.clone(), budget),
        _ => Err(MISMATCH),
    }),
    member("getHost", "url -> string", |budget, arguments| match arguments {
        [Value::Url(url)] => Value::made_text(url.host.clone(), budget),
        _ => Err(MISMATCH),
    }),
    member("getHostname", "url -> string", |budget, arguments| match arguments {
        [Value::Url(url)] => Value::made_text(url.host_and_port().0.to_owned(), budget),
        _ => Err(MISMATCH),
    }),
    member("getPort", "url -> string", |budget, arguments| match arguments {
        [Value::Url(url)] => Value::made_text(url.host_and_port().1.to_owned(), budget),
        _ => Err(MISMATCH),
    }),
    member("getEscapedPath", "url -> string", |budget, arguments| match arguments {
        [Value::Url(url)] => Value::made_text(url.escaped_path(), budget),
        _ => Err(MISMATCH),
    }),
    member("getQuery", "url -> map<string, list<string>>", |budget, arguments| {
        let [Value::Url(url)] = arguments else { return Err(MISMATCH) };
        budget.allocate(url.query.len())?;
        let mut entries: Vec<(String, Vec<Value<'_>>)> = Vec::new();
        for (key, value) in pairs(&url.query) {
            budget.charge(1 + entries.len() as u64)?;
            let value = Value::made_text(value, budget)?;
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => entries.push((key, vec![value])),
            }
        }
        query(entries, budget)
    }),
];

fn query<'a>(
    entries: Vec<(String, Vec<Value<'a>>)>,
    budget: &mut crate::query::cel::budget::Budget,
) -> Outcome<'a> {
    let mut made = Vec::new();
    for (key, values) in entries {
        made.push((Value::made_text(key, budget)?, Value::made_list(values)));
    }
    Ok(Value::Map(made.into()))
}
