//! The modules of a crate, read from its sources: what each declares and imports, and the paths in its code.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// The modules of a crate by their path from its root, which is the empty path.
pub(super) struct Crate {
    pub(super) modules: BTreeMap<Vec<String>, Module>,
}

/// A module. Test code is left out.
#[derive(Default)]
pub(super) struct Module {
    /// The file with its code.
    pub(super) file: String,
    /// The modules that it declares.
    pub(super) children: BTreeSet<String>,
    /// The other items that it defines.
    pub(super) items: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// The modules of which all names are imported.
    pub(super) globs: Vec<Vec<String>>,
    /// The paths of the code, of at least two segments.
    pub(super) paths: BTreeSet<Vec<String>>,
    /// The first segments of all paths of the code.
    pub(super) names: BTreeSet<String>,
}

/// An imported name.
pub(super) struct Import {
    pub(super) name: String,
    /// The path that it stands for.
    pub(super) path: Vec<String>,
    /// Whether other modules can name it.
    pub(super) is_exported: bool,
}

impl Crate {
    /// Reads a crate from its root file. `read` returns the text of a file if it exists.
    pub(super) fn read(root: &str, read: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut found = Self { modules: BTreeMap::new() };
        let text = read(root).expect("the root file");
        found.add_file(&[], root, "", &text, read);
        found
    }

    /// Adds the modules of a file. `folder` is where the files of its child modules are.
    fn add_file(
        &mut self,
        path: &[String],
        file: &str,
        folder: &str,
        text: &str,
        read: &dyn Fn(&str) -> Option<String>,
    ) {
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut reader = Reader::default();
        file.clone_into(&mut reader.module.file);
        reader.visit_file(&parsed);
        self.add(path, folder, reader, read);
    }

    fn add(&mut self, path: &[String], folder: &str, reader: Reader, read: &dyn Fn(&str) -> Option<String>) {
        let Reader { mut module, declared } = reader;
        let file = module.file.clone();
        for (name, content, other_file) in declared {
            let mut child = path.to_vec();
            child.push(name.clone());
            let below = format!("{folder}{name}/");
            if let Some(items) = content {
                let mut reader = Reader::default();
                reader.module.file.clone_from(&file);
                for item in &items {
                    reader.visit_item(item);
                }
                self.add(&child, &below, reader, read);
            } else if other_file {
                // The file belongs to another crate, whose check covers it.
                continue;
            } else {
                let places = [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")];
                let found = places.iter().find_map(|place| Some((place, read(place)?)));
                let (place, text) = found.unwrap_or_else(|| panic!("{file} declares {name}"));
                self.add_file(&child, place, &below, &text, read);
            }
            module.children.insert(name);
        }
        self.modules.insert(path.to_vec(), module);
    }
}

/// A declared module: its name, its items if they follow, and whether an attribute names its file.
type Declared = (String, Option<Vec<syn::Item>>, bool);

#[derive(Default)]
struct Reader {
    module: Module,
    declared: Vec<Declared>,
}

impl Reader {
    fn read_use(&mut self, tree: &syn::UseTree, path: &mut Vec<String>, is_exported: bool) {
        match tree {
            syn::UseTree::Path(next) => {
                path.push(next.ident.to_string());
                self.read_use(&next.tree, path, is_exported);
                path.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_use(tree, path, is_exported);
                }
            }
            syn::UseTree::Glob(_) => self.module.globs.push(path.clone()),
            syn::UseTree::Name(name) => self.import(path, &name.ident, None, is_exported),
            syn::UseTree::Rename(rename) => {
                self.import(path, &rename.ident, Some(&rename.rename), is_exported);
            }
        }
    }

    fn import(&mut self, path: &[String], name: &syn::Ident, rename: Option<&syn::Ident>, is_exported: bool) {
        let mut path = path.to_vec();
        if name != "self" {
            path.push(name.to_string());
        }
        if let Some(name) = rename.map(ToString::to_string).or_else(|| path.last().cloned()) {
            self.module.imports.push(Import { name, path, is_exported });
        }
    }

    /// Reads the paths in the arguments of a macro: names that `::` joins.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end_path(&mut path);
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                other => {
                    self.end_path(&mut path);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.read_tokens(group.stream());
                    }
                }
            }
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Vec<String>) {
        let path = std::mem::take(path);
        self.module.names.extend(path.first().cloned());
        if path.len() > 1 {
            self.module.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name): (&[syn::Attribute], Option<&syn::Ident>) = match item {
            syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            syn::Item::Impl(item) => (&item.attrs, None),
            syn::Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            syn::Item::Mod(item) => (&item.attrs, None),
            syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Use(item) => (&item.attrs, None),
            _ => (&[], None),
        };
        if attributes.iter().any(is_test_only) {
            return;
        }
        self.module.items.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let content = item.content.as_ref().map(|(_, items)| items.clone());
        let other_file = item.attrs.iter().any(|attribute| attribute.path().is_ident("path"));
        self.declared.push((item.ident.to_string(), content, other_file));
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // `::name` is another crate.
        if item.leading_colon.is_none() {
            let is_exported = !matches!(item.vis, syn::Visibility::Inherited);
            self.read_use(&item.tree, &mut Vec::new(), is_exported);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let is_test = matches!(item, syn::ImplItem::Fn(function) if function.attrs.iter().any(is_test_only));
        if !is_test {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let mut names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.end_path(&mut names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        visit::visit_macro(self, call);
        self.read_tokens(call.tokens.clone());
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

fn is_test_only(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("test")
        || attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}
