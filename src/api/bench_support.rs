//! Entry points of the benchmarks into the decoders, which are not public.

use std::sync::Arc;

use jiff::Timestamp;

use crate::listwatch::Error;
use crate::object::{Ingest, Object};
use crate::wire::Representation;
use crate::wire::decode::{Decoder, Naming};

/// Decodes the items of a list in Protocol Buffers.
pub fn protobuf_objects<'a>(
    items: impl IntoIterator<Item = &'a [u8]>,
    ingest: Ingest,
) -> impl Iterator<Item = Result<Arc<Object>, Error>> {
    let mut decoder = Decoder::new(
        ingest,
        Representation::Metadata,
        String::new(),
        Naming::RequestedNamespace,
        Timestamp::now,
    );
    items.into_iter().map(move |item| decoder.protobuf_item(item))
}
