//! The settings of the C library's allocator, which it reads only when a process starts.

/// Executes this program again in the same process, so that the allocator returns freed memory to the system: for commands that
/// run for days. Returns if that was done before, if the user has chosen settings, or if it fails.
///
/// By default, glibc keeps as much free memory at the end of each of its heaps as twice the largest block that was ever freed,
/// up to 64 MiB. With a fixed limit it keeps no more than that.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn return_freed_memory() {
    use std::env;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// The limit in bytes: the one of glibc before any block is freed.
    const LIMIT: (&str, &str) = ("MALLOC_TRIM_THRESHOLD_", "131072");
    /// The settings of glibc in another form.
    const TUNABLES: &str = "GLIBC_TUNABLES";
    /// Set in the executed program: the system removes the other variables if the program's file has capabilities.
    const EXECUTED: &str = "__KDELTA_EXECUTED";

    let is_set = |name: &str| env::var_os(name).is_some();
    if is_set(LIMIT.0) || is_set(TUNABLES) || is_set(EXECUTED) {
        return;
    }
    let mut words = env::args_os();
    let (Ok(program), Some(name)) = (env::current_exe(), words.next()) else { return };
    let mut again = Command::new(program);
    again.arg0(name).args(words).env(LIMIT.0, LIMIT.1).env(EXECUTED, "1");
    let error = again.exec();
    tracing::debug!(%error, "the allocator keeps its settings");
}

/// Allocators of other systems have no such setting.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_freed_memory() {}
