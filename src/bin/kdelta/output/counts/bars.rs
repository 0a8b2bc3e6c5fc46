//! Bars after the counts of a table, scaled to the largest. Pure.

/// Blocks of one to eight eighths.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// The space between a count and its bar.
const GAP: usize = 3;

/// The widest bar, and the narrowest that is worth its place, in characters.
const WIDEST: usize = 40;
const NARROWEST: usize = 4;

/// Returns the lines with a bar for the size of each, in any unit. `width` is that of each line, `available` that of the
/// terminal; without room the lines stay as they are.
pub(super) fn with_bars(lines: &str, sizes: &[u128], width: usize, available: usize) -> String {
    let room = available.saturating_sub(width + GAP).min(WIDEST);
    let largest = sizes.iter().copied().max().unwrap_or_default();
    if room < NARROWEST || largest == 0 {
        return lines.to_owned();
    }
    // Sizes of 64 bits are precise enough for a bar, and can be multiplied.
    let shift = (u128::BITS - largest.leading_zeros()).saturating_sub(u64::BITS);
    let mut out = String::with_capacity(lines.len());
    for (line, size) in lines.lines().zip(sizes) {
        out.push_str(line);
        if *size > 0 {
            out.extend(std::iter::repeat_n(' ', GAP));
            // At least one eighth, and exactly the room for the largest.
            let eighths = ((size >> shift) * room as u128 * 8).div_ceil(largest >> shift).max(1);
            let eighths = usize::try_from(eighths).unwrap_or(room * 8);
            out.extend(std::iter::repeat_n(EIGHTHS[7], eighths / 8));
            if let Some(rest) = (eighths % 8).checked_sub(1) {
                out.push(EIGHTHS[rest]);
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_scaled_to_the_largest_count() {
        let lines = "a   8\nb   4\nc   1\n";
        assert_eq!(with_bars(lines, &[8, 4, 1], 5, 12), "a   8   ████\nb   4   ██\nc   1   ▌\n");
        assert_eq!(
            with_bars("a   1000\nb      1\n", &[1000, 1], 8, 20),
            "a   1000   █████████\nb      1   ▏\n"
        );
    }

    #[test]
    fn bars_end_at_the_width_of_the_terminal() {
        let lines = "a   8\n";
        assert_eq!(with_bars(lines, &[8], 5, 11), lines, "too narrow");
        assert_eq!(with_bars("a   8\nb\n", &[8, 0], 5, 12), "a   8   ████\nb\n", "no bar for nothing");
        let wide = with_bars(lines, &[8], 5, 500);
        assert_eq!(wide.trim_end().chars().count(), 5 + GAP + WIDEST);
        assert_eq!(with_bars(lines, &[u128::MAX], 5, 80).trim_end().chars().count(), 48);
    }
}
