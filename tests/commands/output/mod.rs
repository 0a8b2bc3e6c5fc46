//! Additions to kubectl's selection and output: names as patterns, jq, CSV, Markdown and the formats of `index`, and the
//! readable log of requests.

mod jq;
mod names;
mod request_log;
mod tabular;
