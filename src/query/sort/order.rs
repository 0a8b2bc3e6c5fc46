//! The sort of Go's `sort.Sort`, comparison by comparison. kubectl's order of equal objects, and its order where its
//! comparison contradicts itself, is what this algorithm makes of it; no other sort prints the same rows.
//!
//! It is a pattern-defeating quicksort: insertion sort for short ranges, a pivot chosen from three or nine items, and a
//! heap sort after too many uneven partitions. It is not stable. A comparison that is no order leaves some order of the
//! items; it never fails or runs longer than `O(n log² n)` comparisons.

/// Ranges up to this length are sorted by insertion.
const INSERTION: usize = 12;
/// Ranges of this length choose the pivot from nine items, and have pairs out of order moved into place.
const LONG: usize = 50;
/// The number of pairs out of order that are moved into place in a range that seems to be sorted.
const MOVED_PAIRS: usize = 5;
/// The number of swaps of a choice among nine items in descending order.
const ALL_SWAPPED: usize = 12;

/// Sorts the items as Go's `sort.Sort` does with the same comparison.
///
/// # Errors
///
/// Returns the first error of the comparison; the items are then in an unspecified order.
pub fn go_sort<T, E>(items: &mut [T], is_less: impl FnMut(&T, &T) -> Result<bool, E>) -> Result<(), E> {
    let end = items.len();
    let uneven_limit = bit_length(end);
    Sorter { items, is_less }.quicksort(0, end, uneven_limit)
}

/// The number of bits of a number.
fn bit_length(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}

/// The order that the choice of a pivot suggests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pattern {
    Ascending,
    Descending,
    Unknown,
}

struct Sorter<'a, T, F> {
    items: &'a mut [T],
    is_less: F,
}

impl<T, E, F: FnMut(&T, &T) -> Result<bool, E>> Sorter<'_, T, F> {
    fn less(&mut self, a: usize, b: usize) -> Result<bool, E> {
        (self.is_less)(&self.items[a], &self.items[b])
    }

    /// Sorts `start..end`. `uneven_left` is the number of uneven partitions before the heap sort takes over.
    fn quicksort(&mut self, mut start: usize, mut end: usize, mut uneven_left: u32) -> Result<(), E> {
        let (mut was_even, mut was_partitioned) = (true, true);
        // Not in Go: a comparison that is an order never splits off equal items twice in a row.
        let mut splits_left = bit_length(end);
        loop {
            let length = end - start;
            if length <= INSERTION {
                return self.insertion_sort(start, end);
            }
            if uneven_left == 0 || splits_left == 0 {
                return self.heap_sort(start, end);
            }
            if !was_even {
                self.break_patterns(start, end);
                uneven_left -= 1;
            }
            let (mut pivot, mut pattern) = self.choose_pivot(start, end)?;
            if pattern == Pattern::Descending {
                self.items[start..end].reverse();
                pivot = (end - 1) - (pivot - start);
                pattern = Pattern::Ascending;
            }
            if was_even
                && was_partitioned
                && pattern == Pattern::Ascending
                && self.finish_sorted(start, end)?
            {
                return Ok(());
            }
            // The item before the range is its lower bound. A pivot that equals it has many duplicates.
            if start > 0 && !self.less(start - 1, pivot)? {
                start = self.split_equal(start, end, pivot)?;
                splits_left -= 1;
                continue;
            }
            splits_left = bit_length(end);
            let (middle, is_partitioned) = self.partition(start, end, pivot)?;
            was_partitioned = is_partitioned;
            let (left, right) = (middle - start, end - middle);
            was_even = left.min(right) >= length / 8;
            // The recursion takes the shorter part, so that its depth is logarithmic.
            if left < right {
                self.quicksort(start, middle, uneven_left)?;
                start = middle + 1;
            } else {
                self.quicksort(middle + 1, end, uneven_left)?;
                end = middle;
            }
        }
    }

    fn insertion_sort(&mut self, start: usize, end: usize) -> Result<(), E> {
        for next in start + 1..end {
            let mut at = next;
            while at > start && self.less(at, at - 1)? {
                self.items.swap(at, at - 1);
                at -= 1;
            }
        }
        Ok(())
    }

    fn heap_sort(&mut self, start: usize, end: usize) -> Result<(), E> {
        let length = end - start;
        for root in (0..=(length - 1) / 2).rev() {
            self.sift_down(start, root, length)?;
        }
        for last in (0..length).rev() {
            self.items.swap(start, start + last);
            self.sift_down(start, 0, last)?;
        }
        Ok(())
    }

    /// Restores the heap of `length` items from `start` below one of its nodes.
    fn sift_down(&mut self, start: usize, mut root: usize, length: usize) -> Result<(), E> {
        loop {
            let mut child = 2 * root + 1;
            if child >= length {
                return Ok(());
            }
            if child + 1 < length && self.less(start + child, start + child + 1)? {
                child += 1;
            }
            if !self.less(start + root, start + child)? {
                return Ok(());
            }
            self.items.swap(start + root, start + child);
            root = child;
        }
    }

    /// Moves items below the pivot before it and the others behind it. Returns the pivot's new position, and whether
    /// the items were so already.
    fn partition(&mut self, start: usize, end: usize, pivot: usize) -> Result<(usize, bool), E> {
        self.items.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        let mut is_partitioned = true;
        loop {
            while low <= high && self.less(low, start)? {
                low += 1;
            }
            while low <= high && !self.less(high, start)? {
                high -= 1;
            }
            if low > high {
                self.items.swap(high, start);
                return Ok((high, is_partitioned));
            }
            is_partitioned = false;
            self.items.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Moves items equal to the pivot, which has none below it, to the start. Returns the position behind them.
    fn split_equal(&mut self, start: usize, end: usize, pivot: usize) -> Result<usize, E> {
        self.items.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        loop {
            while low <= high && !self.less(start, low)? {
                low += 1;
            }
            while low <= high && self.less(start, high)? {
                high -= 1;
            }
            if low > high {
                return Ok(low);
            }
            self.items.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Sorts a range that has few pairs out of order. Returns false if it gave up.
    fn finish_sorted(&mut self, start: usize, end: usize) -> Result<bool, E> {
        let mut at = start + 1;
        for _ in 0..MOVED_PAIRS {
            while at < end && !self.less(at, at - 1)? {
                at += 1;
            }
            if at == end {
                return Ok(true);
            }
            if end - start < LONG {
                return Ok(false);
            }
            self.items.swap(at, at - 1);
            // As in Go, the smaller item may move down to the first one of all, not only of the range.
            if at - start >= 2 {
                let mut low = at - 1;
                while low >= 1 && self.less(low, low - 1)? {
                    self.items.swap(low, low - 1);
                    low -= 1;
                }
            }
            let mut high = at + 1;
            while high < end && self.less(high, high - 1)? {
                self.items.swap(high, high - 1);
                high += 1;
            }
        }
        Ok(false)
    }

    /// Swaps three items in the middle with others, chosen by Go's generator with the length as its seed.
    fn break_patterns(&mut self, start: usize, end: usize) {
        let length = end - start;
        let mask = (1_u64 << bit_length(length)) - 1;
        let mut random = length as u64;
        let middle = start + length / 4 * 2;
        for at in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // The mask keeps it below twice the length.
            let other = usize::try_from(random & mask).unwrap_or(0);
            self.items.swap(at, start + if other >= length { other - length } else { other });
        }
    }

    /// Chooses a pivot in a range of more than [`INSERTION`] items.
    fn choose_pivot(&mut self, start: usize, end: usize) -> Result<(usize, Pattern), E> {
        let length = end - start;
        let mut swaps = 0;
        let mut quarters = [1, 2, 3].map(|quarter| start + length / 4 * quarter);
        if length >= LONG {
            for quarter in &mut quarters {
                *quarter = self.median([*quarter - 1, *quarter, *quarter + 1], &mut swaps)?;
            }
        }
        let pivot = self.median(quarters, &mut swaps)?;
        let pattern = match swaps {
            0 => Pattern::Ascending,
            ALL_SWAPPED => Pattern::Descending,
            _ => Pattern::Unknown,
        };
        Ok((pivot, pattern))
    }

    /// Returns the position of the median of three items, and counts the swaps that sort them.
    fn median(&mut self, mut at: [usize; 3], swaps: &mut usize) -> Result<usize, E> {
        for (a, b) in [(0, 1), (1, 2), (0, 1)] {
            if self.less(at[b], at[a])? {
                at.swap(a, b);
                *swaps += 1;
            }
        }
        Ok(at[1])
    }
}
