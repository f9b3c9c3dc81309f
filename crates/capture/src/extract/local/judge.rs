//! The opinion of the trained models on the pieces of a message: of the reader, where it knows the
//! embedder's inner layers, or else by the words alone.

use std::{collections::HashMap, ops::Range};

use memgate_embed::{EmbedError, Embedder, model_of};
use memgate_models::{
    Clause, MemorableModel, Models,
    reader::{Part, Said, Thresholds, features},
};
use memgate_text::{
    command::{LEFT_OUT, is_in_the_middle, leave_out},
    pieces::Piece,
    preferences::may_stand,
};

/// Judges the pieces of one message.
pub(super) struct Judge<'a> {
    words: &'a MemorableModel,
    thresholds: Thresholds,
    /// By the place of a sentence or clause; empty where the words alone decide.
    said: HashMap<Range<usize>, Said>,
    /// The places of sentences that ask to forget something.
    requests: Vec<Range<usize>>,
}

impl<'a> Judge<'a> {
    /// Reads a message. Where that fails the words alone must do; an embedder that is only busy is worth another try.
    pub(super) async fn of(
        embedder: &dyn Embedder,
        models: &'a Models,
        message: &str,
    ) -> Result<Self, EmbedError> {
        let (said, requests) = match read(embedder, models, message).await {
            Ok(read) => read,
            Err(error @ (EmbedError::Busy | EmbedError::Closed)) => return Err(error),
            Err(error) => {
                tracing::debug!(%error, "statements are looked for by their words alone");
                Default::default()
            }
        };
        let thresholds = models.reader.thresholds();
        Ok(Self { words: &models.memorable, thresholds, said, requests })
    }

    /// Whether a sentence tells something worth keeping.
    pub(super) fn is_memorable(&self, sentence: &Piece<'_>) -> bool {
        match self.said(sentence) {
            _ if self.asks_to_forget(sentence) => false,
            Some(said) => said.keep > self.thresholds.keep && self.is_own(sentence, said),
            None => self.words.is_memorable(sentence),
        }
    }

    /// The class of a clause of a sentence.
    pub(super) fn clause(&self, clause: &Piece<'_>) -> Clause {
        match self.said(clause) {
            _ if self.asks_to_forget(clause) => Clause::Other,
            Some(said) if said.keep < self.thresholds.trim => Clause::Other,
            Some(said) if said.keep > self.thresholds.clause && self.is_own(clause, said) => {
                Clause::Statement
            }
            Some(_) => Clause::Unclear,
            None => self.words.clause(clause),
        }
    }

    /// Whether a sentence says how something is done or is to be done.
    pub(super) fn is_procedural(&self, sentence: &Piece<'_>) -> bool {
        match self.said(sentence) {
            Some(said) => said.procedural > 0.5,
            None => self.words.is_procedural(sentence.words()),
        }
    }

    /// Whether the user asks that something of the message not be remembered.
    pub(super) fn is_private(&self, message: &str) -> bool {
        // A request to forget names what was said before.
        let asks = |it: &Piece<'_>| {
            let asks = |said: Said| said.private > self.thresholds.private && self.is_own(it, said);
            !self.asks_to_forget(it) && self.said(it).is_some_and(asks)
        };
        Piece::sentences(message).iter().any(|it| asks(it) || it.clauses().iter().any(asks))
    }

    /// The part of a sentence that is a wish about every later answer. In a long message, which may hold pasted text, it must surely
    /// be the user's own; beside foreign text there is none.
    pub(super) fn wish<'p>(&self, sentence: &Piece<'p>) -> Option<Piece<'p>> {
        let said = self.said(sentence)?;
        let message = sentence.message();
        let own = if is_short(message) { LIKELY_OWN } else { SURELY_OWN };
        let may = said.own > own && !self.asks_to_forget(sentence) && !message.contains(LEFT_OUT);
        // A clause alone must be sure where its sentence is no wish: what stands beside it says what it is about.
        let least = match said.standing > self.thresholds.standing {
            true => self.thresholds.standing,
            false => SURE_CLAUSE,
        };
        let stands = |piece: &Piece<'_>| self.said(piece).is_some_and(|said| said.standing > least);
        // Its reason, a greeting or a question beside it is no part of it.
        let clauses = sentence.clauses();
        let wish = match clauses.iter().position(stands).zip(clauses.iter().rposition(stands)) {
            Some((first, last)) => clauses[first].to(&clauses[last]),
            None if stands(sentence) => sentence.clone(),
            None => return None,
        };
        (may && may_stand(wish.words())).then_some(wish)
    }

    /// The message with [`LEFT_OUT`] in place of the sentences that are not its user's own, of requests to forget in the middle of
    /// other sentences, and, without `requests`, of all of them.
    pub(super) fn own_words(&self, message: &str, requests: bool) -> String {
        let sentences = Piece::sentences(message);
        let read = sentences.last().map_or(0, |last| last.range().end);
        let foreign = |it: &Piece<'_>| self.said(it).is_some_and(|said| !self.is_own(it, said));
        let asking = self.asking(&sentences);
        let out = |(at, it): &(usize, &Piece<'_>)| {
            foreign(it) || is_in_the_middle(&asking, *at) || (!requests && asking[*at])
        };
        // A sentence that follows a foreign one and is not read is foreign, too.
        let to = |it: &Piece<'_>| match it.range().end {
            end if end == read && foreign(it) => message.len(),
            end => end,
        };
        let left_out = sentences.iter().enumerate().filter(out);
        let left_out = left_out.map(|(_, it)| it.range().start..to(it));
        leave_out(message, left_out)
    }

    /// The user's requests to forget something, each with the sentence before it.
    pub(super) fn requests(&self, message: &str) -> Vec<String> {
        let sentences = Piece::sentences(message);
        let asking = self.asking(&sentences);
        let asks = |(at, it): &(usize, &Piece<'_>)| {
            asking[*at]
                && !is_in_the_middle(&asking, *at)
                && self.said(it).is_some_and(|said| self.is_own(it, said))
        };
        let heard = sentences.iter().enumerate().filter(asks);
        heard.map(|(at, _)| Piece::with_the_one_before(&sentences, at)).collect()
    }

    /// Which sentences ask to forget something.
    fn asking(&self, sentences: &[Piece<'_>]) -> Vec<bool> {
        sentences.iter().map(|it| self.asks_to_forget(it)).collect()
    }

    /// Whether a sentence asks to forget something, or is part of one that does.
    fn asks_to_forget(&self, piece: &Piece<'_>) -> bool {
        let Range { start, end } = piece.range();
        self.requests.iter().any(|request| request.start <= start && end <= request.end)
    }

    /// Whether the words of a sentence of another message tell something worth keeping.
    pub(super) fn is_memorable_by_words(&self, sentence: &Piece<'_>) -> bool {
        self.words.is_memorable(sentence)
    }

    fn said(&self, piece: &Piece<'_>) -> Option<Said> {
        self.said.get(&piece.range()).copied()
    }

    fn is_own(&self, piece: &Piece<'_>, said: Said) -> bool {
        let own = match may_hold_pasted(piece.message()) {
            true => self.thresholds.own,
            false => self.thresholds.own_short,
        };
        said.own > own
    }
}

/// Bounds of a message that is short enough for a wish to be taken from anywhere in it: pasted text is longer.
const SHORT_CHARS: usize = 300;
const SHORT_SENTENCES: usize = 3;

/// The least probability of a wish in a clause of a sentence that is none.
const SURE_CLAUSE: f32 = 0.7;

/// The least probability that a wish is the user's own: a wrong one steers every answer, so it is higher than for other words.
const LIKELY_OWN: f32 = 0.7;
/// The same in a longer message.
const SURELY_OWN: f32 = 0.9;

/// Whether a message is too short for pasted text beside a wish.
fn is_short(message: &str) -> bool {
    message.chars().nth(SHORT_CHARS).is_none()
        && !message.contains("\n\n")
        && Piece::sentences(message).len() <= SHORT_SENTENCES
}

/// The longest message of one line in which hardly anything is pasted, in characters.
const TYPED_CHARS: usize = 120;

/// Whether a message is of several lines or of more than a sentence or two.
pub(crate) fn may_hold_pasted(message: &str) -> bool {
    let message = message.trim();
    message.contains('\n') || message.chars().nth(TYPED_CHARS).is_some()
}

/// The longest message that is read, in bytes: about half a second's work. In a longer message only marks tell whose words
/// it holds.
const MAX_READ: usize = 8_000;

/// The models' opinion of the pieces of a message, and which sentences ask to forget something.
type Read = (HashMap<Range<usize>, Said>, Vec<Range<usize>>);

async fn read(embedder: &dyn Embedder, models: &Models, message: &str) -> Result<Read, EmbedError> {
    if message.len() > MAX_READ {
        return Ok(Read::default());
    }
    // Other models are not asked.
    let Some(known) = model_of(embedder, |space| models.are_trained_with(space)) else {
        return Ok(Read::default());
    };
    let parts = Part::all(message);
    let spans: Vec<_> = parts.iter().map(|part| part.piece.range()).collect();
    let layers = known.read_spans(message, &spans).await?.unwrap_or_default();
    let seen = features(&parts, &layers);
    let asks = |(part, seen): &(&Part<'_>, &Vec<f32>)| {
        !part.is_clause && models.forgetting.asks(&part.piece, seen)
    };
    let requests = parts.iter().zip(&seen).filter(asks).map(|(part, _)| part.piece.range());
    let said = parts.iter().zip(&seen).map(|(part, seen)| models.reader.say(seen, &part.piece));
    let said = spans.into_iter().zip(said).filter_map(|(span, said)| Some((span, said?)));
    Ok((said.collect(), requests.collect()))
}
