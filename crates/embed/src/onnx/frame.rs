//! The special tokens around a text, as a `tokenizer.json` names them.

use std::collections::HashMap;

use serde::Deserialize;

/// The special tokens before and after every text, and the one that pads shorter texts of a batch.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Frame {
    pub(super) before: Vec<u32>,
    pub(super) behind: Vec<u32>,
    pub(super) padding: u32,
}

impl Frame {
    /// Reads the frame in `file`, the contents of a `tokenizer.json`.
    pub(super) fn read(file: &[u8]) -> serde_json::Result<Self> {
        let file: File = serde_json::from_slice(file)?;
        let named = |token: &&Added| ["[PAD]", "<pad>"].contains(&token.content.as_str());
        let padding = match file.padding {
            Some(padding) => padding.pad_id,
            None => file.added_tokens.iter().find(named).map_or(0, |token| token.id),
        };
        let mut frame = Self { padding, ..Self::default() };
        if let Some(processor) = file.post_processor {
            frame.add(processor);
        }
        Ok(frame)
    }

    fn add(&mut self, processor: PostProcessor) {
        match processor {
            PostProcessor::BertProcessing { cls, sep }
            | PostProcessor::RobertaProcessing { cls, sep } => {
                self.before.push(cls.1);
                self.behind.push(sep.1);
            }
            PostProcessor::TemplateProcessing { single, special_tokens } => {
                let mut side = &mut self.before;
                for piece in single {
                    match piece {
                        Piece::Sequence {} => side = &mut self.behind,
                        Piece::SpecialToken { id } => {
                            side.extend(special_tokens.get(&id).iter().flat_map(|it| &it.ids));
                        }
                    }
                }
            }
            PostProcessor::Sequence { processors } => {
                processors.into_iter().for_each(|processor| self.add(processor));
            }
            PostProcessor::Other => {}
        }
    }
}

#[derive(Deserialize)]
struct File {
    padding: Option<Padding>,
    #[serde(default)]
    added_tokens: Vec<Added>,
    post_processor: Option<PostProcessor>,
}

#[derive(Deserialize)]
struct Padding {
    pad_id: u32,
}

#[derive(Deserialize)]
struct Added {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PostProcessor {
    BertProcessing {
        cls: (String, u32),
        sep: (String, u32),
    },
    RobertaProcessing {
        cls: (String, u32),
        sep: (String, u32),
    },
    TemplateProcessing {
        single: Vec<Piece>,
        special_tokens: HashMap<String, Special>,
    },
    Sequence {
        processors: Vec<PostProcessor>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
enum Piece {
    Sequence {},
    SpecialToken { id: String },
}

#[derive(Deserialize)]
struct Special {
    ids: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(post_processor: &str) -> Frame {
        Frame::read(format!(r#"{{"padding": {{"pad_id": 7}}, {post_processor}}}"#).as_bytes())
            .unwrap()
    }

    #[test]
    fn every_kind_of_post_processor_frames_a_text() {
        let expected = Frame { before: vec![1], behind: vec![2], padding: 7 };
        for form in [
            r#""type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]"#,
            r#""type": "RobertaProcessing", "cls": ["<s>", 1], "sep": ["</s>", 2], "trim_offsets": true"#,
            r#""type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                "special_tokens": {"<s>": {"ids": [1]}, "</s>": {"ids": [2]}}"#,
        ] {
            assert_eq!(frame(&format!(r#""post_processor": {{{form}}}"#)), expected);
            let nested = format!(
                r#""post_processor": {{"type": "Sequence", "processors": [{{"type": "ByteLevel"}}, {{{form}}}]}}"#
            );
            assert_eq!(frame(&nested), expected);
        }
    }

    #[test]
    fn a_tokenizer_without_post_processor_has_no_frame() {
        let file = br#"{"added_tokens": [{"id": 4, "content": "<pad>"}], "post_processor": null}"#;
        assert_eq!(Frame::read(file).unwrap(), Frame { padding: 4, ..Frame::default() });
    }
}
