//! Additions to kubectl's selection and output: names as patterns, jq, CSV, Markdown, the groups of `index`, and the
//! readable log of requests.

mod groups;
mod jq;
mod names;
mod plans;
mod request_log;
mod tabular;
