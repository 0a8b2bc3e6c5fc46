//! The flag that an error about conflicting flags names.

/// Returns the first flag that was given.
pub(in crate::settings) fn first_flag<const N: usize>(
    flags: [(bool, &'static str); N],
) -> Option<&'static str> {
    flags.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag)
}
