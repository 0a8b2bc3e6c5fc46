//! The defaults that apply to a command line.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::default_value::DefaultValue;
use super::error::Origin;
use super::key::flags_of;
use super::policy::yields_to;
use crate::settings::environment::Environment;

/// The flags that the user typed.
pub(super) struct TypedFlags<'a> {
    pub(super) matches: &'a ArgMatches,
    /// Switches that are set to false.
    pub(super) off: Vec<String>,
    /// The command with its flags.
    pub(super) command: &'a Command,
}

impl TypedFlags<'_> {
    fn contains(&self, arg: &Arg) -> bool {
        self.matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
            || arg.get_long().is_some_and(|long| self.off.iter().any(|off| off == long))
    }

    /// Whether a flag was typed that takes the place of this one.
    fn excludes(&self, arg: &Arg, flag: &str) -> bool {
        let conflicts = |one, other| self.command.get_arg_conflicts_with(one).contains(&other);
        flags_of(self.command).filter(|other| self.contains(other)).any(|other| {
            other == arg
                || yields_to(flag).iter().any(|name| other.get_long() == Some(name))
                || conflicts(arg, other)
                || conflicts(other, arg)
        })
    }
}

/// Selects the defaults of a command that do not yield to typed flags, to variables of other programs or to defaults of
/// higher precedence. The lowest precedence is first.
pub(super) fn choose(
    defaults: Vec<DefaultValue>,
    path: &str,
    typed: &TypedFlags<'_>,
    environment: &Environment,
) -> Vec<DefaultValue> {
    let arg = |flag: &str| flags_of(typed.command).find(|arg| arg.get_long() == Some(flag));
    let applies = |default: &DefaultValue| {
        arg(&default.flag)
            .is_some_and(|arg| default.applies_to(path, arg) && !typed.excludes(arg, &default.flag))
            && !has_older_variable(default, environment)
    };
    let mut chosen: Vec<DefaultValue> = defaults.into_iter().filter(applies).collect();
    chosen.sort_by_key(DefaultValue::rank);
    let yields = |place: usize| {
        let DefaultValue { flag, .. } = &chosen[place];
        let rank = chosen[place].rank();
        let mut others = chosen.iter().filter(|other| other.rank() > rank);
        others.any(|other| other.flag == *flag || yields_to(flag).contains(&other.flag.as_str()))
    };
    let keep: Vec<bool> = (0..chosen.len()).map(|place| !yields(place)).collect();
    let mut keep = keep.into_iter();
    chosen.retain(|_| keep.next().unwrap_or_default());
    chosen
}

/// Whether a variable that is older than the file decides: variables take precedence over the file.
fn has_older_variable(default: &DefaultValue, environment: &Environment) -> bool {
    matches!(default.origin, Origin::File { .. })
        && match default.flag.as_str() {
            "cache-dir" => environment.kdelta_cache_dir.is_some(),
            "kubeconfig" => environment.config.kubeconfig_env.is_some(),
            "list-mode" => environment.watch_list_client.is_some(),
            _ => false,
        }
}
