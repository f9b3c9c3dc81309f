//! Text to token ids, truncated to the length that is embedded.

use std::ops::Range;
use std::path::Path;

use kitoken::{Kitoken, Processing, convert::convert_tokenizers};

use super::frame::Frame;
use crate::{EmbedError, PASSAGE_TOKENS, QUERY_TOKENS, READ_TOKENS, Space};
use memgate_text::question::asking_part::{Asking, WINDOW, asking_part};

/// Maximum number of bytes of a passage: 64 per token.
const PASSAGE_BYTES: usize = 64 * PASSAGE_TOKENS;
/// Queries of up to this many bytes are tokenised whole before their asking part is searched for.
const QUERY_BYTES: usize = 2 * WINDOW;

/// Shortens a query for the queue: at most two windows, whatever the message's size.
pub(super) fn bounded_query(text: &str) -> String {
    if text.len() <= QUERY_BYTES {
        return text.to_owned();
    }
    match asking_part(text) {
        Asking::Question(question) => question.to_owned(),
        Asking::Ends { head, tail } => format!("{head} {tail}"),
    }
}

/// Shortens a passage for the queue.
pub(super) fn bounded_passage(text: &str) -> String {
    text[..text.floor_char_boundary(PASSAGE_BYTES)].to_owned()
}

/// A model's tokenizer, with its special tokens and prefixes.
pub(super) struct Tokens {
    tokenizer: Kitoken,
    frame: Frame,
    query_prefix: Prefix,
    passage_prefix: Prefix,
}

/// A part of a text that is read at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) ids: Vec<u32>,
    /// The tokens of each span.
    pub(super) spans: Vec<Range<usize>>,
}

/// A prefix that the model expects.
struct Prefix {
    text: String,
    /// Its tokens, for truncated texts, which cannot be tokenised together with it.
    ids: Vec<u32>,
}

impl Tokens {
    /// Reads `tokenizer.json` at `path`; the prefixes of `space` are added to texts.
    pub(super) fn load(path: &Path, space: &Space) -> Result<Self, EmbedError> {
        let file = std::fs::read(path).map_err(|error| EmbedError::load(path, error))?;
        let frame = Frame::read(&file).map_err(|error| EmbedError::load(path, error))?;
        let mut definition =
            convert_tokenizers(&file).map_err(|error| EmbedError::load(path, error))?;
        drop(file);
        // Tokenizer files may contain their authors' last settings, such as padding to 128 tokens.
        let sized = |step: &Processing| {
            matches!(step, Processing::Pad { .. } | Processing::Truncate { .. })
        };
        definition.config.processing.retain(|step| !sized(step));
        let tokenizer =
            Kitoken::from_definition(definition).map_err(|error| EmbedError::load(path, error))?;
        let prefix = |text: &str| -> Result<Prefix, EmbedError> {
            let ids = encode(&tokenizer, text.trim_end())?;
            let text = text.to_owned();
            if frame.before.len() + ids.len() + frame.behind.len() > QUERY_TOKENS / 2 {
                return Err(EmbedError::load(path, format!("prefix {text:?} is too long")));
            }
            Ok(Prefix { text, ids })
        };
        let query_prefix = prefix(&space.query_prefix)?;
        let passage_prefix = prefix(&space.passage_prefix)?;
        Ok(Self { query_prefix, passage_prefix, tokenizer, frame })
    }

    /// A query's ids, at most [`QUERY_TOKENS`]: the asking part of a longer one.
    pub(super) fn query(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let prefix = &self.query_prefix;
        let whole = encode(&self.tokenizer, &format!("{}{text}", prefix.text))?;
        if whole.len() <= self.room(QUERY_TOKENS) {
            return Ok(self.framed(&[&whole]));
        }
        let room = self.room(QUERY_TOKENS) - prefix.ids.len();
        match asking_part(text) {
            Asking::Question(question) => {
                let ids = encode(&self.tokenizer, question)?;
                Ok(self.framed(&[&prefix.ids, last(&ids, room)]))
            }
            Asking::Ends { head, tail } => {
                let head = encode(&self.tokenizer, head)?;
                let tail = encode(&self.tokenizer, tail)?;
                let head = first(&head, room / 2);
                let tail = last(&tail, room - head.len());
                Ok(self.framed(&[&prefix.ids, head, tail]))
            }
        }
    }

    /// A passage's ids, at most [`PASSAGE_TOKENS`]: the beginning of a longer one.
    pub(super) fn passage(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let ids = encode(&self.tokenizer, &format!("{}{text}", self.passage_prefix.text))?;
        Ok(self.framed(&[first(&ids, self.room(PASSAGE_TOKENS))]))
    }

    /// A text up to the end of its last span in windows of at most [`READ_TOKENS`], with the tokens of each span. A window begins with a span; a span that
    /// does not fit into a window is read as far as it does.
    pub(super) fn windows(
        &self,
        text: &str,
        spans: &[Range<usize>],
    ) -> Result<Vec<Window>, EmbedError> {
        let mut cuts: Vec<usize> = spans.iter().flat_map(|span| [span.start, span.end]).collect();
        cuts.push(0);
        cuts.sort_unstable();
        cuts.dedup();
        // The tokens before each cut.
        let (mut ids, mut before) = (Vec::new(), vec![0]);
        for cut in cuts.windows(2) {
            let part = text.get(cut[0]..cut[1]).unwrap_or_default();
            if !part.trim().is_empty() {
                ids.extend(encode(&self.tokenizer, part)?);
            }
            before.push(ids.len());
        }
        let at = |place: usize| cuts.binary_search(&place).map_or(0, |cut| before[cut]);
        let spans = spans.iter().map(|span| at(span.start)..at(span.end));
        let framing = self.frame.before.len() + self.query_prefix.ids.len();
        let room = self.room(READ_TOKENS) - self.query_prefix.ids.len();
        let mut windows: Vec<Window> = Vec::new();
        let mut begin = 0;
        for span in spans {
            // The first window begins with the text.
            if windows.is_empty() || span.end > begin + room && span.start > begin {
                begin = if windows.is_empty() && span.end <= room { 0 } else { span.start };
                let part = first(&ids[begin..], room);
                let ids = self.framed(&[&self.query_prefix.ids, part]);
                windows.push(Window { ids, spans: Vec::new() });
            }
            let within = |token: usize| framing + (token - begin).min(room);
            if let Some(window) = windows.last_mut() {
                window.spans.push(within(span.start)..within(span.end));
            }
        }
        Ok(windows)
    }

    /// The id that pads shorter texts of a batch.
    pub(super) fn padding(&self) -> u32 {
        self.frame.padding
    }

    /// Number of tokens of text that fit into `limit` in addition to the special ones.
    fn room(&self, limit: usize) -> usize {
        limit - self.frame.before.len() - self.frame.behind.len()
    }

    fn framed(&self, parts: &[&[u32]]) -> Vec<u32> {
        let mut ids = self.frame.before.clone();
        for part in parts {
            ids.extend_from_slice(part);
        }
        ids.extend_from_slice(&self.frame.behind);
        if ids.is_empty() {
            // A model without special tokens needs at least one token.
            ids.push(self.frame.padding);
        }
        ids
    }
}

fn first(ids: &[u32], count: usize) -> &[u32] {
    &ids[..count.min(ids.len())]
}

fn last(ids: &[u32], count: usize) -> &[u32] {
    &ids[ids.len().saturating_sub(count)..]
}

/// The ids of `text`, in which the names of special tokens are text like any other.
fn encode(tokenizer: &Kitoken, text: &str) -> Result<Vec<u32>, EmbedError> {
    // The tokenizer knows no other white space than spaces.
    let text = text.replace(char::is_whitespace, " ");
    tokenizer.encode(text, false).map_err(|error| EmbedError::Failed(format!("tokenizer: {error}")))
}
