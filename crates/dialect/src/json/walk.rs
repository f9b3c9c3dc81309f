//! Finding the children of a JSON value in text that is known to be valid: brackets, commas and
//! string ends, nothing more. It must never be the judge of what is JSON.

use std::ops::Range;

use memchr::memchr;

/// Steps through the inside of an object or array in valid text. `None` anywhere means the text
/// was not valid after all.
pub(super) struct Walk<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    /// A walk inside a value that starts with this bracket.
    pub(super) fn inside(text: &'a str, open: u8) -> Option<Self> {
        let text = text.as_bytes();
        (text.first() == Some(&open)).then_some(Self { text, at: 1 })
    }

    /// Steps over the closing bracket, or over the comma (or nothing) before the next child.
    pub(super) fn ends_with(&mut self, close: u8) -> Option<bool> {
        self.skip_white_space();
        match *self.text.get(self.at)? {
            byte if byte == close => return Some(true),
            b',' => self.at += 1,
            _ => {}
        }
        Some(false)
    }

    pub(super) fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_white_space();
        (*self.text.get(self.at)? == byte).then(|| self.at += 1)
    }

    /// Steps over one value, whose range it gives.
    pub(super) fn value(&mut self) -> Option<Range<usize>> {
        self.skip_white_space();
        let start = self.at;
        match *self.text.get(start)? {
            b'"' => self.skip_string()?,
            b'{' | b'[' => self.skip_nested()?,
            _ => {
                let ends = |byte: &u8| {
                    matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\n' | b'\r')
                };
                let rest = self.text.get(start..)?;
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
            }
        }
        (self.at > start).then_some(start..self.at)
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match *self.text.get(self.at)? {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        let inside = self.at + 1;
        let mut from = inside;
        loop {
            let quote = from + memchr(b'"', self.text.get(from..)?)?;
            let before = self.text.get(inside..quote)?;
            let escapes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            from = quote + 1;
            if escapes % 2 == 0 {
                self.at = from;
                return Some(());
            }
        }
    }

    fn skip_white_space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}
