//! The comparison of an expression's results for two states of an object.

use std::io;

use kdelta::object::{ApiResource, Object};
use kdelta::query::JqFilter;

use super::print_error;
use super::worker::{Limits, Worker};
use crate::output::PrintError;

/// An expression that is evaluated on both states of each update.
pub(crate) struct JqComparison {
    worker: Worker,
}

impl JqComparison {
    /// Starts the interpreter.
    ///
    /// # Errors
    /// Returns an error if the thread of the interpreter can't be created.
    pub(crate) fn start(filter: &'static JqFilter) -> io::Result<Self> {
        Ok(Self { worker: Worker::start(filter, false, false, Limits::CHANGE)? })
    }

    /// Whether the results of the expression differ.
    ///
    /// # Errors
    /// The expression fails on a state or reaches a limit.
    pub(crate) fn differs(
        &self,
        old: &Object,
        new: &Object,
        resource: &ApiResource,
    ) -> Result<bool, PrintError> {
        Ok(self.results(old, resource)? != self.results(new, resource)?)
    }

    fn results(&self, object: &Object, resource: &ApiResource) -> Result<Vec<u8>, PrintError> {
        let mut results = Vec::new();
        let json = object.json_or_names().into_owned();
        self.worker
            .evaluate(json, &mut results)
            .map_err(|problem| print_error(problem, Some((object, resource))))?;
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::testing::FakeSource;

    use super::*;

    fn object(replicas: &serde_json::Value) -> Arc<Object> {
        let source = FakeSource::new();
        source.add(serde_json::json!({"metadata": {"name": "web"}, "spec": {"replicas": replicas}}));
        source.objects().remove(0)
    }

    #[test]
    fn states_differ_if_the_results_do() {
        let filter = Box::leak(Box::new(JqFilter::parse(".spec.replicas | . + 0 > 2").expect("fine")));
        let comparison = JqComparison::start(filter).expect("a thread");
        let (one, two, three) = (object(&1.into()), object(&2.into()), object(&3.into()));
        let resource = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        };
        let differs = |old: &Object, new: &Object| comparison.differs(old, new, &resource);
        assert!(!differs(&one, &two).expect("numbers"));
        assert!(differs(&two, &three).expect("numbers"));
        let failed = differs(&two, &object(&"x".into()));
        assert!(matches!(failed, Err(PrintError::Jq(failure)) if failure.is_of_object));
        assert!(differs(&three, &one).expect("it continues after a failure"));
    }
}
