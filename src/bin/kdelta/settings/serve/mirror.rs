//! The settings of `kdelta serve --follow`.

use crate::args::{ServeArgs, WatchedObjectsArgs};
use crate::settings::UsageError;
use crate::settings::by::By;
use crate::settings::environment::Environment;
use crate::settings::record::{Redacted, with_events};
use crate::settings::selection::Selection;
use crate::settings::usage::first_flag;

/// A live mirror of the selected objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    pub(crate) selection: Selection,
    pub(crate) by: Vec<By>,
    pub(crate) ignore_not_found: bool,
    /// The values to redact. The key is new in each run.
    pub(crate) redacted: Redacted,
}

impl Mirror {
    pub(in crate::settings) fn read(
        args: &WatchedObjectsArgs,
        selection: Selection,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        if !selection.filter.of_changes().is_empty() {
            return Err(UsageError::MirroredChanges);
        }
        let by = By::parse_all(&args.index.by)?;
        Ok(Self {
            selection: with_events(selection).with_conditions(&by),
            by,
            ignore_not_found: args.ignore_not_found,
            redacted: Redacted::read(args.secrets, &args.redact, environment)?,
        })
    }
}

/// Rejects a selection of objects without a mirror.
pub(super) fn check_unused(args: &ServeArgs) -> Result<(), UsageError> {
    let WatchedObjectsArgs { select, index, redact, secrets, .. } = &args.objects;
    let flags = [
        (!select.resources.is_empty(), "RESOURCE"),
        (select.all_kinds, "--all-kinds"),
        (select.namespace_selector.is_some(), "--namespace-selector"),
        (!select.selector.is_empty(), "--selector"),
        (select.field_selector.is_some(), "--field-selector"),
        (select.filter.is_given(), "a filter"),
        (!index.by.is_empty(), "--by"),
        (!redact.is_empty(), "--redact"),
        (secrets.is_some(), "--secrets"),
    ];
    match first_flag(flags).filter(|_| !args.follow) {
        Some(flag) => Err(UsageError::NeedsFollow(flag)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kdelta::recording::SecretValues;

    use super::*;
    use crate::args::Cli;
    use crate::settings::{Target, Task, Types};

    fn read(line: &str) -> Result<Mirror, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        match Task::read(&cli.command, cli.connection.namespace.as_deref(), &Environment::default())? {
            Task::Mirror(mirror) => Ok(*mirror),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn secrets_are_redacted_unless_they_are_kept() {
        let secrets = |line: &str| read(line).expect("a mirror").redacted.secrets;
        assert_eq!(secrets("serve --follow secrets"), SecretValues::Hash);
        assert_eq!(secrets("serve --follow secrets --secrets keep"), SecretValues::Keep);
        let mirror = read("serve --follow cm --redact data --ignore-not-found").expect("a mirror");
        assert_eq!((mirror.redacted.paths.len(), mirror.ignore_not_found), (1, true));
    }

    #[test]
    fn types_are_those_of_a_recorder() {
        let mirror = read("serve --follow --all-kinds -A").expect("a mirror");
        let types: Vec<_> = mirror.selection.targets.into_iter().map(|target| target.types).collect();
        assert_eq!(types, [Types::All, Target::events().types]);
        assert_eq!(read("serve --follow"), Err(UsageError::NoResource));
        assert_eq!(read("serve --follow po --where old==null"), Err(UsageError::MirroredChanges));
    }
}
