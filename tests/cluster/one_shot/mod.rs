//! One-shot commands: `get` and `index` on many objects, page by page, and `tree`.

mod bytes;
mod pages;
mod pages_first;
mod pods;
mod tree;
