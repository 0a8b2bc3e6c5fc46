//! The order of objects: by namespace and name.

use std::sync::Arc;

use crate::object::Object;

/// The length of a prefix. The namespace and the name of most pods are shorter.
const PREFIX_LEN: usize = 40;

/// The bytes of a prefix as numbers in the same order, which are compared faster.
type Prefix = [u64; PREFIX_LEN / 8];

/// A value that belongs to an object.
pub(super) trait HasNames {
    /// Returns the namespace, which is empty for a cluster-scoped object, and the name.
    fn names(&self) -> (&str, &str);
}

impl HasNames for Arc<Object> {
    fn names(&self) -> (&str, &str) {
        (self.namespace(), self.name())
    }
}

/// A value with a prefix of the namespace and name of its object. The prefixes are next to each other in memory and differ
/// in most cases, so that sorting does not read the values themselves.
pub(super) struct WithPrefix<T> {
    /// `None` if the namespace or the name contains a zero byte.
    prefix: Option<Prefix>,
    value: T,
}

impl<T: HasNames> WithPrefix<T> {
    pub(super) fn new(value: T) -> Self {
        let (namespace, name) = value.names();
        Self { prefix: prefix_of(namespace.as_bytes(), name.as_bytes()), value }
    }
}

/// Returns the values in the order of their namespaces and names.
pub(super) fn sorted<T: HasNames>(mut values: Vec<WithPrefix<T>>) -> Vec<T> {
    let have_prefixes = values.iter().all(|value| value.prefix.is_some());
    values.sort_unstable_by(|one, other| {
        let by_names = || one.value.names().cmp(&other.value.names());
        if have_prefixes { one.prefix.cmp(&other.prefix).then_with(by_names) } else { by_names() }
    });
    values.into_iter().map(|with_prefix| with_prefix.value).collect()
}

/// Returns the prefix, with zero bytes after the namespace and at the end.
fn prefix_of(namespace: &[u8], name: &[u8]) -> Option<Prefix> {
    if namespace.contains(&0) || name.contains(&0) {
        return None;
    }
    let mut prefix = [0; PREFIX_LEN];
    let end = namespace.len().min(PREFIX_LEN);
    prefix[..end].copy_from_slice(&namespace[..end]);
    let rest = prefix.get_mut(end + 1..).unwrap_or_default();
    let len = name.len().min(rest.len());
    rest[..len].copy_from_slice(&name[..len]);
    let words = prefix.as_chunks().0;
    Some(std::array::from_fn(|at| u64::from_be_bytes(words[at])))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::TypeMeta;

    proptest! {
        #[test]
        fn objects_are_sorted_by_namespace_and_name(
            names in prop::collection::vec(("[a-b\\-]{0,3}", "[a-b\\-/\0]{1,3}", any::<bool>()), 0..20),
        ) {
            let type_meta = Arc::new(TypeMeta { api_version: "v1".to_owned(), kind: "Pod".to_owned() });
            let long = |name: &String, is_long: bool| if is_long { format!("{}{name}", "a".repeat(50)) } else { name.clone() };
            let objects: Vec<_> = names
                .iter()
                .map(|(namespace, name, is_long)| {
                    WithPrefix::new(Arc::new(Object::named(Arc::clone(&type_meta), namespace, &long(name, *is_long))))
                })
                .collect();
            let names = |object: &Arc<Object>| (object.namespace().to_owned(), object.name().to_owned());
            let mut expected: Vec<_> = objects.iter().map(|named| names(&named.value)).collect();
            expected.sort();
            let sorted: Vec<_> = sorted(objects).iter().map(names).collect();
            prop_assert_eq!(sorted, expected);
        }
    }
}
