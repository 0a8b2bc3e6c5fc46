//! Delivery from the pump to the handlers: the selection of recipients, a buffer per handler, and the calls.

mod coalesce;
pub(super) mod handler_call;
pub(super) mod listener;
mod overflow;
pub(super) mod processor;
pub(super) mod progress;
mod resync;
mod weighted_channel;
