//! Detects quoted passphrases: beside a word that means one, or beside a phrase that opens a device. 'the phrase that
//! unlocks the backup drive: "…"'.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use super::near::is_near;
use crate::{
    finding::{Finding, pattern},
    policy::Class,
};

static QUOTE: LazyLock<Pattern> =
    LazyLock::new(|| pattern(r#"[“"«「„]\s?([^“”"«»「」„\n]{6,80}?)\s?[”"»」“]"#));

/// Words for a passphrase.
static PASSPHRASE: LazyLock<Pattern> =
    LazyLock::new(|| pattern(r"(?i)pass ?phrase|合言葉|パスフレーズ|口令|암호문"));

/// Words for words.
static PHRASE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:phrase|frase|satz|zin|woorden|wörter|words|palabras|palavras|parole|mots)\b|фраз|слов|عبارة|문구|词|句|フレーズ|वाक्य",
    )
});

/// Words for opening.
static OPENS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:opens?|unlocks?|decrypts?|öffne\w*|entsperr\w*|ontgrendel\w*|ouvre|déverrouill\w*|abre|desbloque\w*|desbloqu\w*|apre|sblocc\w*)\b|открыва|разблокир|تفتح|開|打开|解锁|열[리려어]|खुल",
    )
});

/// Devices and places for secrets.
static DEVICE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:disk|drive|disque|disco|festplatte|schijf|wallet|vault|safe|tresor|coffre|cofre|laptop|back-?up|sauvegarde)\b|архив|диск|القرص|バックアップ|ディスク|백업|备份|硬盘|डिस्क",
    )
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    QUOTE
        .values(text)
        .map(|it| it.value)
        .filter(|quote| {
            let near = |cue: &Pattern| is_near(cue, text, quote);
            near(&PASSPHRASE) || (near(&PHRASE) && near(&OPENS) && near(&DEVICE))
        })
        .map(|quote| Finding::bare(quote, Class::Credential))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_phrase_that_opens_a_device_is_found_and_other_quotations_stay() {
        for text in [
            "the passphrase for the drive is still \"wide lakes under one bridge\"",
            "« trois renards polis », voilà la phrase qui déverrouille le disque.",
            "Диск открывается фразой «ветер поле чайник».",
        ] {
            assert_eq!(find(text).len(), 1, "{text}");
        }
        for text in [
            "She opens every talk with the phrase \"good things take time\".",
            "My favourite album is \"The Dark Side of the Moon\".",
        ] {
            assert!(find(text).is_empty(), "{text}");
        }
    }
}
