//! Tokens of a text.

use std::sync::LazyLock;

use tiktoken::{CoreBpe, encoding};

/// OpenAI's newest vocabulary, which is part of the program. Its 22 MiB are unpacked once.
static O200K: LazyLock<CoreBpe> = LazyLock::new(encoding::o200k_base);

/// Unpacks the vocabulary, which takes a twentieth of a second or two: at the start, not while a request waits.
pub fn prepare() {
    LazyLock::force(&O200K);
}

/// The tokens of a text in `o200k_base`. The time it takes grows with the text: cut the text first where a request
/// waits.
#[must_use]
pub fn tokens(text: &str) -> usize {
    O200K.count(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_no_square;

    #[test]
    fn texts_cost_what_the_models_tokenizer_says() {
        // tiktoken and bpe-openai give these numbers, too.
        for (text, cost) in [
            ("", 0),
            ("hello world", 2),
            (
                "- [2026-03-15] User: My budget for the Hawaii trip is $10,000, and we fly on 3 May.\n",
                31,
            ),
            ("我的预算是一万美元，我们五月三日和姐姐一起飞去夏威夷。", 18),
            ("मेरा बजट दस हज़ार डॉलर है और हम मई में उड़ान भरेंगे।", 19),
        ] {
            assert_eq!(tokens(text), cost, "{text}");
        }
    }

    #[test]
    fn a_text_without_a_gap_is_counted_soon() {
        prepare();
        for unit in ["a", " ", "日", "x?"] {
            assert_no_square(unit, 2_000, |times| assert!(tokens(&unit.repeat(times)) > 10));
        }
    }
}
