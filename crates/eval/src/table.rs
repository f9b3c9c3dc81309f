//! The text form of a result: the digests of what was measured, tables and lines.

use std::fmt::{Display, Write as _};

use crate::{count::Count, data::Digests};

/// A result as text.
pub(crate) struct Sheet(String);

impl Sheet {
    /// A sheet that begins with the digests.
    pub(crate) fn of(Digests { data_sha256, model_sha256 }: &Digests) -> Self {
        Self(format!("data sha256  {data_sha256}\nmodel sha256 {model_sha256}\n"))
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, text: impl Display) {
        _ = writeln!(self.0, "{text}");
    }

    /// Adds a table with one row or more, after an empty line: the first column is aligned to the left, the others to the right.
    pub(crate) fn table<const N: usize>(
        &mut self,
        head: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) {
        let rows: Vec<[String; N]> = [head.map(str::to_owned)].into_iter().chain(rows).collect();
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        if rows.len() == 1 {
            return;
        }
        self.line("");
        for row in &rows {
            let mut line = String::new();
            for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
                _ = match at {
                    0 => write!(line, "{cell:<width$}"),
                    _ => write!(line, "  {cell:>width$}"),
                };
            }
            self.line(line.trim_end());
        }
    }

    /// Adds a table of named counts.
    pub(crate) fn counts<N: Into<String>>(
        &mut self,
        title: &str,
        counts: impl IntoIterator<Item = (N, Count)>,
    ) {
        let rows = counts.into_iter().map(|(name, count)| [name.into(), count.told()]);
        self.table([title, "share, number, 95% interval"], rows);
    }

    /// Adds the ids of the rows that differ from their labels.
    pub(crate) fn errors(&mut self, ids: &[String]) {
        self.line(format_args!("\nerrors: {}", ids.join(" ")));
    }

    /// The text, without white space at its end.
    pub(crate) fn end(mut self) -> String {
        self.0.truncate(self.0.trim_end().len());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_longest_cell() {
        let mut sheet = Sheet::of(&Digests::default());
        sheet.table(["", "share"], [["mean".to_owned(), "5%".to_owned()]]);
        sheet.errors(&["a".to_owned(), "b".to_owned()]);
        let text = sheet.end();
        assert!(text.ends_with("\n\n      share\nmean     5%\n\nerrors: a b"), "{text}");
    }
}
