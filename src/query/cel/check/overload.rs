//! The resolution of a call: the declared functions that accept the types of its arguments.

use std::cell::OnceCell;

use crate::query::cel::functions::{DECLARATIONS, Overload, parse_signature};
use crate::query::cel::types::{Substitution, Type};

/// The overloads that a call may use, and the type of its result.
pub(super) struct Resolution {
    /// The name of the function.
    pub(super) name: &'static str,
    pub(super) overloads: Vec<Overload>,
    pub(super) result: Type,
}

/// A failure to resolve a call.
pub(super) enum Unresolved {
    /// There is no function of this name; the other style, with or without a target, may have one.
    Name { is_in_other_style: bool },
    /// No overload has this number of arguments; these numbers exist, without the target.
    Count(Vec<usize>),
    /// No overload accepts these types.
    Types,
}

/// Resolves a call with the target as the first argument, if it has one.
pub(super) fn resolve(name: &str, is_member: bool, arguments: &[Type]) -> Result<Resolution, Unresolved> {
    let named = || DECLARATIONS.iter().copied().flatten().filter(|declaration| declaration.name == name);
    let in_style: Vec<Overload> = named()
        .filter(|declaration| declaration.is_member == is_member)
        .map(|declaration| parse_signature(declaration.signature, declaration.call))
        .collect();
    if in_style.is_empty() {
        return Err(Unresolved::Name { is_in_other_style: named().next().is_some() });
    }
    let mut counts: Vec<usize> =
        in_style.iter().map(|overload| overload.arguments.len() - usize::from(is_member)).collect();
    let with_count: Vec<Overload> =
        in_style.into_iter().filter(|overload| overload.arguments.len() == arguments.len()).collect();
    if with_count.is_empty() {
        counts.sort_unstable();
        counts.dedup();
        return Err(Unresolved::Count(counts));
    }
    let result = OnceCell::new();
    let mut is_dynamic = false;
    let overloads: Vec<Overload> = with_count
        .into_iter()
        .filter(|overload| {
            let mut substitution = Substitution::default();
            let accepted = overload.arguments.iter().zip(arguments);
            let accepts = accepted
                .fold(true, |accepts, (expected, actual)| accepts && substitution.accepts(expected, actual));
            if accepts {
                let own = substitution.apply(&overload.result);
                is_dynamic |= *result.get_or_init(|| own.clone()) != own;
            }
            accepts
        })
        .collect();
    let name = named().next().map_or("", |declaration| declaration.name);
    match result.into_inner() {
        None => Err(Unresolved::Types),
        Some(_) if is_dynamic => Ok(Resolution { name, overloads, result: Type::Dyn }),
        Some(result) => Ok(Resolution { name, overloads, result }),
    }
}
