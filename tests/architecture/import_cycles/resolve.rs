//! Resolution of paths to the files that define their items. A re-export is followed to the file of the item.

use std::collections::BTreeMap;

use super::Edges;
use super::modules::{Crate, Module};

/// A limit for re-exports that name each other.
const MAX_STEPS: usize = 32;

/// The target of a path.
enum PathTarget {
    Module(Vec<String>),
    /// An item of this file.
    Item(String),
}

/// Returns the imports between the files of a crate.
pub(super) fn edges(all: &Crate) -> Edges {
    let mut edges = Edges::new();
    for (at, module) in &all.modules {
        let from: &mut BTreeMap<String, String> = edges.entry(module.file.clone()).or_default();
        // A re-export that the file does not use itself is no import of its own.
        let imported =
            module.imports.iter().filter(|import| !import.is_exported || module.names.contains(&import.name));
        let imported = imported.map(|import| &import.path);
        for path in imported.chain(&module.paths) {
            if let Some(PathTarget::Item(file)) = all.resolve(at, path, MAX_STEPS)
                && file != module.file
            {
                from.entry(file).or_insert_with(|| path.join("::"));
            }
        }
        for path in &module.globs {
            if let Some(PathTarget::Module(to)) = all.resolve(at, path, MAX_STEPS)
                && all.modules[&to].file != module.file
            {
                from.entry(all.modules[&to].file.clone()).or_insert_with(|| path.join("::") + "::*");
            }
        }
    }
    edges
}

impl Crate {
    /// Resolves a path in the code of a module; `None` for an item of another crate.
    fn resolve(&self, at: &[String], path: &[String], steps: usize) -> Option<PathTarget> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => PathTarget::Module(Vec::new()),
            "self" => PathTarget::Module(at.to_vec()),
            "super" => PathTarget::Module(at.split_last()?.1.to_vec()),
            name => self.member(at, name, steps)?,
        };
        let mut found = start;
        for name in rest {
            found = match found {
                PathTarget::Module(path) if name == "super" => {
                    PathTarget::Module(path.split_last()?.1.to_vec())
                }
                PathTarget::Module(path) => self.member(&path, name, steps)?,
                item @ PathTarget::Item(_) => return Some(item),
            };
        }
        Some(found)
    }

    /// Resolves a name in a module.
    fn member(&self, at: &[String], name: &str, steps: usize) -> Option<PathTarget> {
        let steps = steps.checked_sub(1)?;
        let module: &Module = self.modules.get(at)?;
        if module.children.contains(name) {
            let mut child = at.to_vec();
            child.push(name.to_owned());
            return Some(PathTarget::Module(child));
        }
        if module.items.contains(name) {
            return Some(PathTarget::Item(module.file.clone()));
        }
        let mut imports =
            module.imports.iter().filter(|import| import.name == name).map(|import| &import.path);
        // `use name::name` names the other crate, not itself.
        let named = imports.find_map(|path| {
            if path.first().is_some_and(|first| first == name) { None } else { self.resolve(at, path, steps) }
        });
        named.or_else(|| {
            module.globs.iter().find_map(|path| match self.resolve(at, path, steps)? {
                PathTarget::Module(to) if to != at => self.member(&to, name, steps),
                _ => None,
            })
        })
    }
}
