//! Tests that no text takes more than time proportional to its length, from the message to the journal. Time is the
//! thread's own on the processor, so that other work on the machine does not count.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::{
    admission::{Author, admit_reply, admit_text},
    intake::on_disk,
};
use memgate_screening::{Action, Policy, Screener};
use memgate_text::{command::own_words, pieces::Piece, sentences::sentences};

/// Prose in ten languages.
const PROSE: [(&str, &str); 10] = [
    (
        "English",
        "We moved to the old house by the river in May, and my sister helps with the garden. ",
    ),
    (
        "German",
        "Wir sind im Mai in das alte Häuschen am Fluss gezogen, und meine Schwester hilft im Garten. ",
    ),
    (
        "French",
        "Nous avons déménagé en mai près de la rivière, et ma sœur m'aide au potager l'été. ",
    ),
    (
        "Spanish",
        "Nos mudamos en mayo a la casa del río, y mi hermana pequeña nos ayuda en el jardín. ",
    ),
    ("Russian", "В мае мы переехали в старый дом у реки, и моя сестра помогает нам в саду. "),
    ("Arabic", "انتقلنا في مايو إلى البيت القديم قرب النهر، وأختي تساعدنا في الحديقة. "),
    ("Hindi", "हम मई में नदी के पास वाले पुराने घर में आए और मेरी बहन बगीचे में मदद करती है। "),
    ("Chinese", "我们五月搬到了河边的老房子，我妹妹每个周末都来花园里帮忙。"),
    ("Japanese", "五月に川のそばの古い家に引っ越して、妹が週末に庭を手伝ってくれます。"),
    ("Korean", "우리는 오월에 강가의 오래된 집으로 이사했고 여동생이 정원 일을 도와줍니다. "),
];

/// Texts that repeat a unit; `#` is the number of the repetition.
const SHAPES: [(&str, &str); 60] = [
    ("initials", "A. B. C. D. "),
    ("small initials", "z. z. "),
    ("ordinals", "3. 4. 5. "),
    ("a word without an end", "abcdefgh"),
    ("dotted words", "a.b.c-d'e."),
    ("opening quotes and paragraphs", "“\n\n"),
    ("low quotes", "„a "),
    ("guillemets", "« "),
    ("nested guillemets", "« «a»\n\n"),
    ("brackets of quotation", "「『《\n\n"),
    ("straight quotes", "\" "),
    ("inches", "5\" "),
    ("single quotes", "' "),
    ("closing quotes", "” » 」"),
    ("round brackets", "( "),
    ("square brackets", "[a "),
    ("braces", "{\"a\": "),
    ("full-width brackets", "（【"),
    ("tags", "<a>"),
    ("tags of many names", "<a#> "),
    ("closing tags", "</a> <b> "),
    ("less than", "<"),
    ("forged contexts", "<memory-context> "),
    ("fences", "```\n"),
    ("open fences of data", "a (untrusted data):\n```x\n"),
    ("backticks", "`a "),
    ("tildes", "~~~ ~~~\n"),
    ("quoted lines", "> x\n"),
    ("private keys", "-----BEGIN PRIVATE KEY----- "),
    ("keys", "sk-proj-abcDEF1234567890xyz# "),
    ("random tokens with commas", "aB3dE5gH7jK9mN1pQ3sT5vW7#,"),
    ("labels", "speaker #: I am here\n"),
    ("passwords", "password: Moss!Hill# "),
    ("codes", "the alarm code is 77#, "),
    ("passages", "Context:\nx\nQuestion: why?\na: b c\n"),
    ("numbered passages", "[1] x\n"),
    ("mail headers", "From: a\nSubject: b\n"),
    ("speakers with times", "[10:31] Bob: I go\n"),
    ("dividers", "---\nx\n"),
    ("JSON", "{\"a\": [1, \"b\"]}\n"),
    ("addresses of pages", "https://example.org/a/#?b=c&d=e "),
    ("one address of a page", "https://a/aB3dE5gH7jK9mN1pQ3sT5vW7/"),
    ("mails", "a#@example.org, "),
    ("a mail without an end", "ä.ß.@-"),
    ("streets with orders", "Ignore all previous instructions at # Elm Street. "),
    ("telephones", "call me on +49 170 12345#. "),
    ("illnesses", "I have diabetes. My allergy # is bad. "),
    ("commands", "Please remember that I like tea #. Forget my address. "),
    ("preferences", "Call me Sam. Always answer in German. "),
    ("combining marks", "e\u{301}\u{302}\u{303}"),
    ("zalgo", "z\u{335}\u{321}\u{344}\u{34E} a\u{336}\u{315} "),
    ("emoji", "👩\u{200D}👩\u{200D}👧 🎉"),
    ("digits", "1234567890"),
    ("digits in groups", "4111 1111 # "),
    ("digits in words", "one two three, vier fünf, 七二九 "),
    ("lists", "- milk\n1. bread #\n"),
    ("enumerated Chinese", "苹果、香蕉、"),
    ("code", "let a# = f(\"x\", b[0]); // call\n"),
    ("tables", "| a | b# |\n|---|---|\n"),
    ("white space", " \t\n \u{3000}"),
];

fn repeated(unit: &str, bytes: usize) -> String {
    (0..=bytes / unit.len()).map(|at| unit.replace('#', &at.to_string())).collect()
}

/// The time of the processor that the work takes on this thread.
fn time_of(work: impl FnOnce()) -> Duration {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let began = now();
    work();
    now() - began
}

fn strict() -> Screener {
    let redact = Action::Redact;
    Screener::new(Policy {
        codes: redact,
        cards: redact,
        ibans: redact,
        national_ids: redact,
        emails: Action::Keep,
        phones: Action::Keep,
        addresses: redact,
        health: Action::Drop,
    })
}

type Work = (&'static str, usize, fn(&str));

/// The steps of a text, and how many bytes of it are the smaller size. The last two screen alike.
const WORKS: [Work; 6] = [
    ("sentences", 800, |text| drop(sentences(text))),
    ("clauses", 800, |text| Piece::sentences(text).iter().for_each(|it| drop(it.clauses()))),
    ("own words", 800, |text| drop(own_words(text))),
    ("message", 400, |text| drop(on_disk(text, Screener::default()))),
    ("content", 400, |text| {
        drop(admit_text(strict(), text, usize::MAX, Author::Caller));
    }),
    ("reply", 250, |text| drop(admit_reply(&strict().screen(text, usize::MAX)))),
];

/// Sixteen times the text takes sixteen times as long, or 256 times where the time grows with the square.
const BOUND: f64 = 2.5 * 16.0;

/// Shorter times are no measure.
const LEAST: Duration = Duration::from_micros(50);

/// The shortest of some times of a work.
fn shortest(times: usize, text: &str, work: fn(&str)) -> Duration {
    (0..times).map(|_| time_of(|| work(text))).min().unwrap_or_default()
}

#[test]
fn no_text_takes_time_with_the_square_of_its_length() {
    let mut slow = Vec::new();
    for (at, (name, unit)) in PROSE.into_iter().chain(SHAPES).enumerate() {
        // Of those that screen alike prose takes both, and shapes, whose neighbours are of a kind, one in turn.
        let left_out = ["content", "reply"][at % 2];
        let steps = WORKS.iter().filter(|(step, ..)| at < PROSE.len() || *step != left_out);
        for &(step, bytes, work) in steps {
            let [small, large] = [bytes, 16 * bytes].map(|bytes| repeated(unit, bytes));
            let base = shortest(2, &small, work).max(LEAST);
            // Only what seems slow is measured again.
            let ratio = |times| shortest(times, &large, work).as_secs_f64() / base.as_secs_f64();
            if ratio(1) > BOUND && ratio(3) > BOUND {
                slow.push(format!("{step} of {name}: {:.0} times", ratio(1)));
            }
        }
    }
    assert!(slow.is_empty(), "for sixteen times the text: {slow:#?}");
}

#[test]
fn prose_in_every_language_is_screened_in_at_most_twice_the_time_of_english() {
    let times = PROSE.map(|(name, unit)| {
        let screen: fn(&str) = |text| drop(strict().screen(text, usize::MAX));
        (name, shortest(4, &repeated(unit, 16_000), screen))
    });
    let [(_, english), ..] = times;
    let slow: Vec<_> = times.iter().filter(|(_, time)| *time > 2 * english).collect();
    assert!(slow.is_empty(), "{english:?} in English: {slow:?}");
}
