//! A client of the metrics that a running call serves.

use super::{Api, Running, eventually};

/// The address of `--metrics 0`, and a client of it.
#[derive(Debug)]
pub(crate) struct Scraper {
    pub(crate) address: String,
    api: Api,
}

impl Scraper {
    /// Reads the address of `--metrics 0` from stderr.
    #[track_caller]
    pub(crate) fn of(running: &Running) -> Self {
        let line = running.stderr.find("the address", |line| line.starts_with("metrics: http://"));
        let address = line.trim_start_matches("metrics: http://").trim_end().trim_end_matches("/metrics");
        Self { address: address.to_owned(), api: Api::open(&format!("http://{address}")) }
    }

    /// Returns the status and the text of a path.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let response = self.api.request("GET", path, &[], "");
        (response.code, response.text)
    }

    pub(crate) fn text(&self) -> String {
        let (code, text) = self.get("/metrics");
        assert_eq!(code, 200, "{text}");
        text
    }

    /// Returns the value of the sample with this name and these labels; `None` if there is none.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let text = self.text();
        let has_labels = |line: &&str| {
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']))
                && labels.iter().all(|(name, value)| line.contains(&format!("{name}=\"{value}\"")))
        };
        let line = text.lines().find(has_labels)?;
        Some(line.rsplit_once(' ').expect("a value").1.parse().expect("a number"))
    }

    /// Waits for the value of a sample.
    #[track_caller]
    pub(crate) fn await_value(&self, name: &str, labels: &[(&str, &str)], expected: f64) {
        let mut last = None;
        eventually(&format!("{name}{labels:?} is {expected}"), || {
            last = self.value(name, labels);
            (last == Some(expected)).then_some(())
        });
    }

    /// Waits until a path has this status, and returns its text.
    #[track_caller]
    pub(crate) fn await_status(&self, path: &str, expected: u16) -> String {
        eventually(&format!("{path} has the status {expected}"), || {
            let (code, text) = self.get(path);
            (code == expected).then_some(text)
        })
    }
}
