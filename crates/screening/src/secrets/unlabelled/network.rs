//! Detects the key of a network in words: "per internet basta scrivere tre gatti sul tetto".

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use crate::{
    finding::{Finding, collect, pattern},
    policy::Class,
};

/// A network, a word for "only", a word for typing, and three or more words; or the words before the typing.
static TYPED: LazyLock<Pattern> = LazyLock::new(|| {
    let network = r"\b(?:wi-?fi|wlan|internet|hotspot|\p{L}*netz|\p{L}*net|la box|router|réseau|rete|rede|red|conectarse|net)\b|интернет|вай-?фай";
    let words = r"((?:[\p{L}\p{M}'’]+ ){2,7}[\p{L}\p{M}'’]+)";
    pattern(&format!(
        concat!(
            r"(?i)(?:{network})[^.,!?\n]{{0,50}}?\b(?:just (?:type|enter)|only type|suffit de taper|il faut taper|basta (?:scrivere|digitare|mettere)",
            r"|hay que (?:poner|escribir)|solo (?:pon|escribe)|é só (?:digitar|escrever|botar)|набираешь|набери|введи)\s+{words}",
            r"|(?:{network})[^.!?\n]{{0,30}}?\b(?:einfach|nur|gewoon|alleen)\s+{words}\s(?:eintippen|eingeben|tippen|intikken|intypen|invoeren|typen)\b",
        ),
        network = network,
        words = words,
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    collect(&TYPED, Class::Credential, text, |_| true, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_typed_for_a_network_are_its_key() {
        for (text, value) in [
            (
                "Het gastennet hier, gewoon drie gele fietsen op zolder intikken, ja",
                Some("drie gele fietsen op zolder"),
            ),
            ("é só digitar dois macacos na rede", None),
            (
                "Pra internet é só digitar dois macacos na rede azul",
                Some("dois macacos na rede azul"),
            ),
            ("the internet is slow, just type me a message", None),
        ] {
            let found: Vec<&str> = find(text).into_iter().map(|it| &text[it.span]).collect();
            assert_eq!(found.first().copied(), value, "{text}");
        }
    }
}
