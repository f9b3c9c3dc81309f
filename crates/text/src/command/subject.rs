//! What is to be forgotten, and whether a text says it in the same words. Strict: whoever is
//! wrong here destroys what nobody wanted to lose.

use std::{collections::HashSet, sync::LazyLock};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Something to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A statement: whatever says it.
    Fact(String),
    /// A topic: whatever speaks of it.
    Topic(String),
}

/// A list of words.
type Words = LazyLock<HashSet<&'static str>>;

/// Words of grammar, and words that stand for any verb of being or having.
static GRAMMAR: Words = LazyLock::new(|| {
    set(
        "a an the is are was were be been being am im ive id ill of for to in on at by with from and or \
    but it its this that these those there i me my mine we us our ours you your yours he she they him her them his \
    their have has had having got get do does did will would can could should not no so as about really very also \
    user users s m re ve d ll t still now just once ever \
    ich mich mir mein meine meinen meinem meiner wir uns unser unsere du dein deine deinen der die das den dem des ein \
    eine einen einem einer ist bin sind war waren habe hab hat haben heißt heisst und oder aber im am zu zum zur von mit \
    auf für über in an es er sie nicht kein keine \
    yo mi mis me nos nuestro nuestra tu tus su sus el la los las un una unos unas es soy son era fue tengo tiene llama \
    de del en y o que a al con por para se lo no \
    je j moi mon ma mes nous notre nos ton ta tes il elle le les l un une des est suis sont était ai a avons du de d et \
    ou que qu en au aux dans pour avec sur s appelle ne pas \
    eu meu minha meus minhas nosso nossa seu sua o os as um uma é sou são era foi tenho tem chama do da dos das em no na \
    e ou que com por para se não \
    io mio mia miei mie il lo gli i un uno una è sono era ho ha abbiamo di del della dello nel nella e o che con per su \
    si chiama non \
    ik mij mijn wij ons onze het een de is ben zijn was heb heeft hebben heet en of maar van met op voor over in aan niet geen \
    मैं मुझे मेरा मेरी मेरे हम है हूँ हूं हैं था थी का की के को में से और पर ने कि main mera meri mere mujhe hai hoon hun hain tha thi ka \
    ki ke ko mein me se aur par ne",
    )
});

/// Characters of Chinese and Japanese that are grammar.
const GRAMMAR_CJK: &str =
    "我的是在了们們有和也都就这那個个一不很私僕俺のはがをにとでもだですますっていこ";

/// What denies.
static DENIALS: Words = LazyLock::new(|| {
    set(
        "not no never none nobody don't dont doesn't doesnt didn't didnt isn't isnt aren't arent wasn't won't \
    can't cant cannot haven't hasn't longer without anymore stopped quit nicht kein keine keinen nie niemals no nunca \
    jamás ya pas plus jamais não jamais non mai niet geen nooit नहीं मत nahi nahin mat",
    )
});

/// Characters that deny.
const DENIALS_CJK: &str = "不没沒别別無未ない";

/// Whose something is: the speaker's, as they say it or as it is said of or to them.
static OWNERS: Words = LazyLock::new(|| {
    set(
        "my our your users user's mein meine meinen meinem meiner meines unser unsere unseren unserem dein deine \
    deinen deinem deiner ihr ihre mi mis nuestro nuestra tu tus su sus mon ma mes notre nos ton ta tes votre vos meu \
    minha meus minhas nosso nossa seu sua teu tua mio mia miei mie nostro nostra tuo tua mijn onze ons jouw je मेरा मेरी \
    मेरे हमारा हमारी आपका आपकी आपके mera meri mere hamara hamari aapka aapki aapke",
    )
});

/// English words by which a sentence speaks of the speaker.
static SPEAKER: Words = LazyLock::new(|| {
    set("i im i'm ive i've my me we we're our us you your you're user users user's")
});

/// English words that may stand between a speaker and what is told of them.
static SMALL: Words = LazyLock::new(|| {
    set(
        "am is are was were have has had been got a an the really also still just now currently very two three",
    )
});

/// People whose facts are not the speaker's.
static OTHERS: Words = LazyLock::new(|| {
    set(
        "wife husband partner girlfriend boyfriend fiancé fiancée son sons daughter daughters mum mom mother \
    dad father brother sister brothers sisters twins grandma grandpa grandmother grandfather uncle aunt cousin niece \
    nephew kids kid baby boss manager colleague flatmate roommate landlord neighbour neighbor friend friends parents ex who",
    )
});

/// Words that join a name to what bears it; of a fact they say nothing.
static NAMING: Words = LazyLock::new(|| set("called named name"));

/// How many words may stand between an owner and what is theirs.
const BETWEEN: usize = 1;

/// Words after a request that name nothing.
const FAREWELLS: [&str; 12] = [
    "for good",
    "permanently",
    "forever",
    "completely",
    "entirely",
    "altogether",
    "right now",
    "now",
    "from your memory",
    "from memory",
    "any more",
    "anymore",
];

impl Subject {
    /// A statement.
    #[must_use]
    pub fn fact(words: &str) -> Self {
        Self::Fact(named(words))
    }

    /// A topic.
    #[must_use]
    pub fn topic(words: &str) -> Self {
        Self::Topic(named(words))
    }

    /// Its words.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Fact(words) | Self::Topic(words) => words,
        }
    }

    /// The sentences of a text that say it.
    #[must_use]
    pub fn said_in<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut wanted = terms(self.words());
        if matches!(self, Self::Fact(_)) {
            wanted.retain(|term| !is_in(&NAMING, term));
        }
        if wanted.is_empty() {
            return Vec::new();
        }
        text.split(['\n', '。', '！', '？', '।', ';', '；'])
            .flat_map(|line| {
                line.split_inclusive(". ").flat_map(|part| part.split_inclusive(['!', '?']))
            })
            .map(str::trim)
            .map(|sentence| {
                let said = sentence.strip_prefix("User: ").or(sentence.strip_prefix("Assistant: "));
                said.unwrap_or(sentence)
            })
            .filter(|sentence| self.is_said(&wanted, sentence))
            .collect()
    }

    /// Whether it is an English statement that begins with the speaker. Its words alone then tell
    /// almost for certain who says it.
    #[must_use]
    pub fn is_of_speaker(&self) -> bool {
        plain_words(self.words()).first().is_some_and(|word| is_in(&SPEAKER, word))
    }

    fn is_said(&self, wanted: &[String], sentence: &str) -> bool {
        let has = terms(sentence);
        if !wanted.iter().all(|term| has.iter().any(|other| same(term, other))) {
            return false;
        }
        let (own, theirs) = (plain_words(self.words()), plain_words(sentence));
        match self {
            Self::Fact(fact) => {
                let denied = |words: &[String], text: &str| {
                    words.iter().any(|word| is_in(&DENIALS, word))
                        || text.chars().any(|c| DENIALS_CJK.contains(c))
                };
                let others = theirs.iter().map(|word| word.trim_end_matches("'s"));
                let mut others = others.filter(|word| is_in(&OTHERS, word));
                denied(&own, fact) == denied(&theirs, sentence)
                    && (!self.is_of_speaker() || told_of_speaker(&theirs, &wanted[0]))
                    && others.all(|other| own.iter().any(|word| word == other))
            }
            Self::Topic(_) if own.first().is_some_and(|word| is_in(&OWNERS, word)) => {
                owns(&theirs, &wanted[0])
            }
            Self::Topic(_) => true,
        }
    }
}

/// Whether words tell something of the speaker: nothing but small words stands between, as in "I have
/// a dog" and not in "I met a man with a dog".
fn told_of_speaker(words: &[String], term: &str) -> bool {
    let told = |at: usize| {
        let before = words[..at].iter().rev().find(|word| !is_in(&SMALL, word));
        before.is_some_and(|word| is_in(&SPEAKER, word))
    };
    let mut places = (0..words.len()).filter(|&at| same(&stem(&words[at]), term));
    places.any(told) || owns(words, term)
}

/// Whether words speak of something as the speaker's own: "my old address", not "my dog's address".
fn owns(words: &[String], term: &str) -> bool {
    (0..words.len()).filter(|&at| is_in(&OWNERS, &words[at])).any(|at| {
        let rest = &words[at + 1..(at + 2 + BETWEEN).min(words.len())];
        let place = rest.iter().position(|word| same(&stem(word), term));
        place.is_some_and(|place| rest[..place].iter().all(|word| !word.ends_with("'s")))
    })
}

fn named(words: &str) -> String {
    let mut words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(rest) = FAREWELLS.iter().find_map(|farewell| {
        let at = words.len().checked_sub(farewell.len())?;
        let tail = words.get(at..)?;
        (tail.eq_ignore_ascii_case(farewell) && words[..at].ends_with(' ')).then_some(at)
    }) {
        words.truncate(rest);
        words.truncate(words.trim_end_matches([' ', ',']).len());
    }
    words
}

/// The words that carry meaning; pairs of characters in Chinese and Japanese.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut run: Vec<char> = Vec::new();
    let flush = |run: &mut Vec<char>, terms: &mut Vec<String>| {
        match run.len() {
            0 => {}
            1 => terms.push(run[0].to_string()),
            _ => terms.extend(run.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
        run.clear();
    };
    let text: String = text.nfkc().collect();
    for word in text.replace('’', "'").unicode_words() {
        if word.chars().all(is_cjk) {
            for c in word.chars() {
                if GRAMMAR_CJK.contains(c) { flush(&mut run, &mut terms) } else { run.push(c) }
            }
            continue;
        }
        flush(&mut run, &mut terms);
        let lower = word.to_lowercase();
        let bare = lower.split('\'').next_back().filter(|last| last.len() > 2).unwrap_or(&lower);
        let bare = bare.trim_end_matches("'s").trim_end_matches('\'');
        if !lower.split('\'').all(|part| is_in(&GRAMMAR, part))
            && !is_in(&GRAMMAR, &lower.replace('\'', ""))
        {
            terms.push(stem(bare));
        }
    }
    flush(&mut run, &mut terms);
    terms.dedup();
    terms
}

/// A word without the ending of a plural or a third person.
fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let ended = word.strip_suffix("es").filter(|w| w.ends_with(['s', 'x', 'z', 'h']));
    let ended =
        ended.or_else(|| word.strip_suffix('s').filter(|w| w.len() > 2 && !w.ends_with('s')));
    ended.unwrap_or(word).to_owned()
}

/// Whether two terms are forms of one word.
fn same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (short, long) =
        (a.chars().count().min(b.chars().count()), a.chars().count().max(b.chars().count()));
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let letters = |word: &str| word.chars().all(char::is_alphabetic);
    short >= 6 && letters(a) && letters(b) && shared * 4 >= long * 3
}

fn plain_words(text: &str) -> Vec<String> {
    let text: String = text.nfkc().collect();
    text.replace('’', "'").unicode_words().map(str::to_lowercase).collect()
}

fn is_in(list: &Words, word: &str) -> bool {
    list.contains(word)
}

fn set(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}
