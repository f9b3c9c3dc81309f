//! Greetings, thanks, farewells and bare acknowledgements, in the languages we
//! claim. A message is one only if it is nothing else: "Hi, what's my budget?"
//! is not.

use std::{collections::HashSet, sync::LazyLock};

use unicode_normalization::UnicodeNormalization;

/// Longer messages say more than a greeting.
const MAX_CHARS: usize = 60;

/// Phrases a greeting is made of, normalised: lower case, no punctuation, one
/// space between words. The main rules are the first lines; the rest is what
/// people really type.
const PHRASES: &[&str] = &[
    // English
    "hi",
    "hii",
    "hiya",
    "hello",
    "hey",
    "heya",
    "howdy",
    "yo",
    "there",
    "again",
    "all",
    "everyone",
    "thanks",
    "thank you",
    "thank you so much",
    "thank you very much",
    "thx",
    "ty",
    "cheers",
    "ta",
    "a lot",
    "so much",
    "very much",
    "many thanks",
    "much appreciated",
    "thanks a lot",
    "thanks a million",
    "thanks so much",
    "appreciate it",
    "bye",
    "bye bye",
    "goodbye",
    "see you",
    "see ya",
    "see you later",
    "see you tomorrow",
    "later",
    "talk later",
    "talk to you later",
    "take care",
    "good night",
    "good morning",
    "good afternoon",
    "good evening",
    "good day",
    "morning",
    "evening",
    "night",
    "have a nice day",
    "have a good day",
    "have a great day",
    "have a good one",
    "have a nice evening",
    "have a great weekend",
    "have a good weekend",
    "ok",
    "okay",
    "okey",
    "k",
    "kk",
    "sure",
    "yes",
    "yep",
    "yeah",
    "yup",
    "no",
    "nope",
    "nah",
    "cool",
    "nice",
    "great",
    "perfect",
    "awesome",
    "got it",
    "sounds good",
    "alright",
    "fine",
    "lol",
    "haha",
    "no problem",
    "no worries",
    "you too",
    "welcome",
    "youre welcome",
    "whats up",
    "sup",
    "how are you",
    "how are you doing",
    "hows it going",
    "nice to meet you",
    "my friend",
    "mate",
    "friend",
    "buddy",
    "good",
    "that helps",
    "that helped",
    "for your help",
    "for the help",
    "for everything",
    "and",
    "happy new year",
    "merry christmas",
    // German
    "hallo",
    "hallöchen",
    "moin",
    "servus",
    "grüß gott",
    "guten tag",
    "guten morgen",
    "guten abend",
    "gute nacht",
    "danke",
    "danke schön",
    "dankeschön",
    "vielen dank",
    "danke dir",
    "besten dank",
    "tausend dank",
    "tschüss",
    "tschüs",
    "ciao",
    "auf wiedersehen",
    "bis später",
    "bis dann",
    "bis morgen",
    "bis bald",
    "ja",
    "nein",
    "klar",
    "alles klar",
    "passt",
    "super",
    "prima",
    "wie gehts",
    "wie geht es dir",
    "wie gehts dir",
    "schönen tag",
    "schönen tag noch",
    "schönen abend",
    "schönes wochenende",
    "na",
    // Spanish
    "hola",
    "buenas",
    "buenos días",
    "buenas tardes",
    "buenas noches",
    "gracias",
    "muchas gracias",
    "mil gracias",
    "adiós",
    "hasta luego",
    "hasta mañana",
    "hasta pronto",
    "nos vemos",
    "chao",
    "sí",
    "si",
    "vale",
    "de acuerdo",
    "claro",
    "perfecto",
    "genial",
    "qué tal",
    "que tal",
    "cómo estás",
    "de nada",
    "buen día",
    "que tengas buen día",
    // French
    "bonjour",
    "bonsoir",
    "salut",
    "coucou",
    "merci",
    "merci beaucoup",
    "merci bien",
    "au revoir",
    "à bientôt",
    "à demain",
    "à plus",
    "à plus tard",
    "bonne nuit",
    "bonne journée",
    "bonne soirée",
    "bon week end",
    "oui",
    "non",
    "daccord",
    "ça marche",
    "parfait",
    "ça va",
    "comment ça va",
    "comment vas tu",
    "mille mercis",
    "tout le monde",
    // Portuguese
    "olá",
    "ola",
    "oi",
    "bom dia",
    "boa tarde",
    "boa noite",
    "obrigado",
    "obrigada",
    "muito obrigado",
    "muito obrigada",
    "valeu",
    "tchau",
    "até logo",
    "até mais",
    "até amanhã",
    "sim",
    "não",
    "certo",
    "beleza",
    "tudo bem",
    "tudo bom",
    "como vai",
    "combinado",
    "perfeito",
    // Hindi, in both scripts
    "नमस्ते",
    "नमस्कार",
    "हैलो",
    "हेलो",
    "हाय",
    "धन्यवाद",
    "शुक्रिया",
    "बहुत धन्यवाद",
    "बहुत शुक्रिया",
    "बहुत बहुत धन्यवाद",
    "अलविदा",
    "फिर मिलेंगे",
    "शुभ रात्रि",
    "शुभ प्रभात",
    "सुप्रभात",
    "हाँ",
    "हां",
    "नहीं",
    "ठीक है",
    "अच्छा",
    "कैसे हो",
    "कैसे हैं",
    "आप कैसे हैं",
    "जी",
    "namaste",
    "namaskar",
    "dhanyavaad",
    "dhanyavad",
    "shukriya",
    "bahut shukriya",
    "bahut dhanyavad",
    "theek hai",
    "thik hai",
    "accha",
    "acha",
    "haan",
    "nahi",
    "phir milenge",
    "kaise ho",
    "shubh ratri",
    "ji",
    // Chinese and Japanese; these need no spaces
    "你好",
    "您好",
    "你们好",
    "大家好",
    "嗨",
    "哈喽",
    "哈啰",
    "嘿",
    "喂",
    "早",
    "早上好",
    "早安",
    "上午好",
    "中午好",
    "下午好",
    "晚上好",
    "晚安",
    "谢谢",
    "谢谢你",
    "谢谢您",
    "多谢",
    "感谢",
    "非常感谢",
    "太感谢了",
    "谢了",
    "再见",
    "拜拜",
    "回头见",
    "明天见",
    "好",
    "好的",
    "好吧",
    "好呀",
    "好啊",
    "行",
    "行吧",
    "可以",
    "嗯",
    "嗯嗯",
    "是",
    "是的",
    "对",
    "对的",
    "不",
    "不是",
    "没事",
    "没问题",
    "不客气",
    "知道了",
    "明白",
    "明白了",
    "收到",
    "哈哈",
    "哈哈哈",
    "辛苦了",
    "最近怎么样",
    "你好吗",
    "呀",
    "啊",
    "啦",
    "了",
    "哦",
    "噢",
    "在吗",
    "こんにちは",
    "こんばんは",
    "おはよう",
    "おはようございます",
    "おやすみ",
    "おやすみなさい",
    "やあ",
    "どうも",
    "ありがとう",
    "ありがとうございます",
    "ありがとうございました",
    "どうもありがとう",
    "どうもありがとうございます",
    "本当に",
    "さようなら",
    "さよなら",
    "またね",
    "また明日",
    "じゃあね",
    "では",
    "じゃあ",
    "はい",
    "いいえ",
    "うん",
    "了解",
    "了解です",
    "了解しました",
    "わかりました",
    "分かりました",
    "わかった",
    "分かった",
    "オッケー",
    "オーケー",
    "いいね",
    "いいですね",
    "元気",
    "お元気ですか",
    "元気ですか",
    "はじめまして",
    "よろしく",
    "よろしくお願いします",
    "お疲れ様です",
    "お疲れ様",
    "すみません",
    "助かりました",
    "助かる",
    "ね",
    "よ",
    "です",
];

/// Words that only lean on a greeting and are none alone.
const NOT_ALONE: &[&str] = &[
    "there",
    "again",
    "all",
    "everyone",
    "a lot",
    "so much",
    "very much",
    "and",
    "mate",
    "friend",
    "buddy",
    "my friend",
    "for your help",
    "for the help",
    "for everything",
    "呀",
    "啊",
    "啦",
    "了",
    "本当に",
    "ね",
    "よ",
    "です",
    "tout le monde",
    "na",
    "later",
];

static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| PHRASES.iter().copied().collect());
static LEANING: LazyLock<HashSet<&str>> = LazyLock::new(|| NOT_ALONE.iter().copied().collect());
static LONGEST_WORDS: LazyLock<usize> =
    LazyLock::new(|| PHRASES.iter().map(|p| p.split(' ').count()).max().unwrap_or(1));

/// Whether a message is nothing but greetings. Also true of one that has no
/// letters or digits at all, such as a thumbs-up.
#[must_use]
pub fn is_greeting(text: &str) -> bool {
    if text.chars().take(MAX_CHARS + 1).count() > MAX_CHARS {
        return false;
    }
    let plain = normalise(text);
    if plain.is_empty() {
        // "?" asks to go on, "👍" does not.
        return !text.trim().is_empty() && !text.contains(['?', '？', '؟']);
    }
    // "heyyy" is "hey", "gooood" is "good".
    [plain.clone(), drawn_in(&plain, 1), drawn_in(&plain, 2)].iter().any(|plain| {
        let words: Vec<&str> = plain.split(' ').collect();
        made_of_phrases(&words)
    })
}

/// Letters written three times or more, written so many times.
fn drawn_in(plain: &str, times: usize) -> String {
    let chars: Vec<char> = plain.chars().collect();
    let run = |same: &[char]| {
        let kept = if same.len() > 2 && same[0].is_alphabetic() { times } else { same.len() };
        same[..kept].iter().collect::<String>()
    };
    chars.chunk_by(|a, b| a == b).map(run).collect()
}

/// Syllables of laughter.
const LAUGHS: &[&str] =
    &["ha", "he", "hi", "ho", "ja", "je", "ji", "rs", "kk", "hh", "ww", "哈", "呵", "嘿"];

/// Whether a word is a laugh: the same syllable again and again, perhaps cut off in the middle.
fn is_laugh(word: &str) -> bool {
    LAUGHS.iter().any(|laugh| {
        let rest = word.trim_start_matches(laugh);
        let count = (word.len() - rest.len()) / laugh.len();
        count >= 2 && laugh.starts_with(rest)
    })
}

/// Lower case, apostrophes gone, other punctuation and symbols as spaces.
fn normalise(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        match c {
            '\'' | '’' => {}
            // Vowel signs and other marks belong to their word.
            c if c.is_alphanumeric() => plain.push(c),
            // Behind an emoji they only say how it is drawn.
            c if is_mark(c) && plain.ends_with(|c: char| c != ' ') => plain.push(c),
            _ if plain.ends_with(' ') || plain.is_empty() => {}
            _ => plain.push(' '),
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Whether words can be cut into phrases, at least one of which stands alone.
/// Characters of scripts without spaces are cut the same way, one by one.
fn made_of_phrases(words: &[&str]) -> bool {
    // reach[i]: the first i words are phrases; the flag says that one of them stands alone.
    let mut reach: Vec<Option<bool>> = vec![None; words.len() + 1];
    reach[0] = Some(false);
    for start in 0..words.len() {
        let Some(alone) = reach[start] else { continue };
        for end in start + 1..=words.len().min(start + *LONGEST_WORDS) {
            let phrase = words[start..end].join(" ");
            let found = if ALL.contains(phrase.as_str()) {
                Some(!LEANING.contains(phrase.as_str()))
            } else if end == start + 1 && is_laugh(words[start]) {
                Some(true)
            } else if end == start + 1 {
                unspaced(words[start])
            } else {
                None
            };
            if let Some(stands) = found {
                let now = alone || stands || reach[end] == Some(true);
                reach[end] = Some(now);
            }
        }
    }
    reach[words.len()] == Some(true)
}

/// The same for one "word" of a script that puts no spaces: `谢谢你好的`.
fn unspaced(word: &str) -> Option<bool> {
    if !word
        .chars()
        .any(|c| ('\u{3040}'..='\u{30ff}').contains(&c) || ('\u{4e00}'..='\u{9fff}').contains(&c))
    {
        return None;
    }
    let cuts: Vec<usize> = word.char_indices().map(|(i, _)| i).chain([word.len()]).collect();
    let mut reach: Vec<Option<bool>> = vec![None; cuts.len()];
    reach[0] = Some(false);
    for start in 0..cuts.len() {
        let Some(alone) = reach[start] else { continue };
        for end in start + 1..cuts.len() {
            let phrase = &word[cuts[start]..cuts[end]];
            if ALL.contains(phrase) {
                let now = alone || !LEANING.contains(phrase) || reach[end] == Some(true);
                reach[end] = Some(now);
            }
        }
    }
    reach[cuts.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_thanks_and_acknowledgements_are_recognised_in_every_language() {
        for text in [
            "hi",
            "Hello!",
            "hey there",
            "Thanks!!",
            "thank you",
            "bye",
            "see you",
            "OK",
            "sure.",
            "no",
            "Good morning :)",
            "ok thanks",
            "thanks a lot!",
            "Hi, how are you?",
            "👍",
            "🙏🙏",
            "Hallo!",
            "Vielen Dank",
            "guten Morgen",
            "¡Hola! ¿Qué tal?",
            "muchas gracias",
            "Bonjour",
            "d'accord, merci !",
            "Olá, tudo bem?",
            "obrigada!",
            "नमस्ते",
            "धन्यवाद!",
            "theek hai, shukriya",
            "你好",
            "谢谢你！",
            "好的，谢谢",
            "好的谢谢",
            "こんにちは",
            "ありがとうございます！",
            "了解です、ありがとう",
            "☕️",
            "thanks ❤️!",
            "heeeey",
            "THANKSSSS",
            "gooood morning",
            "olááá",
            "谢谢谢谢",
            "hahahah",
            "jajaja gracias",
            "kkkkk",
            "哈哈哈哈哈",
        ] {
            assert!(is_greeting(text), "{text}");
        }
    }

    #[test]
    fn a_greeting_with_anything_else_is_none() {
        for text in [
            "Hi, what's my budget?",
            "thanks, and the other one?",
            "ok so what about Tuesday",
            "continue",
            "there",
            "?",
            "",
            "   ",
            "yes, book it",
            "你好，我的预算是多少？",
            "我很好",
            "hola, ¿cuál es mi presupuesto?",
            "no milk",
            "and",
            "good morning, I moved to Lyon",
            "www.example.org",
            "hi5",
            "hero",
            "1000",
            "jej",
        ] {
            assert!(!is_greeting(text), "{text}");
        }
    }
}
