//! A question as the statement that would answer it, without its answer: "What's my budget for Hawaii?" becomes
//! "my budget for Hawaii is". Memories are statements, and a model of meaning puts these nearer to each other than to
//! questions. The forms of questions are in `lang/`.

use std::sync::LazyLock;

use regex::Regex;

use crate::lang;

/// A form of question, and what becomes of its groups.
#[expect(clippy::expect_used, reason = "the patterns are constants; the tests compile them")]
static FORMS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let forms = lang::files().flat_map(|file| &file.questions.statements);
    let compiled = |form: &str| Regex::new(&format!("(?i)^{form}$")).expect("a pattern compiles");
    forms.map(|form| (compiled(&form.form), form.becomes.as_str())).collect()
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
