//! The rows of objects that were requested without the server's columns (`--server-print=false`).

use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, Object};

#[cfg(test)]
use super::Extent;
use super::Table;
use crate::view::Age;

/// A table of names and ages. As in kubectl, names have the prefix of their type if the objects, and not only the
/// request, have several types: those of the first type wait for one of another.
pub(crate) struct NameAgeTable {
    table: Box<Table>,
    prefix: Prefix,
}

/// The decision whether names have the prefix of their type.
enum Prefix {
    /// As the table is laid out.
    Settled,
    /// By the types of the objects, of which these are the first.
    Open(Vec<WaitingRow>),
}

struct WaitingRow {
    object: Arc<Object>,
    resource: Arc<ApiResource>,
    context: Box<str>,
    age: Age,
}

impl NameAgeTable {
    /// Creates rows for a table. `may_have_several` is whether objects of several types may come, and their names have
    /// no prefix so far.
    pub(crate) fn new(table: Table, may_have_several: bool) -> Self {
        let prefix = if may_have_several { Prefix::Open(Vec::new()) } else { Prefix::Settled };
        Self { table: Box::new(table), prefix }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn row(
        &mut self,
        object: &Arc<Object>,
        resource: &Arc<ApiResource>,
        context: &str,
        age: Age,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if let Prefix::Open(rows) = &mut self.prefix {
            if rows.first().is_none_or(|first| first.resource == *resource) {
                let (object, resource) = (Arc::clone(object), Arc::clone(resource));
                rows.push(WaitingRow { object, resource, context: context.into(), age });
                return Ok(());
            }
            self.table.prefix_names();
            self.settle(out)?;
        }
        write_row(&mut self.table, object, (resource, context), age, out)
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn finish(mut self, out: &mut impl Write) -> io::Result<()> {
        self.settle(out)?;
        self.table.flush(out)
    }

    /// Writes the waiting rows.
    fn settle(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Prefix::Open(rows) = std::mem::replace(&mut self.prefix, Prefix::Settled) else { return Ok(()) };
        for row in rows {
            write_row(&mut self.table, &row.object, (&row.resource, &row.context), row.age, out)?;
        }
        Ok(())
    }
}

/// Writes the row of an object of that context.
pub(crate) fn write_row(
    table: &mut Table,
    object: &Object,
    (resource, context): (&Arc<ApiResource>, &str),
    age: Age,
    out: &mut impl Write,
) -> io::Result<()> {
    if table.layout().shows_namespace(resource) {
        table.keep_namespace_column();
    }
    let cells = table.spare_cells();
    let line = table.layout().line(object, (resource, context), None, age, cells);
    table.line(line, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Layout;

    fn printed(may_have_several: bool, objects: &[(&str, &str)]) -> String {
        let table = Table::new(Layout::default(), true, Extent::Finite, false);
        let (mut rows, mut out) = (NameAgeTable::new(table, may_have_several), Vec::new());
        for (plural, name) in objects {
            let resource = Arc::new(ApiResource {
                group: String::new(),
                version: "v1".into(),
                resource: (*plural).into(),
                kind: plural.trim_end_matches('s').into(),
                namespaced: true,
            });
            let object = Arc::new(Object::named(resource.type_meta(), "shop", name));
            let age = Age::AsSent { now: jiff::Timestamp::UNIX_EPOCH };
            rows.row(&object, &resource, "", age, &mut out).expect("a Vec takes all");
        }
        rows.finish(&mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn names_have_a_prefix_if_there_are_several_types() {
        let header = "NAME   AGE\n";
        let age = "<unknown>\n";
        let one = printed(true, &[("pods", "a"), ("pods", "b")]);
        assert_eq!(one, format!("{header}a      {age}b      {age}"));
        let two = printed(true, &[("pods", "a"), ("secrets", "b"), ("pods", "c")]);
        assert_eq!(
            two,
            format!("{header}pod/a   {age}\n{header}secret/b   {age}\n{header}pod/c   {age}")
                .replace("NAME   AGE\npod", "NAME    AGE\npod")
                .replace("NAME   AGE\nsecret", "NAME       AGE\nsecret")
        );
        assert_eq!(printed(false, &[("pods", "a")]), format!("{header}a      {age}"));
        assert_eq!(printed(true, &[]), "");
    }
}
