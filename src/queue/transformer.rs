//! The function that changes objects before they are queued.

use std::error::Error;
use std::sync::Arc;

use crate::object::Object;

/// A function that changes objects before they are queued, for example to drop unused fields (client-go:
/// `TransformFunc`).
///
/// The queue calls it once for each state that the source sends, without holding a lock, and never for a state that is
/// already stored. It must keep namespace, name, uid and version. If it fails, panics or changes the key, the queue
/// logs a warning and keeps the object unchanged.
///
/// With a transformer, stored states are compared by uid and version only. After a server was restored from a backup, a
/// new state whose version was used before is therefore taken for the stored one.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object};
/// # use kdelta::queue::{DeltaFifo, DeltaFifoOptions, Item, Queue, QueueOptions, Transformer};
/// // Pods without their spec.
/// let without_spec: Transformer = Arc::new(|object| {
///     let mut value: serde_json::Value = object.parse()?;
///     value.as_object_mut().ok_or("no object")?.remove("spec");
///     let ingest = Ingest::of(object.type_meta().clone());
///     Ok(Arc::new(Object::from_json(value.to_string().as_bytes(), &ingest)?))
/// });
/// let options = DeltaFifoOptions::default().queue(QueueOptions::default().transformer(Some(without_spec)));
/// let queue = DeltaFifo::new(options);
/// # let source = kdelta::testing::FakeSource::new();
/// # source.add(serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"a": 1}}));
/// queue.add(source.objects().remove(0), kdelta::object::Origin::Watch)?;
/// queue.try_pop(&mut |popped| {
///     let Item::Deltas(deltas) = popped.item else { return };
///     let object = deltas[0].object().expect("a state");
///     assert!(object.parse::<serde_json::Value>().expect("JSON")["spec"].is_null());
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Transformer =
    Arc<dyn Fn(Arc<Object>) -> Result<Arc<Object>, Box<dyn Error + Send + Sync>> + Send + Sync>;
