//! The widths of the columns of a table on a terminal.

/// The widest that a column becomes, if it is not the last: the longest name of most types has 63 characters. A longer
/// cell affects only its own row.
pub(crate) const WIDEST_COLUMN: usize = 64;

/// The narrowest that a column is made to fit a terminal: the width of MODIFIED.
const NARROWEST_COLUMN: usize = 8;

/// The blanks between two columns.
pub(crate) const GAP: usize = 3;

/// Returns the widths of the columns for rows that are at most `columns` wide. `natural` are the widths of their widest
/// cells. If there is not enough room, the widest columns become equally wide. On a very narrow terminal the sum is still
/// too large.
pub(crate) fn fitted_widths(natural: &[usize], columns: usize) -> Vec<usize> {
    let wanted: Vec<usize> = natural.iter().map(|width| (*width).min(WIDEST_COLUMN)).collect();
    let room = columns.saturating_sub(GAP * natural.len().saturating_sub(1));
    let limited = |limit: usize| wanted.iter().map(move |width| (*width).min(limit));
    let limit = (NARROWEST_COLUMN..=WIDEST_COLUMN).rev().find(|limit| limited(*limit).sum::<usize>() <= room);
    limited(limit.unwrap_or(NARROWEST_COLUMN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widest_columns_shrink_first() {
        for (natural, columns, expected) in [
            (&[8, 36, 5, 17, 8, 5][..], 120, &[8, 36, 5, 17, 8, 5][..]),
            (&[8, 36, 5, 17, 8, 5], 80, &[8, 22, 5, 17, 8, 5]),
            (&[8, 36, 5, 17, 8, 5], 60, &[8, 9, 5, 9, 8, 5]),
            (&[8, 36, 5, 17, 8, 5], 20, &[8, 8, 5, 8, 8, 5]),
            (&[8, 240, 5], 300, &[8, 64, 5]),
            (&[8, 240, 5], 60, &[8, 41, 5]),
            (&[], 60, &[]),
        ] {
            assert_eq!(fitted_widths(natural, columns), expected, "{natural:?} {columns}");
        }
    }
}
