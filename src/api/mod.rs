//! Requests to a Kubernetes API server: the client, discovery and the resources.
//!
//! A [`crate::kubeconfig::Config`] becomes a [`Client`]; a [`Client`] sends a [`Request`] and returns a [`Response`]
//! whose body arrives in chunks. [`Discovery`] resolves the words for resources, and a [`ResourceClient`] lists and
//! watches one collection. Error responses and failures of the network become a [`crate::listwatch::Error`], whose
//! variants say what the caller can do and whose texts contain no credentials.

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod bench_support;
mod client;
mod collection;
mod direct_list;
mod discovery;
mod list_response;
mod progress;
#[cfg(any(test, feature = "internals"))]
#[doc(hidden)]
pub mod properties;
mod request;
mod resource;
mod response;
mod row_list;
mod suggest;

pub use client::{Client, ClientOptions};
pub use discovery::{
    Catalog, Discovery, DiscoveryOptions, ResolveError, ServerVersion, VersionInfo, is_built_in,
};
pub use request::Request;
pub use resource::{ResourceClient, ResourceList, ResourceWatch};
pub use response::Response;
