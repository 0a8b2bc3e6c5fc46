//! Waits for a condition over a set of objects: conditions on one state of an object, and the state machine that decides
//! from the changes of the set whether the wait is over.

mod condition;
mod evaluation;
mod impossible;
mod machine;
mod member;
mod missing;
#[cfg(test)]
mod model_tests;
mod outcome;
mod rules;
mod set;
mod status_fields;
mod subject;
mod tally;
#[cfg(test)]
mod tests;
mod words;

pub use condition::WaitCondition;
pub use impossible::reason_never_met;
pub use machine::WaitMachine;
pub use missing::{MissingObject, WaitReason};
pub use outcome::{DecidingObject, WaitFailure, WaitMet, WaitState};
pub use rules::{Quantifier, WaitRules};
pub use subject::Moment;
