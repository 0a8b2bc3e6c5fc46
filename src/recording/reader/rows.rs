//! Reads the rows of the objects of a state.

use std::sync::Arc;

use jiff::Timestamp;

use super::chains::{Chains, RowPlace, identity};
use super::cut::Cut;
use super::segment_file::PayloadBytes;
use crate::object::{ApiResource, Column, Object};
use crate::recording::files::FileError;
use crate::recording::log::{Payload, Place};
use crate::recording::payload::split_row;
use crate::recording::row_template::{needs_body, render};
use crate::recording::tracked::RowTemplate;

/// Receives the number of a chain, the payload of its row and the columns of its file.
type ReceiveRow<'a> = dyn FnMut(usize, &[u8], &[Arc<[Column]>]) -> Option<()> + 'a;

impl Chains {
    /// Returns the objects with their names, versions and rows, or `None` if a row can only be rendered with its
    /// body.
    pub(super) fn rows(
        &self,
        cut: &Cut,
        resource: &ApiResource,
        now: Timestamp,
    ) -> Result<Option<Vec<Arc<Object>>>, FileError> {
        let type_meta = resource.type_meta();
        let mut objects = Vec::with_capacity(self.objects.len());
        let mut is_whole = true;
        self.read_rows(cut, resource, &mut |chain, payload, columns| {
            let (columns, template) = split_row(payload, columns)?;
            is_whole &= !needs_body(template);
            if is_whole {
                let object = identity(&self.objects[chain], None).named(&type_meta);
                let row = render(template, columns, &object, now)?;
                objects.push(Arc::new(object.with_row(row)));
            }
            Some(())
        })?;
        Ok(is_whole.then_some(objects))
    }

    /// Returns the columns and the template of the row of each chain.
    pub(super) fn templates(
        &self,
        cut: &Cut,
        resource: &ApiResource,
    ) -> Result<Vec<Option<RowTemplate>>, FileError> {
        let mut templates = vec![None; self.objects.len()];
        self.read_rows(cut, resource, &mut |chain, payload, columns| {
            let (columns, template) = split_row(payload, columns)?;
            templates[chain] = Some((Arc::clone(columns), template.into()));
            Some(())
        })?;
        Ok(templates)
    }

    /// Passes the payload of each chain's row to `receive`, with the columns of its file.
    fn read_rows(
        &self,
        cut: &Cut,
        resource: &ApiResource,
        receive: &mut ReceiveRow<'_>,
    ) -> Result<(), FileError> {
        // In the order of the files, so that each block is read once. The keyframe is number 0.
        let mut places: Vec<(usize, Place, usize)> = Vec::new();
        for (number, chain) in self.objects.iter().enumerate() {
            match chain.row {
                Some(RowPlace::Keyframe(place)) => places.push((0, place, number)),
                Some(RowPlace::Segment(segment, place)) => places.push((segment as usize + 1, place, number)),
                None => {}
            }
        }
        places.sort_unstable_by_key(|(file, place, _)| (*file, place.block, place.at));
        let mut loaded: Option<(usize, u32, PayloadBytes<'_>)> = None;
        for (file, place, chain) in places {
            if loaded.as_ref().is_none_or(|(of, block, _)| (*of, *block) != (file, place.block)) {
                let bytes = match (file.checked_sub(1), &cut.keyframe) {
                    (Some(segment), _) => {
                        cut.segments[segment].payload(resource, Payload::Rows, place.block)?
                    }
                    (None, Some(keyframe)) => PayloadBytes::Read(keyframe.rows(resource, place.block)?),
                    (None, None) => continue,
                };
                loaded = Some((file, place.block, bytes));
            }
            let columns = match (file.checked_sub(1), &cut.keyframe) {
                (Some(segment), _) => &cut.segments[segment].tables().columns,
                (None, Some(keyframe)) => &keyframe.footer().tables.columns,
                (None, None) => continue,
            };
            let payload = loaded.as_ref().and_then(|(.., bytes)| place.of(bytes));
            let received = payload.and_then(|payload| receive(chain, payload, columns));
            received.ok_or_else(|| match (file.checked_sub(1), &cut.keyframe) {
                (None, Some(keyframe)) => keyframe.invalid_row(),
                (segment, _) => {
                    let segment = &cut.segments[segment.unwrap_or_default()];
                    segment.invalid(resource, Payload::Rows, place.block, "a row can't be decoded")
                }
            })?;
        }
        Ok(())
    }
}
