//! `get` and `index` on many objects, page by page.

mod pages;
mod pages_first;
mod pods;
