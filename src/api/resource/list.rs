//! The body of a list as a stream of objects.

use std::sync::Arc;

use crate::api::direct_list::DirectObjects;
use crate::api::list_response::ListResponse;
use crate::api::row_list::RowList;
use crate::listwatch::{Error, ListMeta, ListStream};
use crate::object::Object;

/// A page of a list, whose objects are read with [`ListStream::next`] as they arrive.
pub struct ResourceList(Kind);

enum Kind {
    /// One response, in the server's representation.
    Response(Box<ListResponse>),
    /// Rows, matched to their objects from several responses.
    Rows(Box<RowList>),
    /// Read without a request.
    Direct(DirectObjects),
}

impl From<ListResponse> for ResourceList {
    fn from(response: ListResponse) -> Self {
        Self(Kind::Response(Box::new(response)))
    }
}

impl From<RowList> for ResourceList {
    fn from(rows: RowList) -> Self {
        Self(Kind::Rows(Box::new(rows)))
    }
}

impl From<DirectObjects> for ResourceList {
    fn from(objects: DirectObjects) -> Self {
        Self(Kind::Direct(objects))
    }
}

impl ListStream for ResourceList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        match &mut self.0 {
            Kind::Response(response) => response.next().await,
            Kind::Rows(rows) => rows.next().await,
            Kind::Direct(objects) => objects.next().await,
        }
    }

    fn meta(&self) -> &ListMeta {
        match &self.0 {
            Kind::Response(response) => response.meta(),
            Kind::Rows(rows) => rows.meta(),
            Kind::Direct(objects) => objects.meta(),
        }
    }
}
