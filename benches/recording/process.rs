//! Memory and CPU time of this process.

/// Returns the peak resident memory in MB, or 0 on systems that do not report it.
pub(crate) fn peak() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or_default() * 1024.0 / 1e6
}

/// Returns the CPU seconds of this process so far, or 0 on systems that do not report them.
pub(crate) fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = text.rsplit(')').next().map(|rest| {
        rest.split_whitespace().skip(11).take(2).filter_map(|number| number.parse::<f64>().ok()).sum::<f64>()
    });
    // Linux reports hundredths of a second to user space.
    ticks.unwrap_or_default() / 100.0
}
