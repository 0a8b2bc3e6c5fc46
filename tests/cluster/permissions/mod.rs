//! Permissions that are missing, their messages, and the table of the needed ones.

mod access;
mod missing;
mod rbac;
