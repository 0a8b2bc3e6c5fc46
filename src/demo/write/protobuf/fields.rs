//! The description of a message: its fields and their types.

/// A field's number, name and type.
pub(super) type Field = (u64, &'static str, Type);

/// The type of a field.
#[derive(Clone, Copy)]
pub(super) enum Type {
    /// A string; omitted if empty.
    Text,
    /// A number; omitted if 0.
    Count,
    /// A number that is included even if 0.
    Number,
    Bool,
    /// A boolean; omitted if false.
    Flag,
    Texts,
    /// A map from strings to strings.
    Map,
    /// A map from strings to bytes, which are base64 in JSON.
    Bytes,
    Message(&'static [Field]),
    Messages(&'static [Field]),
    /// A number or a string.
    IntOrString,
    /// A quantity, which is a string in JSON.
    Quantity,
    /// A map from strings to quantities.
    Quantities,
    /// A message whose fields JSON places into the enclosing object.
    Inline(&'static [Field]),
    /// A timestamp in whole seconds.
    Time,
    /// A timestamp in microseconds.
    MicroTime,
    /// JSON inside a string message.
    Json,
    /// A field that the request does not change and that clients send back as received.
    Unchanged,
}
