//! Overwrites deleted bytes that are still in the unused parts of pages.
//!
//! `secure_delete` overwrites a deleted row in place. But a row that was moved, because its page
//! was full, may have left a copy in the unused part of its old page. This module overwrites these
//! parts with zeros, directly in the file.
//!
//! This is safe only while nobody can write to the file: the log must be empty and the write lock
//! held. Readers may continue, because no used byte is changed.

use std::{fs::File, io, os::unix::fs::FileExt};

/// Number of bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Size of the file's header on the first page.
const HEADER: usize = 100;

/// Limit on the number of pages, 64 GiB: higher page numbers could look like a page type.
const MOST_PAGES: u64 = 1 << 24;

/// One pass over all pages of a file, which can be restarted.
#[derive(Debug, Default)]
pub(super) struct Lap {
    next: u64,
    left: u64,
}

impl Lap {
    /// Starts a new pass at the current position: all pages are due again.
    pub(super) fn restart(&mut self) {
        self.left = u64::MAX;
    }

    /// Whether all pages were processed.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Cleans at most this many bytes' worth of pages.
    ///
    /// # Errors
    /// When the file cannot be read or written, or does not have memgate's format.
    pub(super) fn go_on(&mut self, file: &File, bytes: u64) -> io::Result<()> {
        if self.is_over() {
            return Ok(());
        }
        let size = page_size(file)?;
        let pages = file.metadata()?.len() / size as u64;
        if pages >= MOST_PAGES {
            return Err(io::Error::other("the file is too large to be scrubbed"));
        }
        self.left = self.left.min(pages);
        let mut room = (bytes / size as u64).min(self.left);
        let mut buffer = vec![0; CHUNK];
        while room > 0 {
            if self.next >= pages {
                self.next = 0;
            }
            let count = room.min(pages - self.next).min((CHUNK / size) as u64);
            let chunk = &mut buffer[..usize::try_from(count).unwrap_or(0) * size];
            file.read_exact_at(chunk, self.next * size as u64)?;
            for (page, number) in chunk.chunks_exact_mut(size).zip(self.next..) {
                if let Some(unused) = unused(page, number == 0)
                    && page[unused.clone()].iter().any(|byte| *byte != 0)
                {
                    page[unused.clone()].fill(0);
                    let at = number * size as u64 + unused.start as u64;
                    file.write_all_at(&page[unused], at)?;
                }
            }
            self.next += count;
            self.left -= count;
            room -= count;
        }
        Ok(())
    }
}

/// The page size of the file, in bytes.
fn page_size(file: &File) -> io::Result<usize> {
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0)?;
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    // memgate's files have no reserved bytes at the end of pages and no auto_vacuum pages, which
    // look like others.
    let ours = header[20] == 0 && header[52..56] == [0; 4] && size >= 512;
    if ours { Ok(size) } else { Err(io::Error::other("the file has an unexpected format")) }
}

/// The part of a page between its directory and its rows, if it holds rows. Inconsistent pages are
/// skipped.
fn unused(page: &[u8], first: bool) -> Option<std::ops::Range<usize>> {
    let head = if first { HEADER } else { 0 };
    let width = match page.get(head)? {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return None,
    };
    let number = |at: usize| Some(usize::from(u16::from_be_bytes([page[at], *page.get(at + 1)?])));
    let start = head + width + 2 * number(head + 3)?;
    let end = match number(head + 5)? {
        0 => 65_536,
        end => end,
    };
    (start <= end && end <= page.len()).then_some(start..end)
}
