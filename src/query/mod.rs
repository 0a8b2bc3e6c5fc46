//! Queries and templates over objects: quantities, groups with counts and aggregates, sorting, custom columns, Go templates
//! and aligned cells as kubectl has them, conditions on fields, jq and CEL expressions, conditions to wait for, also over
//! sets of objects, and the status of objects and rollouts. Pure.

#[cfg(feature = "cel")]
mod cel;
mod custom_columns;
mod field_filter;
mod go_template;
mod groups;
#[cfg(feature = "jq")]
mod jq;
mod kstatus;
mod quantity;
mod rollout;
#[cfg(feature = "cel")]
mod set_wait;
mod sort;
mod tab_writer;
mod wait;

#[cfg(feature = "cel")]
pub use cel::{CelError, CelFilter, CelInput, CelSyntaxError, CelValidity, CelValues, RequiredValue};
pub use custom_columns::{ColumnPrintError, ColumnPrinter, CustomColumns, CustomColumnsError};
pub use field_filter::{FieldFilter, FieldFilterError};
pub use go_template::{GoTemplate, ListExecution, TemplateError};
pub use groups::{Aggregate, Group, GroupKey, Groups, Member, Number, TooManyGroups};
#[cfg(feature = "jq")]
pub use jq::{JqError, JqFilter, JqSyntaxError};
pub use kstatus::{ComputedStatus, ObjectStatus, StandardCondition, StandardConditionType, StatusError};
pub use quantity::{Notation, Quantity, QuantityError, format_quantity};
pub use rollout::{RolloutError, RolloutKind, RolloutStatus};
#[cfg(feature = "cel")]
pub use set_wait::{
    DecidingObject, MissingObject, Moment, Quantifier, WaitCondition, WaitFailure, WaitMachine, WaitMet,
    WaitReason, WaitRules, WaitState, reason_never_met,
};
pub use sort::{
    Incomparable, SortBy, SortError, SortKey, SortedItems, WATCH_ONLY_WARNING, WATCH_WARNING, go_sort,
};
pub use tab_writer::TabWriter;
pub use wait::{
    ConditionTestError, KubectlCondition, KubectlConditionError, StatusCondition, ValueCondition,
};
