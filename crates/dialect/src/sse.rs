//! Server-sent events out of bytes cut anywhere: LF, CRLF and CR, comments, data over several
//! lines, a byte order mark. It does not interpret the events.

use memchr::{memchr, memchr2};

/// One event; its data is UTF-8 with what is none replaced, as the format has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The `event` field; empty when the frame has none.
    pub(super) name: String,
    /// The data lines joined by newlines.
    pub(super) data: String,
}

/// The parser's state between two chunks.
#[derive(Default)]
pub(super) struct Parser {
    /// The line that the last chunk did not end.
    line: Vec<u8>,
    name: String,
    data: Option<Vec<u8>>,
    /// The last byte seen was the CR of a line end: an LF that follows belongs to it.
    after_cr: bool,
    /// The first line, which may carry a byte order mark, is over.
    begun: bool,
}

impl Parser {
    /// Bytes held for an event that has not ended.
    pub(super) fn held(&self) -> usize {
        self.line.len() + self.name.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    /// Takes the next chunk and hands out the events it completes. Stops as soon as `sink` says
    /// false; the parser is then of no more use.
    pub(super) fn push(&mut self, mut chunk: &[u8], sink: &mut impl FnMut(Event) -> bool) {
        if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        while let Some(end) = memchr2(b'\n', b'\r', chunk) {
            let (line, rest) = chunk.split_at(end);
            let event = if self.line.is_empty() {
                self.take_line(line)
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.take_line(&whole)
            };
            chunk = match rest {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            if event.is_some_and(|event| !sink(event)) {
                return;
            }
        }
        self.line.extend_from_slice(chunk);
    }

    /// The event that the end of the body cut short, if it has data: the empty line that ends an
    /// event is sometimes missing from the last one.
    pub(super) fn finish(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line);
        }
        self.dispatch()
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let line =
            if self.begun { line } else { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = memchr(b':', line);
        let (field, value) = match colon {
            Some(colon) => (line.get(..colon), line.get(colon + 1..)),
            None => (Some(line), None),
        };
        let value = value.unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            Some(b"data") => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            Some(b"event") => self.name = String::from_utf8_lossy(value).into_owned(),
            // Comments, ids, retry times and fields to come.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        let data = match String::from_utf8(data) {
            Ok(data) => data,
            Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
        };
        Some(Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&str]) -> Vec<(String, String)> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            parser.push(chunk.as_bytes(), &mut |event| {
                events.push((event.name, event.data));
                true
            });
        }
        events.extend(parser.finish().map(|event| (event.name, event.data)));
        events
    }

    fn data(chunks: &[&str]) -> Vec<String> {
        events(chunks).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn every_line_end_ends_a_line_even_when_it_is_cut() {
        assert_eq!(
            data(&["data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\n"]),
            ["a", "b", "c", "d"]
        );
        assert_eq!(data(&["data: a\r", "\n\r", "\ndata: b\r", "\n\r\n"]), ["a", "b"]);
        assert_eq!(data(&["data: a\r", "\rdata: b\r", "", "\n", "\n"]), ["a", "b"]);
    }

    #[test]
    fn data_lines_are_joined_and_lose_one_leading_space() {
        assert_eq!(data(&["data: a\ndata:b\ndata:  c\ndata\ndata:\n\n"]), ["a\nb\n c\n\n"]);
    }

    #[test]
    fn an_event_has_its_own_name_only() {
        let named = events(&["event: x\ndata: 1\n\ndata: 2\n\nevent: lost\n\ndata: 3\n\n"]);
        let names: Vec<_> =
            named.iter().map(|(name, data)| (name.as_str(), data.as_str())).collect();
        assert_eq!(names, [("x", "1"), ("", "2"), ("", "3")]);
    }

    #[test]
    fn comments_and_unknown_fields_are_nothing() {
        assert_eq!(data(&[": data: x\n:\nid: 1\nretry: 5\nDATA: y\n data: z\n\n"]), [""; 0]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_alone() {
        assert_eq!(data(&["\u{feff}data: a\n\n\u{feff}data: b\n\n"]), ["a"]);
    }

    #[test]
    fn the_last_event_needs_no_empty_line() {
        assert_eq!(data(&["data: a\n\ndata: b"]), ["a", "b"]);
        assert_eq!(data(&["data: a\ndata: b\n"]), ["a\nb"]);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        let mut parser = Parser::default();
        let mut data = String::new();
        parser.push(b"data: a\xFFb\n\n", &mut |event| {
            data = event.data;
            true
        });
        assert_eq!(data, "a\u{fffd}b");
    }
}
