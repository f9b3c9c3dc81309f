//! A question as the statement that would answer it, without its answer: "What's my budget for Hawaii?" becomes
//! "my budget for Hawaii is". Memories are statements, and a model of meaning puts these nearer to each other than to
//! questions. By the forms of questions in English, German, Spanish, French, Portuguese, Hindi, Chinese and Japanese.

use std::sync::LazyLock;

use regex::Regex;

/// A form of question, and what becomes of its groups.
#[expect(clippy::expect_used, reason = "the patterns are constants; the tests compile them")]
static FORMS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"^(?:(?:and|so) )?(?:what|who|where|when|which|how(?: \w+)?)['’]s (?<a>.+)$", "$a is"),
        (r"^(?:(?:and|so) )?(?:what|who|where|when|which|how(?: \w+)?) (?<v>is|are|was|were) (?<a>.+)$", "$a $v"),
        (
            r"^(?:what|whom|where|when|why|which(?: \w+)?|how(?: \w+)?|(?:at |on |in )?(?:what|which) \w+) (?:do|does|did) (?<a>.+)$",
            "$a",
        ),
        (r"^(?:do|does|did) (?<a>.+)$", "$a"),
        (r"^(?:was|wer|wo|wann|welche[rsmn]?(?: \w+)?|wie(?: \w+)?) (?<v>ist|sind|war|waren) (?<a>.+)$", "$a $v"),
        (r"^¿?(?:cuál|cuáles|qué|quién|quiénes|dónde|cuándo|cómo) (?<v>es|son|era|fue|está|están) (?<a>.+)$", "$a $v"),
        (r"^(?:quel(?:le)?s?|qui|où|quand|comment) (?<v>est|sont|était|étaient) (?<a>.+)$", "$a $v"),
        (r"^(?:qual|quais|quem|onde|quando|como|o que) (?<v>é|são|era|foi|está|fica) (?<a>.+)$", "$a $v"),
        (r"^(?<a>.+) (?:क्या|कब|कहाँ|कहां|कौन|कितना|कितने|कितनी) (?<v>है|हैं|था|थी|थे)$", "$a $v"),
        (r"^(?<a>.+?)(?:是)?(?:什么|什麼|多少|谁|誰|哪里|哪裡|哪儿|哪天|哪个|几号|什么时候)(?:呢|啊|来着)?$", "${a}是"),
        (r"^(?<a>.+?)は(?:何|なに|いつ|どこ|誰|だれ|いくら)(?:です|でした|だっけ)?か?$", "${a}は"),
    ]
    .map(|(pattern, made)| {
        (Regex::new(&format!("(?i){pattern}")).expect("a constant pattern compiles"), made)
    })
    .into()
});

/// The statement, of a question in one of the forms.
pub fn of(question: &str) -> Option<String> {
    let bare = question.trim().strip_suffix(['?', '？'])?.trim_end();
    if bare.contains(['?', '？']) {
        return None;
    }
    let (form, made) = FORMS.iter().find(|(form, _)| form.is_match(bare))?;
    Some(form.replace(bare, *made).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_become_statements() {
        for (question, statement) in [
            ("What's my budget for Hawaii?", "my budget for Hawaii is"),
            ("Where are my spare keys?", "my spare keys are"),
            ("When did I last repot the monstera?", "I last repot the monstera"),
            ("Was ist mein Budget für Hawaii?", "mein Budget für Hawaii ist"),
            ("¿Cuál es mi presupuesto?", "mi presupuesto es"),
            ("Quel est mon budget ?", "mon budget est"),
            ("Qual é o meu orçamento?", "o meu orçamento é"),
            ("मेरा बजट कितना है?", "मेरा बजट है"),
            ("我的预算是多少？", "我的预算是"),
            ("私の予算はいくらですか？", "私の予算は"),
        ] {
            assert_eq!(of(question).as_deref(), Some(statement), "{question}");
        }
    }

    #[test]
    fn what_is_no_such_question_stays() {
        for text in
            ["Book a table", "Really?", "Plan my trip to Rome?", "Is it? What is it?", "?", ""]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
