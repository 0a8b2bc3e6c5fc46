//! `index`, `slice`, `len`, and kubectl's `exists`.

use crate::query::go_template::value::{Data, List, Value};

/// Returns the element at the end of a path of indexes and keys.
pub(super) fn index<'a>(item: &Value<'a>, path: &[Value<'a>]) -> Result<Value<'a>, String> {
    let mut item = item.clone();
    if matches!(item.data, Data::Nil) {
        return Err("index of untyped nil".to_owned());
    }
    item = item.unwrapped();
    for key in path {
        item = element(&item, key)?;
    }
    Ok(item)
}

fn element<'a>(item: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>, String> {
    match &item.data {
        Data::Nil => Err("index of nil pointer".to_owned()),
        Data::List(list) => {
            let at = position(key, list.len)?;
            let element = list.items().get(at).ok_or("reflect: slice index out of range")?;
            Ok(Value::element(element))
        }
        Data::Text(text) => {
            let at = position(key, text.bytes().len())?;
            let byte = text.bytes().get(at).ok_or("reflect: string index out of range")?;
            Ok(Value::of(Data::Byte(*byte)))
        }
        Data::Map(members) => match &key.data {
            Data::Text(key) => {
                let found = members.binary_search_by(|(name, _)| name.as_bytes().cmp(key.bytes()));
                Ok(found.map_or_else(|_| Value::nil_interface(), |at| Value::element(&members[at].1)))
            }
            Data::Nil => Err("value is nil; should be of type string".to_owned()),
            data => Err(format!("value has type {}; should be string", data.type_name())),
        },
        data => Err(format!("can't index item of type {}", data.type_name())),
    }
}

/// Returns a position up to and including `limit`.
fn position(index: &Value<'_>, limit: usize) -> Result<usize, String> {
    let number = match &index.data {
        Data::Int(number) | Data::Int64(number) => *number,
        Data::Byte(number) => (*number).into(),
        Data::Nil => return Err("cannot index slice/array with nil".to_owned()),
        data => return Err(format!("cannot index slice/array with type {}", data.type_name())),
    };
    match usize::try_from(number) {
        Ok(at) if at <= limit => Ok(at),
        _ => Err(format!("index out of range: {number}")),
    }
}

/// Returns a part of a string or array. The capacity of an array that was not sliced is its length; Go's may be larger.
pub(super) fn slice<'a>(item: &Value<'a>, indexes: &[Value<'a>]) -> Result<Value<'a>, String> {
    if matches!(item.data, Data::Nil) {
        return Err("slice of untyped nil".to_owned());
    }
    if indexes.len() > 3 {
        return Err(format!("too many slice indexes: {}", indexes.len()));
    }
    let (length, capacity) = match &item.data {
        Data::Text(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".to_owned()),
        Data::Text(text) => (text.bytes().len(), text.bytes().len()),
        Data::List(list) => (list.len, list.elements.len()),
        data => return Err(format!("can't slice item of type {}", data.type_name())),
    };
    let mut bounds = [0, length, capacity];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        // Unlike `index`, Go does not look into an interface here.
        if index.is_interface {
            return Err(format!("cannot index slice/array with type {}", index.type_name()));
        }
        *bound = position(index, capacity)?;
    }
    let [start, end, limit] = bounds;
    let used = if indexes.len() < 3 { &bounds[..2] } else { &bounds[..] };
    if let Some((from, to)) = used.iter().zip(&used[1..]).find(|(from, to)| from > to) {
        return Err(format!("invalid slice index: {from} > {to}"));
    }
    Ok(Value::of(match &item.data {
        Data::List(list) => Data::List(List { elements: &list.elements[start..limit], len: end - start }),
        Data::Text(text) => Data::Text(text.slice(start..end)),
        other => other.clone(),
    }))
}

pub(super) fn len<'a>(item: &Value<'a>) -> Result<Value<'a>, String> {
    match &item.data {
        Data::Nil if item.is_interface => Err("len of nil pointer".to_owned()),
        Data::Nil => Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        Data::Text(text) => Ok(Value::length(text.bytes().len())),
        Data::List(list) => Ok(Value::length(list.len)),
        Data::Map(members) => Ok(Value::length(members.len())),
        data => Err(format!("len of type {}", data.type_name())),
    }
}

/// Returns whether `index` would find a value that is not null.
pub(super) fn exists<'a>(item: &Value<'a>, path: &[Value<'a>]) -> bool {
    // Without a path, Go takes nil as existing.
    let mut item = item.clone().unwrapped();
    for key in path {
        let is_position = matches!(key.data, Data::Int(_) | Data::Int64(_) | Data::Byte(_));
        item = match (&item.data, &key.data) {
            // A key that is nil is the zero value of a key.
            (Data::Map(_), Data::Nil) => match element(&item, &Value::borrowed(b"")) {
                Ok(element) => element,
                Err(_) => return false,
            },
            (Data::List(_) | Data::Text(_), _) if !is_position => return false,
            _ => match element(&item, key) {
                Ok(element) => element,
                Err(_) => return false,
            },
        };
    }
    !item.is_nil_interface()
}
