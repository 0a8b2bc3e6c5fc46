//! List, watch, recover: carries what a source holds into a [`ReflectorStore`], for ever.

mod sink;

pub use sink::ReflectorStore;
