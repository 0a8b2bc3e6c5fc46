//! Conditions to wait for: whether an object meets them.

mod case_folding;
mod error;
mod kubectl_condition;
mod status_condition;
mod value_condition;

pub use error::ConditionTestError;
pub use kubectl_condition::{KubectlCondition, KubectlConditionError};
pub use status_condition::StatusCondition;
pub use value_condition::ValueCondition;
