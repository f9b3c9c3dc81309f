//! Where candidates come from and where they belong; and the memory that one becomes.

use jiff::Timestamp;

use crate::{
    candidate::{Candidate, Reach, Tense},
    extractor::Extractor,
    trail::TurnName,
};
use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Provenance, Source};
use memgate_text::{
    command::Typed,
    entity::{EntityRelation, Mention},
    preferences::{may_stand, wish_topic},
};

/// The confidence of what a user said explicitly, where the extractor names none.
const EXPLICIT: f32 = 0.95;

/// The confidence of what follows from a user's words, where the extractor names none.
const IMPLIED: f32 = 0.85;

/// Where candidates come from, and where they belong. Whatever finds candidates fills this in: a
/// conversation, an import, a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) extractor: Extractor,
    pub(crate) owner: Owner,
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) session: String,
    /// The key of the batch's last turn.
    pub(crate) turn: String,
    /// When that turn was: the order of what was said, whenever it is learnt.
    pub(crate) at: Timestamp,
    pub(crate) request_id: Option<String>,
    /// Who said it, where that was another person than the owner.
    pub(crate) speaker: Option<String>,
    /// The typed part of it. Wishes come from nothing else: not from a document in the message, and not from a
    /// helper model's own words.
    pub(crate) typed: Typed,
}

impl Origin {
    /// The turn that the trail notes for what becomes of the candidates.
    pub(crate) fn turn_name(&self) -> TurnName {
        TurnName {
            owner: self.owner.clone(),
            request_id: self.request_id.clone(),
            turn: Some(self.turn.clone()),
            at: self.at,
        }
    }

    /// The memory that a candidate becomes; its id depends on nothing else.
    pub(super) fn memory_of(&self, candidate: &Candidate, now: Timestamp) -> Memory {
        let parts = [self.extractor.name, &self.owner.key(), &self.turn, &candidate.content];
        let source = candidate.source.unwrap_or(self.extractor.source);
        let mut memory = Memory::new(
            MemoryId::derived(&parts),
            self.owner.clone(),
            MemoryType::new(&candidate.memory_type),
            &candidate.content,
            source,
            now,
        );
        memory.sub_type.clone_from(&candidate.sub_type);
        (memory.project_id, memory.agent_id) = self.scope_of(candidate.reach);
        memory.session_id = Some(self.session.clone());
        memory.raw.clone_from(&candidate.raw);
        memory.set_speaker(self.speaker.as_deref());
        if candidate.tense != Some(Tense::Past) && self.speaker.is_none() {
            let texts = [memory.raw.as_deref(), Some(&*memory.content)].into_iter().flatten();
            let typed: Vec<&str> = texts.filter(|words| self.typed.says(words)).collect();
            let topic = typed.iter().find_map(|words| wish_topic(words));
            if let Some(topic) = topic {
                memory.set_wish(topic);
            } else if candidate.standing && typed.iter().any(|words| may_stand(words)) {
                memory.set_wish_for_every_answer();
            }
        }
        memory.importance = candidate.importance.unwrap_or(Memory::DEFAULT_IMPORTANCE);
        let usual = if source == Source::ExplicitUserInput { EXPLICIT } else { IMPLIED };
        memory.confidence = Some(candidate.confidence.unwrap_or(usual));
        let said_at = candidate.said_at.unwrap_or(self.at);
        memory.event_time = Some(candidate.event_time.unwrap_or(said_at));
        memory.valid_from = Some(said_at);
        memory.valid_until = match candidate.tense {
            Some(Tense::Past) => Some(said_at),
            _ => candidate.ends,
        };
        memory.mentions = Mention::keepable(candidate.mentions.iter().cloned());
        memory.entity_relations =
            EntityRelation::keepable(candidate.entity_relations.iter().cloned());
        memory.provenance = Provenance { said_at: Some(said_at), ..self.provenance() };
        memory
    }

    /// Project and agent of what holds so far. A memory that holds in a session only has the
    /// scope in which it was said: memories are told apart by their session, not kept from another.
    pub(super) fn scope_of(&self, reach: Reach) -> (Option<String>, Option<String>) {
        let (project, agent) = (self.project.clone(), self.agent.clone());
        match reach {
            Reach::Said | Reach::Session => (project, agent),
            Reach::User => (None, None),
            Reach::Project => (project, None),
            Reach::Agent => (None, agent),
        }
    }

    pub(super) fn provenance(&self) -> Provenance {
        Provenance {
            turn: Some(self.turn.clone()),
            extractor: Some(self.extractor.name.to_owned()),
            extractor_version: Some(self.extractor.version.to_owned()),
            said_at: Some(self.at),
            again: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{extractor::LOCAL, test_support::at};

    fn origin() -> Origin {
        Origin {
            extractor: LOCAL,
            owner: Owner::of_user("alice").unwrap(),
            project: Some("p".into()),
            agent: Some("a".into()),
            session: "s".into(),
            turn: "t".into(),
            at: at(0),
            speaker: None,
            request_id: None,
            typed: Typed::default(),
        }
    }

    #[test]
    fn a_memory_knows_where_it_comes_from_and_until_when_it_held() {
        let candidate = Candidate {
            memory_type: "semantic".into(),
            content: "I used to live in Rome".into(),
            tense: Some(Tense::Past),
            ..Candidate::default()
        };
        let memory = origin().memory_of(&candidate, at(9));
        assert_eq!((memory.confidence, memory.valid_until), (Some(EXPLICIT), Some(at(0))));
        assert_eq!((memory.event_time, memory.provenance.said_at), (Some(at(0)), Some(at(0))));
        assert_eq!(origin().memory_of(&candidate, at(7)).id, memory.id, "whenever it is made");
    }

    #[test]
    fn a_wish_has_its_topic_if_the_user_typed_it() {
        let topic = |message: &str, content: &str, tense| {
            let candidate = Candidate { content: content.into(), tense, ..Candidate::default() };
            let origin = Origin { typed: Typed::of(message), ..origin() };
            origin.memory_of(&candidate, at(9)).wish_topic()
        };
        let wish = "When I ask about recipes, give grams";
        assert_eq!(topic(&format!("Hi! {wish}."), wish, None).as_deref(), Some("recipes"));
        assert_eq!(topic(wish, wish, Some(Tense::Past)), None);
        assert_eq!(topic("I live in Rome", "I live in Rome", None), None);
        let wrapped = format!("Context: {wish}\nQuestion: When does it arrive?");
        assert_eq!(topic(&wrapped, wish, None), None);
    }

    #[test]
    fn a_wish_stands_only_in_words_that_the_user_typed() {
        let stands = |message: &str, words: &str, standing| {
            let candidate = Candidate { content: words.into(), standing, ..Candidate::default() };
            let origin = Origin { typed: Typed::of(message), ..origin() };
            origin.memory_of(&candidate, at(9)).is_wish_for_every_answer()
        };
        let wish = "no more romaji";
        assert!(stands("no more romaji, ok?", wish, true));
        assert!(!stands("no more romaji, ok?", wish, false), "nobody says that it is one");
        assert!(!stands("My tutor sends this:\n> no more romaji", wish, true), "quoted");
        assert!(!stands("I learn Japanese", wish, true), "an extractor's own words");
        let signed = "always sign with \"Acme\"";
        assert!(!stands(signed, signed, true), "it has a form that may not stand");
    }

    #[test]
    fn how_far_it_holds_tells_its_scope() {
        let (p, a) = (Some("p".to_owned()), Some("a".to_owned()));
        for (reach, scope) in [
            (Reach::Said, (p.clone(), a.clone())),
            (Reach::Session, (p.clone(), a.clone())),
            (Reach::User, (None, None)),
            (Reach::Project, (p, None)),
            (Reach::Agent, (None, a)),
        ] {
            assert_eq!(origin().scope_of(reach), scope);
        }
    }
}
