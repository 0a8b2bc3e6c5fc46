//! The resources of the server: built-in ones, and those defined by stored `CustomResourceDefinition`s.

mod built_in;

pub(super) use built_in::*;
