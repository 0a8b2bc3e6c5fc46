//! The machine from outside: its rooms on fake neighbours, by their public names.

mod informer;
mod reflector;
