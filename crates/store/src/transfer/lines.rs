//! Splits a byte stream into lines of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Maximum length of a line, in bytes: the largest memory with some dozens of earlier versions.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// The lines of a stream, numbered from 1. Empty lines are skipped.
pub struct Lines<R> {
    from: R,
    number: u64,
    bytes: u64,
    bound: usize,
}

/// A line as it was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Raw {
    /// Without its line break.
    Line(Vec<u8>),
    /// Longer than [`MAX_LINE_BYTES`]; its content was dropped.
    TooLong,
}

impl Raw {
    /// Number of bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::TooLong => 0,
        }
    }
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Reads from the current position of `from`.
    pub fn new(from: R) -> Self {
        Self { from, number: 0, bytes: 0, bound: MAX_LINE_BYTES }
    }

    /// The next line and its number; `None` at the end.
    ///
    /// # Errors
    /// Those of the stream.
    pub async fn next(&mut self) -> io::Result<Option<(u64, Raw)>> {
        loop {
            let Some(raw) = self.one().await? else { return Ok(None) };
            self.number += 1;
            let empty = matches!(&raw, Raw::Line(line) if line.trim_ascii().is_empty());
            if !empty {
                return Ok(Some((self.number, raw)));
            }
        }
    }

    /// Number of bytes read so far: the start of the next line.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    async fn one(&mut self) -> io::Result<Option<Raw>> {
        let (mut line, mut any, mut fits) = (Vec::new(), false, true);
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                break;
            }
            any = true;
            let end = memchr::memchr(b'\n', piece);
            let taken = &piece[..end.unwrap_or(piece.len())];
            fits = fits && line.len() + taken.len() <= self.bound;
            if fits {
                line.extend_from_slice(taken);
            } else {
                line = Vec::new();
            }
            let used = end.map_or(piece.len(), |end| end + 1);
            self.from.consume(used);
            self.bytes += used as u64;
            if end.is_some() {
                break;
            }
        }
        Ok(any.then_some(if fits { Raw::Line(line) } else { Raw::TooLong }))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_are_numbered_from_one_and_bounded() {
        let text = b"one\n\n  \r\nfour\r\nfive is too long\nsix";
        for capacity in [1, 3, 100] {
            let from = BufReader::with_capacity(capacity, &text[..]);
            let mut lines = Lines { bound: 6, ..Lines::new(from) };
            let mut found = Vec::new();
            while let Some((number, raw)) = lines.next().await.unwrap() {
                found.push((number, raw));
            }
            let line = |text: &str| Raw::Line(text.as_bytes().to_vec());
            let expected =
                [(1, line("one")), (4, line("four\r")), (5, Raw::TooLong), (6, line("six"))];
            assert_eq!(found, expected);
        }
    }
}
