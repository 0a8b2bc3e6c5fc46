//! Decodes rows of Tables, with the objects in them or without.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::metadata::{Metadata, ObjectHead};
use super::{Decoder, Naming};
use crate::listwatch::Error;
use crate::object::{Column, Object, ResourceVersion};
use crate::wire::malformed::malformed;
use crate::wire::representation::Representation;
use crate::wire::table::{PlainRow, WireRow, WireTable};

impl Decoder {
    /// Decodes one element of the rows of a list.
    pub(crate) fn row(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        match self.plain_row(json) {
            Some(object) => Ok(Arc::new(object)),
            None => self.any_row(json),
        }
    }

    /// Decodes a row in any notation.
    pub(super) fn any_row(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        let row: WireRow<'_> = serde_json::from_slice(json).map_err(|error| malformed("row", &error))?;
        self.row_object(&row, None)
    }

    /// Decodes a row that is, to its last byte, in the plain form that servers write, without looking at its object twice.
    /// `None` if it is not or may not be.
    pub(super) fn plain_row(&mut self, json: &[u8]) -> Option<Object> {
        if matches!(self.naming, Naming::Cell) {
            return None;
        }
        let columns = self.columns.clone()?;
        let row = PlainRow::of_list(json)?;
        let object = self.plain_object(row.json)?;
        Some(object.with_row(row.row(columns)))
    }

    /// Decodes the response to a request for one object by name: the object, or a Table of one row.
    pub(crate) fn one(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        if self.is_table(json)? { self.one_row(json) } else { self.item(json) }
    }

    fn is_table(&self, json: &[u8]) -> Result<bool, Error> {
        if !matches!(self.representation, Representation::Table(_)) {
            return Ok(false);
        }
        if json.starts_with(br#"{"kind":"Table","#) {
            return Ok(true);
        }
        let head: ObjectHead<'_> =
            serde_json::from_slice(json).map_err(|error| malformed("object", &error))?;
        Ok(head.kind.as_deref() == Some("Table"))
    }

    fn one_row(&mut self, json: &[u8]) -> Result<Arc<Object>, Error> {
        let wire: WireTable<'_> = serde_json::from_slice(json).map_err(|error| malformed("Table", &error))?;
        if let Some(columns) = wire.column_definitions {
            self.columns(columns.get().as_bytes())?;
        }
        match wire.rows.as_deref() {
            Some([row]) => self.row_object(row, wire.metadata),
            _ => Err(Error::Decode("malformed Table: it should have one row".into())),
        }
    }

    /// Decodes the object of a row, or builds one from its cells. Without an object the version is that of a Table of
    /// one row.
    fn row_object(&mut self, row: &WireRow<'_>, table: Option<&RawValue>) -> Result<Arc<Object>, Error> {
        let columns = self.columns.clone();
        let columns =
            columns.ok_or_else(|| Error::Decode("malformed Table: a row comes before the columns".into()))?;
        let object = if let Some(object) = row.object {
            self.object(object.get().as_bytes())?
        } else {
            let version = table.map(Metadata::read).transpose()?.map(|metadata| metadata.version());
            self.object_from_row(row, &columns, version.unwrap_or_default())?
        };
        let is_named_only = matches!(self.naming, Naming::Cell);
        Ok(Arc::new(if is_named_only { object } else { object.with_row(row.row(columns)) }))
    }

    /// Builds an object from a row without one. Its version is that of its Table.
    fn object_from_row(
        &mut self,
        row: &WireRow<'_>,
        columns: &[Column],
        version: ResourceVersion,
    ) -> Result<Object, Error> {
        let type_meta = Arc::clone(&self.ingest.type_meta);
        let cell_name = || {
            let name = row.name_cell(columns).filter(|name| !name.is_empty());
            name.ok_or_else(|| Error::Decode("malformed Table: no cell has the format name".into()))
        };
        let matcher = match &mut self.naming {
            Naming::RequestedNamespace => {
                let object = Object::named(type_meta, &self.namespace, &row.name(columns));
                return Ok(object.with_resource_version(version));
            }
            Naming::Cell => {
                let object = Object::named(type_meta, &self.namespace, &cell_name()?);
                return Ok(object.with_resource_version(version));
            }
            Naming::Matcher(matcher) => matcher,
        };
        let name = cell_name()?;
        let (namespace, version) = matcher
            .next(&name)
            .ok_or_else(|| Error::Decode("a row belongs to an object that is not in the list".into()))?;
        Ok(Object::named(type_meta, namespace, &name).with_resource_version(ResourceVersion::new(version)))
    }
}
