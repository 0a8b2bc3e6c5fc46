//! The output of `get`: a finite sequence of objects.

use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, Object};
use kdelta::query::CustomColumns;

use super::delimited::{DelimitedFormat, DelimitedRows};
use super::jq::JqResults;
use super::json::{self, JsonList};
use super::name::Names;
use super::table::{Extent, NameAgeTable, Table, write_row};
use super::template::{ColumnRows, Engine, PrintError, TemplateListing};
use super::yaml::kyaml::{self, KyamlList};
use super::yaml::{self, YamlDocuments, YamlList};
use crate::view::{Age, Cells, Layout};

/// A listing in one of the formats. Only the table keeps more than one object, as text.
pub(crate) enum Listing {
    /// The server's cells, grouped by resource.
    Table(Box<Table>),
    /// Names and ages, grouped by resource.
    NameAge(NameAgeTable),
    /// The same as CSV or Markdown.
    Delimited(Box<DelimitedRows>),
    /// A `List`.
    Json(JsonList),
    /// A single object, requested by name.
    JsonSingle {
        /// Whether a terminal displays it.
        for_terminal: bool,
    },
    /// A `List`.
    Yaml(YamlList),
    /// A single object.
    YamlSingle(YamlDocuments),
    /// A `List`.
    Kyaml(KyamlList),
    /// A single object.
    KyamlSingle,
    /// `pod/x`.
    Names(Names),
    /// By a template of the user.
    Template(Box<TemplateListing>),
    /// The columns of the user.
    Columns(Box<ColumnRows>),
    /// The results of an expression.
    Jq(Box<JqResults>),
}

/// An object of a listing.
#[derive(Clone, Copy)]
pub(crate) struct ListedObject<'a> {
    pub(crate) object: &'a Arc<Object>,
    pub(crate) resource: &'a Arc<ApiResource>,
    /// The name of the object's context.
    pub(crate) context: &'a Arc<str>,
    pub(crate) age: Age,
}

/// The format of items whose texts do not depend on each other, so that several threads can write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemFormat {
    /// JSON, for a terminal or not.
    Json { for_terminal: bool },
    /// YAML, for a terminal or not.
    Yaml { for_terminal: bool },
}

/// The length of indented JSON, as a multiple of that of the stored texts. That of most objects is less.
const INDENTED_LEN: usize = 3;

impl ItemFormat {
    /// Returns the text of items, at least one, for [`Listing::items`].
    pub(crate) fn text_of(self, objects: &[Arc<Object>]) -> Vec<u8> {
        match self {
            Self::Json { for_terminal } => {
                let weight: usize = objects.iter().map(|object| object.weight()).sum();
                let mut text = Vec::with_capacity(INDENTED_LEN * weight);
                for object in objects {
                    json::push_item(object, for_terminal, &mut text);
                }
                text
            }
            Self::Yaml { for_terminal } => {
                let mut text = String::new();
                for object in objects {
                    yaml::push_item(object, for_terminal, &mut text);
                }
                text.into_bytes()
            }
        }
    }
}

impl Listing {
    /// Returns the format of items that can be written apart.
    pub(crate) fn item_format(&self) -> Option<ItemFormat> {
        match self {
            Self::Json(list) => Some(ItemFormat::Json { for_terminal: list.is_for_terminal() }),
            Self::Yaml(list) => Some(ItemFormat::Yaml { for_terminal: list.is_for_terminal() }),
            _ => None,
        }
    }

    /// Writes the text of items in the format of [`Listing::item_format`].
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn items(&mut self, text: &[u8], out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Json(list) => list.items(text, out),
            Self::Yaml(list) => list.items(text, out),
            _ => Err(io::Error::other("items of this format can't be written apart")),
        }
    }

    /// Creates a table, with a header if `headers`, and abnormal cells coloured if `colour`.
    pub(crate) fn table(layout: Layout, headers: bool, colour: bool) -> Self {
        Self::Table(Box::new(Table::new(layout, headers, Extent::Finite, colour)))
    }

    /// Creates a table of names and ages. `may_have_several` is whether the names of objects get the prefix of their type
    /// once there are several types.
    pub(crate) fn name_age(layout: Layout, headers: bool, may_have_several: bool) -> Self {
        let table = Table::new(layout, headers, Extent::Finite, false);
        Self::NameAge(NameAgeTable::new(table, may_have_several))
    }

    /// Creates CSV or Markdown, with headers if `headers`.
    pub(crate) fn delimited(format: DelimitedFormat, layout: Layout, headers: bool) -> Self {
        Self::Delimited(Box::new(DelimitedRows::new(format, layout, headers)))
    }

    /// Creates JSON output. `single` is whether exactly one type and name were requested, `for_terminal` whether a
    /// terminal displays it.
    pub(crate) fn json(single: bool, for_terminal: bool) -> Self {
        if single { Self::JsonSingle { for_terminal } } else { Self::Json(JsonList::new(for_terminal)) }
    }

    /// Creates YAML output; the parameters are those of JSON.
    pub(crate) fn yaml(single: bool, for_terminal: bool) -> Self {
        if single {
            Self::YamlSingle(YamlDocuments::new(for_terminal))
        } else {
            Self::Yaml(YamlList::new(for_terminal))
        }
    }

    /// Creates KYAML output; `single` is whether exactly one type and name were requested. It is safe on terminals.
    pub(crate) fn kyaml(single: bool) -> Self {
        if single { Self::KyamlSingle } else { Self::Kyaml(KyamlList::default()) }
    }

    /// Creates name output.
    pub(crate) fn names() -> Self {
        Self::Names(Names::default())
    }

    /// Creates output by a template; the parameters are those of JSON.
    pub(crate) fn template(engine: Engine, single: bool, for_terminal: bool) -> Self {
        Self::Template(Box::new(TemplateListing::new(engine, single, for_terminal)))
    }

    /// Creates custom columns; `for_terminal` is whether a terminal displays them.
    pub(crate) fn custom_columns(columns: &CustomColumns, for_terminal: bool) -> Self {
        Self::Columns(Box::new(ColumnRows::new(columns, for_terminal)))
    }

    /// Writes one object. Output may be buffered until [`Listing::finish`].
    ///
    /// # Errors
    /// The template does not fit the object, or `out` failed.
    pub(crate) fn item(&mut self, item: ListedObject<'_>, out: &mut impl Write) -> Result<(), PrintError> {
        match self {
            Self::Template(listing) => return listing.item(item.object, out),
            Self::Columns(rows) => return rows.row(item.object, out),
            Self::Jq(results) => return results.object(item.object, item.resource, out),
            _ => {}
        }
        Ok(self.write_item(item, out)?)
    }

    /// Writes one object in a format of its own.
    fn write_item(&mut self, item: ListedObject<'_>, out: &mut impl Write) -> io::Result<()> {
        let ListedObject { object, resource, context, age } = item;
        match self {
            Self::Table(table) => write_row(table, object, (resource, context), age, out),
            Self::NameAge(rows) => rows.row(object, resource, context, age, out),
            Self::Delimited(rows) => {
                if rows.layout().shows_namespace(resource) {
                    rows.keep_namespace_column();
                }
                let line = rows.layout().line(object, (resource, context), None, age, Cells::default());
                rows.line(&line, out)
            }
            Self::Json(list) => list.item(object, out),
            Self::JsonSingle { for_terminal } => json::document(object, *for_terminal, out),
            Self::Yaml(list) => list.item(object, out),
            Self::YamlSingle(documents) => documents.document(object, out),
            Self::Kyaml(list) => list.item(object, out),
            Self::KyamlSingle => kyaml::document(object, out),
            Self::Names(names) => names.name(object, resource, out),
            Self::Template(_) | Self::Columns(_) | Self::Jq(_) => Ok(()),
        }
    }

    /// Records that the objects of a type were received, even if there are none.
    pub(crate) fn listed(&mut self, resource: &Arc<ApiResource>) {
        if let Self::Table(table) = self {
            table.listed(resource);
        }
    }

    /// Writes the rest. Must not be called to print nothing: a `List` is written even if it is empty.
    ///
    /// # Errors
    /// As [`Listing::item`].
    pub(crate) fn finish(self, out: &mut impl Write) -> Result<(), PrintError> {
        match self {
            Self::Table(mut table) => table.flush(out)?,
            Self::NameAge(rows) => rows.finish(out)?,
            Self::Json(list) => list.finish(out)?,
            Self::Yaml(list) => list.finish(out)?,
            Self::Kyaml(list) => list.finish(out)?,
            Self::Delimited(_)
            | Self::JsonSingle { .. }
            | Self::YamlSingle(_)
            | Self::KyamlSingle
            | Self::Names(_) => {
                out.flush()?;
            }
            Self::Template(listing) => listing.finish(out)?,
            Self::Columns(rows) => rows.finish(out)?,
            Self::Jq(results) => results.finish(out)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kdelta::object::Ingest;

    use super::*;
    use crate::view::NamespaceColumn;

    fn listed(mut listing: Listing, names: &[&str]) -> String {
        let pods = Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        });
        let (mut out, age) = (Vec::new(), Age::AsSent { now: jiff::Timestamp::UNIX_EPOCH });
        for name in names {
            let json = format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop"}}}}"#);
            let object = Object::from_json(json.as_bytes(), &Ingest::of(pods.type_meta())).expect("a pod");
            let (object, context) = (&Arc::new(object), &"".into());
            let item = ListedObject { object, resource: &pods, context, age };
            listing.item(item, &mut out).expect("a Vec takes all");
        }
        listing.finish(&mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn table_with_lines_has_header() {
        assert_eq!(listed(Listing::table(Layout::default(), true, false), &[]), "");
        assert_eq!(
            listed(
                Listing::table(
                    Layout { namespace: NamespaceColumn::Namespaced, ..Layout::default() },
                    true,
                    false
                ),
                &["a", "longer"]
            ),
            "NAMESPACE   NAME     AGE\nshop        a        <unknown>\nshop        longer   <unknown>\n"
        );
        assert_eq!(listed(Listing::table(Layout::default(), false, false), &["a"]), "a     <unknown>\n");
    }

    // kubectl get namespaces,pods,nodes -A
    #[test]
    fn namespace_column_is_kept() {
        let resource = |plural: &str, namespaced| {
            Arc::new(ApiResource {
                group: String::new(),
                version: "v1".into(),
                resource: plural.into(),
                kind: "X".into(),
                namespaced,
            })
        };
        let layout = Layout { namespace: NamespaceColumn::Namespaced, ..Layout::default() };
        let (mut listing, mut out) = (Listing::table(layout, true, false), Vec::new());
        for (plural, namespace) in [("namespaces", ""), ("pods", "shop"), ("nodes", "")] {
            let resource = resource(plural, !namespace.is_empty());
            let object = Arc::new(Object::named(resource.type_meta(), namespace, "x"));
            let age = Age::AsSent { now: jiff::Timestamp::UNIX_EPOCH };
            let item = ListedObject { object: &object, resource: &resource, context: &"".into(), age };
            listing.item(item, &mut out).expect("a Vec takes all");
        }
        listing.finish(&mut out).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "NAME   AGE\nx      <unknown>\n\nNAMESPACE   NAME   AGE\nshop        x      <unknown>\n\nNAMESPACE   NAME   AGE\n            x      <unknown>\n"
        );
    }

    #[test]
    fn one_name_gives_a_bare_object_and_anything_else_a_list() {
        assert!(listed(Listing::json(true, false), &["a"]).contains("\n    \"kind\": \"Pod\",\n"));
        assert!(listed(Listing::json(false, false), &["a"]).contains("\n    \"kind\": \"List\",\n"));
        assert!(listed(Listing::yaml(true, false), &["a"]).starts_with("apiVersion: v1\nkind: Pod\n"));
        assert!(
            listed(Listing::yaml(false, false), &["a"])
                .starts_with("apiVersion: v1\nitems:\n- apiVersion: v1\n")
        );
    }

    #[test]
    fn names_are_one_per_line() {
        assert_eq!(listed(Listing::names(), &["a", "b"]), "pod/a\npod/b\n");
        assert_eq!(listed(Listing::names(), &[]), "");
    }
}
