//! From a message to the statements in it, by what a judge says of its pieces.

use crate::extract::local::judge::Judge;
use memgate_models::Clause;
use memgate_text::{
    alone::{is_short, needs_its_question, without_joining},
    names,
    normal::one_line,
    pieces::Piece,
    preferences::wish_topic,
    pronouns::points_back,
    rules,
    sentences::joined,
};

/// The longest statement, in characters: what is longer is cut.
const MAX_CHARS: usize = 500;

/// The longest sentence of an earlier message that is put before one of this.
const MAX_BEFORE_CHARS: usize = 160;

/// The longest label of a line, in characters.
const MAX_LABEL_CHARS: usize = 20;

/// A message, in pieces.
pub(super) struct Message<'a> {
    sentences: Vec<Piece<'a>>,
    /// The sentence before the message, from an earlier one.
    before: Option<Piece<'a>>,
    /// Whether the first sentence is the assistant's question, which the others answer.
    answers: bool,
}

/// A statement that is kept of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// In the user's words, behind the question that they answer.
    pub(super) words: String,
    /// The user's words alone.
    pub(super) said: String,
    /// It says how something is done.
    pub(super) procedural: bool,
    /// It is a wish about every later answer.
    pub(super) standing: bool,
}

impl<'a> Message<'a> {
    /// `text` is trimmed and not empty; `before` is the message before it.
    pub(super) fn of(text: &'a str, before: Option<&'a str>) -> Self {
        let before = before.and_then(|text| Piece::sentences(text).pop());
        let short = |piece: &Piece<'_>| piece.words().chars().nth(MAX_BEFORE_CHARS).is_none();
        Self {
            sentences: Piece::sentences(text),
            before: before.filter(|it| short(it) && !rules::excludes(it.words())),
            answers: false,
        }
    }

    /// `text` is a question of the assistant in its first line, and the message that answers it.
    pub(super) fn answering(text: &'a str) -> Self {
        Self { answers: true, ..Self::of(text, None) }
    }

    /// The statements that are kept. A wish about every later answer is one of its own.
    pub(super) fn statements(&self, judge: &Judge<'_>) -> Vec<Statement> {
        let sentences = self.sentences.iter().enumerate().skip(usize::from(self.answers));
        let wishes: Vec<(usize, Piece<'a>)> =
            sentences.clone().filter_map(|(at, it)| Some((at, judge.wish(it)?))).collect();
        let mut kept = self.kept(judge);
        kept.retain(|(at, piece)| !wishes.iter().any(|(of, wish)| of == at && wish.holds(piece)));
        let mut statements = self.joined(&kept, judge);
        // A wish with a topic is sure by its form.
        for (at, wish) in sentences.filter(|(_, sentence)| wish_topic(sentence.words()).is_some()) {
            let wish = one_line(without_joining(wish.words()));
            if !statements.iter().any(|(_, statement)| statement.contains(&wish)) {
                statements.push((at, wish));
            }
        }
        let question = self.sentences.first().filter(|_| self.answers);
        let question = question.map(|it| joined(&one_line(it.words()), ""));
        let statement = |at: usize, mut words: String, standing| {
            cut(&mut words);
            let said = question.as_deref().and_then(|question| words.strip_prefix(question));
            let said = said.unwrap_or(&words).trim_start().to_owned();
            let procedural = judge.is_procedural(&self.sentences[at]);
            Statement { words, said, procedural, standing }
        };
        let wish = |(at, wish): (usize, Piece<'a>)| {
            statement(at, one_line(without_joining(wish.words())), true)
        };
        let told = statements.into_iter().map(|(at, words)| statement(at, words, false));
        let mut statements: Vec<Statement> = told.chain(wishes.into_iter().map(wish)).collect();
        statements.dedup();
        statements
    }

    /// The pieces that are kept, with the numbers of their sentences.
    fn kept(&self, judge: &Judge<'_>) -> Vec<(usize, Piece<'a>)> {
        let said = self.sentences.iter().enumerate().skip(usize::from(self.answers));
        let said = said.filter(|(_, sentence)| !rules::excludes(sentence.words()));
        said.flat_map(|(at, sentence)| {
            let found = match judge.is_memorable(sentence) {
                true => vec![trimmed(sentence, judge)],
                false => sure_clauses(sentence, judge),
            };
            found.into_iter().map(move |piece| (at, piece))
        })
        .collect()
    }

    /// The kept pieces; one that points back, or says too little alone, is joined to what stands before it.
    fn joined(&self, kept: &[(usize, Piece<'a>)], judge: &Judge<'_>) -> Vec<(usize, String)> {
        let mut statements: Vec<(usize, String)> = Vec::new();
        for (at, piece) in kept {
            let words = one_line(without_joining(piece.words()));
            let answer = self.answers && *at == 1 && needs_its_question(&words);
            let alone = is_labelled(&words) || !(points_back(&words) || is_short(&words) || answer);
            match (at.checked_sub(1), statements.last_mut()) {
                _ if alone => statements.push((*at, words)),
                (Some(previous), Some((last, statement))) if *last == previous => {
                    *statement = joined(statement, &words);
                    *last = *at;
                }
                (Some(previous), _) => {
                    let before = one_line(self.sentences[previous].words());
                    statements.push((*at, joined(&before, &words)));
                }
                (None, _) => {
                    let before = self.before.as_ref();
                    let before = before.filter(|it| {
                        judge.is_memorable_by_words(it)
                            || it.words().ends_with('?')
                            || names_somebody(it)
                    });
                    let words = match before {
                        Some(before) => joined(&one_line(before.words()), &words),
                        None => words,
                    };
                    statements.push((*at, words));
                }
            }
        }
        statements
    }
}

/// Whether a sentence of an earlier message names a person or a pet, for a pronoun to mean.
fn names_somebody(sentence: &Piece<'_>) -> bool {
    let named = names::named(sentence.words(), sentence.message());
    named.mentions.iter().any(|it| matches!(it.kind.as_deref(), Some("person" | "pet")))
}

/// A kept sentence without the greetings, requests and questions at its ends.
fn trimmed<'a>(sentence: &Piece<'a>, judge: &Judge<'_>) -> Piece<'a> {
    let clauses = sentence.clauses();
    let stays = |clause: &Piece<'_>| judge.clause(clause) != Clause::Other;
    let (Some(first), Some(last)) =
        (clauses.iter().position(stays), clauses.iter().rposition(stays))
    else {
        return sentence.clone();
    };
    // A clause that points back needs the clauses before it.
    let first = if points_back(clauses[first].words()) { 0 } else { first };
    let kept = clauses[first].to(&clauses[last]);
    let whole = (first == 0 && last + 1 == clauses.len()) || is_short(kept.words());
    if whole { sentence.clone() } else { kept }
}

/// The clauses of a sentence that is not kept which surely tell something: "I'm coeliac, what can I
/// eat?"
fn sure_clauses<'a>(sentence: &Piece<'a>, judge: &Judge<'_>) -> Vec<Piece<'a>> {
    let clauses = sentence.clauses();
    if clauses.len() < 2 {
        return Vec::new();
    }
    let sure = clauses.into_iter().filter(|clause| !rules::excludes(clause.words()));
    let sure = sure.filter(|clause| judge.clause(clause) == Clause::Statement);
    // "System: Fedora 42" says what is 42.
    let labelled = is_labelled(sentence.words());
    let whole = |clause: Piece<'a>| match labelled && is_short(clause.words()) {
        true => sentence.clone(),
        false => clause,
    };
    sure.map(whole).collect()
}

/// Whether a line has a label of its own: "System: Fedora 42". It needs nothing that stands before it.
fn is_labelled(line: &str) -> bool {
    line.split_once([':', '：']).is_some_and(|(label, of)| is_label(label) && !of.trim().is_empty())
}

fn is_label(label: &str) -> bool {
    label.chars().nth(MAX_LABEL_CHARS).is_none() && label.contains(char::is_alphabetic)
}

fn cut(statement: &mut String) {
    if let Some((at, _)) = statement.char_indices().nth(MAX_CHARS) {
        statement.truncate(at);
    }
}
