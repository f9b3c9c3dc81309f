//! Control tokens of chat templates: `<|im_start|>`, `[INST]`, `<start_of_turn>` and the like. Model servers tokenise
//! the rendered template with these enabled, so a memory that spells one out would end the system message and open a
//! turn of its own. Breaking one character makes it plain text again.
//!
//! Tokens are recognised by their shape: families agree on shapes, while every model adds names.

/// Names in angle brackets whose shape does not differ from HTML: begin and end of text, padding, reasoning, tools, files.
const ANGLE: [&str; 19] = [
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "mask",
    "cls",
    "sep",
    "sop",
    "eop",
    "eot",
    "think",
    "tool",
    "tools",
    "system",
    "assistant",
    "filename",
    "filepath",
    "reponame",
];

/// Names in square brackets: Mistral's, Llama 2's, Kimi's and GLM's.
const SQUARE: [&str; 20] = [
    "inst",
    "bos",
    "eos",
    "eot",
    "pad",
    "cls",
    "sep",
    "img",
    "audio",
    "think",
    "args",
    "prefix",
    "suffix",
    "middle",
    "gmask",
    "smask",
    "mask",
    "unk",
    "start_header_id",
    "end_header_id",
];

/// Marks without a name: MiniMax's, and GLM's switch for reasoning.
const MARKS: [&str; 7] = ["]~b]", "]~!b[", "]!p~[", "]!d~[", "[e~[", "]<]", "/nothink"];

/// The longest name that is looked at, in bytes; `<|reserved_special_token_247|>` has 24.
const MAX_NAME: usize = 48;

/// How a control token's mark is written when it begins `text`: the replacement of its first character.
pub(crate) fn broken(text: &str) -> Option<&'static str> {
    let mut chars = text.chars();
    let (first, second) = (chars.next()?, chars.next()?);
    match (first, second) {
        // ChatML, Llama 3, Phi, Command R, Harmony; DeepSeek writes a full-width bar.
        ('<', '|' | '｜') => Some("&lt;"),
        ('|', '>') => Some("&#124;"),
        ('｜', '>') => Some("&#65372;"),
        // EXAONE.
        ('[', '|') => Some("&#91;"),
        ('[' | ']' | '/', _) if MARKS.iter().any(|mark| text.starts_with(mark)) => {
            Some(match first {
                '[' => "&#91;",
                ']' => "&#93;",
                _ => "&#47;",
            })
        }
        // DeepSeek's `｜DSML｜`.
        ('｜', _) => name(text, '｜').map(|_| "&#65372;"),
        // Llama 2's <<SYS>>.
        ('<', '<')
            if text
                .trim_start_matches('<')
                .starts_with(|c: char| c == '/' || c.is_ascii_alphabetic()) =>
        {
            Some("&lt;")
        }
        // Gemma's `<turn|>`.
        ('<', _) if name(text, '|').is_some() => Some("&lt;"),
        // Seed's `<seed:bos>`, DeepSeek's `<dsml:`.
        ('<', _) if is_namespace(text) => Some("&lt;"),
        ('<', _) => name(text, '>')
            .is_some_and(|name| {
                name.contains('_') || name.starts_with("unused") || is_one_of(&ANGLE, name)
            })
            .then_some("&lt;"),
        ('[', _) => {
            let is_control =
                |name: &str| is_one_of(&SQUARE, name) || (name.contains('_') && is_upper(name));
            name(text, ']').is_some_and(is_control).then_some("&#91;")
        }
        _ => None,
    }
}

/// The name in `<name>` or `</name>`, where `text` begins so and `close` follows.
fn name(text: &str, close: char) -> Option<&str> {
    let mut inside = text.chars();
    inside.next();
    let inside = inside.as_str();
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let end = inside
        .bytes()
        .take(MAX_NAME)
        .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))?;
    let (name, rest) = inside.split_at(end);
    (!name.is_empty() && rest.starts_with(close)).then_some(name)
}

/// Whether `text` begins with `<name:` or `</name:`, and not with the address of a page.
fn is_namespace(text: &str) -> bool {
    let after = name(text, ':').and_then(|_| text.split_once(':'));
    after.is_some_and(|(_, rest)| !rest.starts_with("//"))
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn is_upper(name: &str) -> bool {
    !name.bytes().any(|byte| byte.is_ascii_lowercase())
}
