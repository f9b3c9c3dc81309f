//! Detects one-time codes that no label names: six digits that have just arrived. "viens de recevoir 205 718".

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use super::near::around;
use crate::{
    finding::{Finding, pattern},
    policy::Class,
};

/// How far the arrival may be from the code, in bytes.
const NEAR: usize = 60;

/// Six digits, in one or two groups, perhaps with the letter of the service.
static DIGITS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?:^|[^A-Za-z0-9_.,:/€$£¥+#*-])((?:[A-Z]-)?(?:\d{3}[ -]\d{3}|\d{6}))(?:[^A-Za-z0-9.,:/%€$£¥*#-]|[.,:](?:\s|$)|$)",
    )
});

/// Words that say that a message arrived, or by which way.
static ARRIVED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:texted|text message|sms|just (?:got|received|came)|(?:gerade|eben)[^.!?\n]{0,20}(?:bekommen|gekommen|gekriegt|geschickt)|kam (?:gerade|eben)|(?:gerade|eben) kam|kriegte?",
        r"|kreeg net|zojuist|net[^.!?\n]{0,20}(?:binnen|gekregen)|viens de recevoir|reçu|par texto|acaba de llegar|llegó|recibí|arrivat[oa]|ricevuto|chegou|acabou de chegar|recebi",
        r"|aaya|aayi|mila)\b|прислал|пришл[оаи]|пришёл|смс|收到|短信|簡訊|届い|届き|来た|来ました|문자|왔|आया|आई|मिल[ाी]|मैसेज",
    ))
});

/// Units that make it an amount.
static AMOUNT: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*(?:[%€$£¥₹元円원]|(?:euros?|eur|usd|dollars?|pounds?|francs?|reais|rubl|rupees?|rupaye|followers?|views?|people)\b|руб|रुप)",
    )
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    DIGITS
        .values(text)
        .map(|it| it.value)
        .filter(|digits| {
            let (before, after) = around(text, digits, NEAR);
            !AMOUNT.is_match(after) && (ARRIVED.is_match(before) || ARRIVED.is_match(after))
        })
        .map(|digits| Finding::bare(digits, Class::Code))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_that_arrived_are_a_code_and_an_amount_is_none() {
        for (text, value) in [
            ("just got texted G-618204, what now", Some("G-618204")),
            ("je viens de recevoir 205 718 par texto", Some("205 718")),
            ("только что пришло 408-117 из госуслуг", Some("408-117")),
            ("今290 615ってSMSが来たけど", Some("290 615")),
            ("abhi 416 093 aaya hai phone pe", Some("416 093")),
            ("I just got 250000 euros from my aunt", None),
            ("the city has 205 718 inhabitants", None),
        ] {
            let found: Vec<&str> = find(text).into_iter().map(|it| &text[it.span]).collect();
            assert_eq!(found.first().copied(), value, "{text}");
        }
    }
}
