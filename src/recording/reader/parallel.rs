//! Work that is divided among threads.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// The maximum number of threads: more of them would wait for the memory.
const MAX_THREADS: usize = 4;

/// Returns the number of threads that [`map`] uses for many tasks.
pub(in crate::recording) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// Returns the results of `work` in the order of the tasks. Each thread takes the next task when it has finished one.
pub(in crate::recording) fn map<T: Send, U: Send>(
    tasks: impl IntoIterator<Item = T, IntoIter: Send>,
    work: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    map_on(threads(), tasks, work)
}

/// Maps as [`map`] does, on at most that many threads.
pub(in crate::recording) fn map_on<T: Send, U: Send>(
    threads: usize,
    tasks: impl IntoIterator<Item = T, IntoIter: Send>,
    work: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let mut tasks = tasks.into_iter().peekable();
    let Some(first) = tasks.next() else { return Vec::new() };
    if tasks.peek().is_none() {
        return vec![work(first)];
    }
    // A std mutex, held while a task is taken.
    let waiting = Mutex::new(std::iter::once(first).chain(tasks).enumerate());
    let run = || {
        let mut done = Vec::new();
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((at, task)) = next else { return done };
            done.push((at, work(task)));
        }
    };
    // Scoped std threads: the work only computes and reads files. They end with this call.
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done.sort_unstable_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    })
}

/// The number of items that justify threads.
pub(in crate::recording) const MIN_PARALLEL: usize = 1000;

/// Maps many items on several threads, which also drop them, and few on this one. The results are in the order of the items.
#[cfg(any(test, feature = "serve"))]
pub(in crate::recording) fn map_many<T: Send, U: Send>(
    mut items: Vec<T>,
    map: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let share = items.len().div_ceil(threads());
    let mut shares = Vec::new();
    while items.len() >= MIN_PARALLEL && items.len() > share {
        shares.push(items.split_off(items.len() - share));
    }
    shares.push(items);
    let mapped = self::map(shares.into_iter().rev(), |items| items.into_iter().map(&map).collect());
    mapped.into_iter().flat_map(|items: Vec<U>| items).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        for count in [0, 1, 2, 1000, 1003] {
            let doubled: Vec<u64> = (0..count).map(|number| 2 * number).collect();
            assert_eq!(map(0..count, |number| 2 * number), doubled);
            assert_eq!(map_many((0..count).collect(), |number| 2 * number), doubled);
        }
    }
}
