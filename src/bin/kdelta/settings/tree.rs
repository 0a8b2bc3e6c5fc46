//! The validated arguments of `kdelta tree`.

use std::time::Duration;

use super::filter::ObjectFilter;
use super::namespaces::Namespaces;
use super::selection::Selection;
use super::targets::{Target, Types};
use super::{UsageError, duration};
use crate::args::{BusyType, OneShotArgs, PlanForm, TreeArgs};

/// The `-o` values of `kdelta tree`.
pub(crate) const TREE_FORMATS: &str = "dot,json,kyaml,mermaid,name,yaml";

/// `kdelta tree`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Tree {
    /// The objects around which trees are built.
    pub(crate) selection: Selection,
    /// The number of levels below a selected object; `None` for all.
    pub(crate) depth: Option<usize>,
    pub(crate) format: TreeFormat,
    pub(crate) headers: bool,
    /// Whether an empty result is a failure.
    pub(crate) fail_if_empty: bool,
    /// Whether statistics are printed.
    pub(crate) stats: bool,
    /// The form of the plan that is printed in place of a tree.
    pub(crate) explain: Option<PlanForm>,
    /// Whether related objects are added.
    pub(crate) related: bool,
    /// Whether the tree is kept up to date.
    pub(crate) watch: bool,
    /// The time after which a watch ends.
    pub(crate) duration: Option<Duration>,
    /// The words for types that trees otherwise leave out.
    busy_types: Vec<&'static str>,
}

/// The `-o` value of `kdelta tree`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeFormat {
    Table,
    Json,
    Yaml,
    Kyaml,
    Name,
    Dot,
    Mermaid,
}

impl TreeFormat {
    fn read(text: &str) -> Result<Self, UsageError> {
        Ok(match text.to_lowercase().as_str() {
            "" => Self::Table,
            "json" => Self::Json,
            "yaml" => Self::Yaml,
            "kyaml" => Self::Kyaml,
            "name" => Self::Name,
            "dot" => Self::Dot,
            "mermaid" => Self::Mermaid,
            _ => {
                return Err(UsageError::OutputFormat { format: text.to_owned(), allowed: TREE_FORMATS });
            }
        })
    }
}

impl Tree {
    pub(super) fn read(args: &TreeArgs, selection: Selection) -> Result<Self, UsageError> {
        let OneShotArgs { fail_if_empty, stats } = args.one_shot;
        match () {
            () if args.watch && fail_if_empty => return Err(UsageError::WatchIsNeverEmpty),
            () if args.watch && stats => return Err(UsageError::StatsOfAWatch),
            () if !args.watch && args.duration.is_some() => return Err(UsageError::NeedsWatch("duration")),
            () => {}
        }
        let word = |busy: &BusyType| match busy {
            BusyType::Events => "events",
            BusyType::Leases => "leases.coordination.k8s.io",
        };
        Ok(Self {
            selection,
            depth: args.depth.map(|depth| usize::try_from(depth).unwrap_or(usize::MAX)),
            format: TreeFormat::read(args.output.as_deref().unwrap_or_default())?,
            headers: !args.no_headers,
            fail_if_empty,
            stats,
            explain: args.plan.explain,
            related: args.related,
            watch: args.watch,
            duration: args.duration.as_deref().map(duration::parse_seconds).transpose()?,
            busy_types: args.include.iter().map(word).collect(),
        })
    }

    /// Returns the selection of all objects of these namespaces that may belong to a tree. Cluster-scoped types are part of
    /// it if all namespaces are.
    pub(crate) fn candidates(&self, namespaces: Namespaces) -> Selection {
        let words = self.busy_types.iter().map(|word| Types::Word((*word).to_owned()));
        let target = |types| Target { types, names: Vec::new(), patterns: Vec::new() };
        let Selection { cached, page_size, list_mode, .. } = self.selection;
        Selection {
            targets: std::iter::once(Types::All).chain(words).map(target).collect(),
            keeps_repeated_names: false,
            namespaces,
            label_selector: None,
            field_selector: None,
            filter: ObjectFilter::default(),
            required_namespace: None,
            cached,
            page_size,
            list_mode,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::settings::Environment;
    use crate::settings::selection::TargetForm;

    fn read(line: &str) -> Result<Tree, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let Command::Tree(args) = &cli.command else { panic!("{line}") };
        let selection = Selection::read(&args.select, TargetForm::Own, None, &Environment::default())?;
        Tree::read(args, selection)
    }

    #[test]
    fn every_offered_format_is_read() {
        for format in TREE_FORMATS.split(',') {
            assert!(read(&format!("tree deploy/web -o {format}")).is_ok(), "{format}");
        }
        let error = read("tree deploy/web -o wide").expect_err("no such format").to_string();
        assert!(error.ends_with("allowed formats are: dot,json,kyaml,mermaid,name,yaml"), "{error}");
    }

    #[test]
    fn busy_types_are_candidates_on_request() {
        let words = |line: &str| {
            let selection = read(line).expect(line).candidates(Namespaces::All);
            selection.targets.into_iter().map(|target| target.types).collect::<Vec<_>>()
        };
        assert_eq!(words("tree deploy/web"), [Types::All]);
        let word = |word: &str| Types::Word(word.to_owned());
        assert_eq!(
            words("tree deploy/web --include leases,events"),
            [Types::All, word("leases.coordination.k8s.io"), word("events")]
        );
    }

    #[test]
    fn flags_of_a_watch_need_one() {
        let watched = read("tree deploy/web -w --duration 1m").expect("a tree");
        assert_eq!((watched.watch, watched.duration), (true, Some(Duration::from_mins(1))));
        assert_eq!(read("tree deploy/web --duration 1m"), Err(UsageError::NeedsWatch("duration")));
        assert_eq!(read("tree deploy/web -w --fail-if-empty"), Err(UsageError::WatchIsNeverEmpty));
        assert_eq!(read("tree deploy/web -w --stats"), Err(UsageError::StatsOfAWatch));
        assert!(read("tree deploy/web --related -w").expect("a tree").related);
    }

    #[test]
    fn a_tree_needs_a_resource() {
        assert_eq!(read("tree"), Err(UsageError::NoResource));
        assert_eq!(read("tree deploy web --depth 0").expect("a tree").depth, Some(0));
    }
}
