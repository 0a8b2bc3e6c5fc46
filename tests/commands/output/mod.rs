//! Additions to kubectl's selection and output: names as patterns, jq, CSV, Markdown, the groups of `index`, and the
//! readable log of requests, as JSON too.

mod groups;
mod jq;
mod log_format;
mod names;
mod plans;
mod request_log;
mod tabular;
