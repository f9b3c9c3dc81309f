//! Who and what a statement names, where it is sure: a capital letter within a
//! sentence, in languages that give it to names alone, and turns of phrase that
//! tell what is named as well ("my sister Ana", "I work at Helio").
//!
//! Latin script only; what is not sure is not named. It must never know what is
//! stored.

mod lexicon;
mod text;
mod whole;
mod words;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

pub(crate) use self::whole::is_written_as_name;
use self::{
    lexicon::Kind,
    text::{Name, Text},
};
use crate::entity::{EntityRelation, Mention, entity_key};

/// The names in a statement.
#[derive(Debug, Default, PartialEq)]
pub struct Named {
    /// The named entities.
    pub mentions: Vec<Mention>,
    /// How they are related.
    pub relations: Vec<EntityRelation>,
}

/// Finds the names in a statement. Its message may show that the word it begins with is a name.
pub fn named(statement: &str, message: &str) -> Named {
    let mut names = Text::of(statement).names();
    if names.iter().any(|name| !name.sure) {
        let elsewhere = Text::of(message).names().into_iter().filter(|name| name.sure);
        let elsewhere: HashSet<String> = elsewhere.map(|name| entity_key(&name.text)).collect();
        names.retain(|name| name.sure || elsewhere.contains(&entity_key(&name.text)));
    }
    let relations = names.windows(2).filter_map(|pair| related(&pair[0], &pair[1]));
    let relations = EntityRelation::keepable(relations);
    // The first of each entity is kept: let it be the one that is told what it is.
    let mention = |name: &Name| Mention {
        name: name.text.clone(),
        kind: kind_among(&names, name).map(|kind| kind.name().to_owned()),
    };
    Named { mentions: Mention::keepable(names.iter().map(mention)), relations }
}

/// The kind that any of the names of the same thing has.
fn kind_among(names: &[Name], name: &Name) -> Option<Kind> {
    let key = entity_key(&name.text);
    let same = names.iter().filter(|other| entity_key(&other.text) == key);
    same.filter_map(|other| other.kind).next()
}

/// "Ana lives in Lyon".
fn related(one: &Name, other: &Name) -> Option<EntityRelation> {
    let (phrase, at) = other.said?;
    let predicate = phrase.predicate()?;
    (one.kind == Some(Kind::Person) && one.end == at).then(|| EntityRelation {
        subject: one.text.clone(),
        predicate: predicate.to_owned(),
        object: other.text.clone(),
    })
}
