//! A metric that is read at each scrape.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, NoLabelSet};
use prometheus_client::metrics::MetricType;

/// A function that returns the values of a metric with their labels. Without values, the metric is left out.
pub(super) struct Reading<L> {
    name: &'static str,
    help: String,
    metric_type: MetricType,
    read: Box<dyn Fn() -> Vec<(L, f64)> + Send + Sync>,
}

impl<L> Reading<L> {
    /// Creates a counter or a gauge. The help gets a full stop, as that of other metrics.
    pub(super) fn new(
        name: &'static str,
        help: &str,
        metric_type: MetricType,
        read: impl Fn() -> Vec<(L, f64)> + Send + Sync + 'static,
    ) -> Self {
        Self { name, help: format!("{help}."), metric_type, read: Box::new(read) }
    }
}

impl<L: EncodeLabelSet + 'static> Collector for Reading<L> {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let values = (self.read)();
        if values.is_empty() {
            return Ok(());
        }
        let mut metric = encoder.encode_descriptor(self.name, &self.help, None, self.metric_type)?;
        for (labels, value) in values {
            let mut one = metric.encode_family(&labels)?;
            match self.metric_type {
                MetricType::Counter => one.encode_counter::<NoLabelSet, f64, f64>(&value, None)?,
                _ => one.encode_gauge(&value)?,
            }
        }
        Ok(())
    }
}

impl<L> fmt::Debug for Reading<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("name", &self.name).finish_non_exhaustive()
    }
}
