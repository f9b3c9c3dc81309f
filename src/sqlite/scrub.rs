//! Bytes that nobody can reach any more and that are still in the file.
//!
//! `secure_delete` overwrites a row where it stands. But a row that had to move,
//! because its page was full, may have left its bytes where it stood before, in
//! the part of that page that is not in use. Here that part is overwritten with
//! zeros, in the file itself.
//!
//! Safe only while nobody can write to the file: the log is empty and its write
//! lock is held. Readers may go on: no byte that has a meaning is changed.

use std::{fs::File, io, os::unix::fs::FileExt};

/// Bytes that are read in one go.
const CHUNK: usize = 1 << 20;

/// Bytes of the file's header, which stands on the first page.
const HEADER: usize = 100;

/// Pages from here on could have numbers that look like a kind of page: 64 GiB.
const MOST_PAGES: u64 = 1 << 24;

/// A lap through the pages of a file, so that every one is looked at once after
/// what was asked for last.
#[derive(Debug, Default)]
pub(super) struct Lap {
    next: u64,
    left: u64,
}

impl Lap {
    /// Begins anew from where it stands: all pages are to be looked at.
    pub(super) fn restart(&mut self) {
        self.left = u64::MAX;
    }

    /// Whether all pages were looked at.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Cleans at most so many bytes' worth of pages.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not one of ours.
    pub(super) fn go_on(&mut self, file: &File, bytes: u64) -> io::Result<()> {
        if self.is_over() {
            return Ok(());
        }
        let size = page_size(file)?;
        let pages = file.metadata()?.len() / size as u64;
        if pages >= MOST_PAGES {
            return Err(io::Error::other("the file is too large to be cleaned"));
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

/// The size of the file's pages, in bytes.
fn page_size(file: &File) -> io::Result<usize> {
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0)?;
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => usize::from(size),
    };
    // Bytes reserved at the end of pages, and the pages of auto_vacuum, which look
    // like others: we make no such files.
    let ours = header[20] == 0 && header[52..56] == [0; 4] && size >= 512;
    if ours { Ok(size) } else { Err(io::Error::other("the file has a form that is not ours")) }
}

/// The part of a page between its directory and its rows, if it holds rows.
/// What is inconsistent is left alone.
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
