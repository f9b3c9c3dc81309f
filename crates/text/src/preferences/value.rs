//! A preference: one key with one of the values that are known. A value is no free text, so that what a user wrote can
//! never become an instruction to the model.

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use crate::preferences::{AnswerLanguage, UserName};

/// An enum of the values of one key, with its names.
macro_rules! values {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize,
            strum::EnumString, strum::IntoStaticStr, strum::VariantArray,
        )]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum $name { $($(#[$value_doc])* $value),+ }
    };
}

values! {
    /// The subject of a preference.
    PreferenceKey {
        /// How to call the user.
        Name,
        /// The language of answers.
        Language,
        /// How to address the user.
        Address,
        /// How long answers are.
        Length,
        /// The form of answers.
        Format,
        /// The units in answers.
        Units,
        /// The tone of answers.
        Tone,
        /// The knowledge that answers take for granted.
        Expertise,
    }
}

values! {
    /// How to address the user, in languages that distinguish it.
    Address {
        /// "Sie", "vous", "usted".
        Formal,
        /// "du", "tu", "tú".
        Informal,
    }
}

values! {
    /// How long answers are.
    Length {
        /// Short answers.
        Short,
        /// Answers with details.
        Detailed,
    }
}

values! {
    /// The form of answers.
    Format {
        /// Bullet points.
        Bullets,
        /// Running text.
        Prose,
        /// Tables.
        Tables,
        /// Code before its explanation.
        CodeFirst,
        /// No emojis.
        NoEmoji,
    }
}

values! {
    /// The units in answers.
    Units {
        /// Metres, kilograms, degrees Celsius.
        Metric,
        /// Feet, pounds, degrees Fahrenheit.
        Imperial,
    }
}

values! {
    /// The tone of answers.
    Tone {
        /// Plain words.
        Plain,
        /// Friendly.
        Friendly,
        /// Formal.
        Formal,
        /// Without greetings, praise and small talk.
        NoSmallTalk,
    }
}

values! {
    /// The knowledge that answers take for granted.
    Expertise {
        /// Nothing.
        Beginner,
        /// The basics and more.
        Expert,
    }
}

/// How the user wants to be called, addressed or answered, in every conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "KeyAndValue", into = "KeyAndValue")]
#[expect(missing_docs, reason = "a variant is the key of its name")]
pub enum Preference {
    Name(UserName),
    Language(AnswerLanguage),
    Address(Address),
    Length(Length),
    Format(Format),
    Units(Units),
    Tone(Tone),
    Expertise(Expertise),
}

/// A preference as JSON.
#[derive(Serialize, Deserialize)]
struct KeyAndValue {
    key: PreferenceKey,
    value: String,
}

/// A value that a key cannot have. Its message says which values the key can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {}", self.0)]
pub struct InvalidPreference(String);

impl PreferenceKey {
    /// All keys.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name stored and sent.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The names of the values; none for a key that takes any name.
    #[must_use]
    pub fn values(self) -> Vec<&'static str> {
        fn names<V: strum::VariantArray + Copy + Into<&'static str>>() -> Vec<&'static str> {
            V::VARIANTS.iter().map(|value| (*value).into()).collect()
        }
        match self {
            Self::Name => Vec::new(),
            Self::Language => names::<AnswerLanguage>(),
            Self::Address => names::<Address>(),
            Self::Length => names::<Length>(),
            Self::Format => names::<Format>(),
            Self::Units => names::<Units>(),
            Self::Tone => names::<Tone>(),
            Self::Expertise => names::<Expertise>(),
        }
    }
}

impl Preference {
    /// The preference with this value.
    ///
    /// # Errors
    /// [`InvalidPreference`] when the key cannot have it.
    pub fn new(key: PreferenceKey, value: &str) -> Result<Self, InvalidPreference> {
        let known = match key {
            PreferenceKey::Name => UserName::new(value).map(Self::Name),
            PreferenceKey::Language => value.parse().ok().map(Self::Language),
            PreferenceKey::Address => value.parse().ok().map(Self::Address),
            PreferenceKey::Length => value.parse().ok().map(Self::Length),
            PreferenceKey::Format => value.parse().ok().map(Self::Format),
            PreferenceKey::Units => value.parse().ok().map(Self::Units),
            PreferenceKey::Tone => value.parse().ok().map(Self::Tone),
            PreferenceKey::Expertise => value.parse().ok().map(Self::Expertise),
        };
        known.ok_or_else(|| {
            InvalidPreference(match key {
                PreferenceKey::Name => UserName::RULE.to_owned(),
                _ => format!("one of {}", key.values().join(", ")),
            })
        })
    }

    /// Its subject.
    #[must_use]
    pub fn key(&self) -> PreferenceKey {
        match self {
            Self::Name(_) => PreferenceKey::Name,
            Self::Language(_) => PreferenceKey::Language,
            Self::Address(_) => PreferenceKey::Address,
            Self::Length(_) => PreferenceKey::Length,
            Self::Format(_) => PreferenceKey::Format,
            Self::Units(_) => PreferenceKey::Units,
            Self::Tone(_) => PreferenceKey::Tone,
            Self::Expertise(_) => PreferenceKey::Expertise,
        }
    }

    /// The name of its value.
    #[must_use]
    pub fn value(&self) -> &str {
        match self {
            Self::Name(name) => name.as_str(),
            Self::Language(value) => value.into(),
            Self::Address(value) => value.into(),
            Self::Length(value) => value.into(),
            Self::Format(value) => value.into(),
            Self::Units(value) => value.into(),
            Self::Tone(value) => value.into(),
            Self::Expertise(value) => value.into(),
        }
    }

    /// Whether it takes the place of another one: a key has one value. Only what is left out stands beside the other
    /// values of its key: bullets and no emojis.
    #[must_use]
    pub fn replaces(&self, other: &Self) -> bool {
        let beside = |one: &Self| {
            matches!(
                one,
                Self::Format(Format::CodeFirst | Format::NoEmoji) | Self::Tone(Tone::NoSmallTalk)
            )
        };
        self.key() == other.key() && (self == other || !(beside(self) || beside(other)))
    }
}

impl From<Preference> for KeyAndValue {
    fn from(preference: Preference) -> Self {
        Self { key: preference.key(), value: preference.value().to_owned() }
    }
}

impl TryFrom<KeyAndValue> for Preference {
    type Error = InvalidPreference;

    fn try_from(KeyAndValue { key, value }: KeyAndValue) -> Result<Self, InvalidPreference> {
        Self::new(key, &value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_read_back_from_its_name() {
        for key in PreferenceKey::ALL {
            for value in key.values() {
                let preference = Preference::new(*key, value).unwrap();
                assert_eq!((preference.key(), preference.value()), (*key, value));
                let json = serde_json::to_value(&preference).unwrap();
                assert_eq!(json, serde_json::json!({"key": key.name(), "value": value}));
                assert_eq!(serde_json::from_value::<Preference>(json).unwrap(), preference);
            }
        }
    }

    #[test]
    fn an_unknown_value_names_those_that_are_known() {
        let error = Preference::new(PreferenceKey::Units, "stones").unwrap_err();
        assert_eq!(error.to_string(), "must be one of metric, imperial");
        assert!(Preference::new(PreferenceKey::Name, "x\ny").is_err());
    }

    #[test]
    fn a_key_has_one_value_and_what_is_left_out_stands_beside_it() {
        let format = Preference::Format;
        assert!(format(Format::Tables).replaces(&format(Format::Bullets)));
        assert!(format(Format::NoEmoji).replaces(&format(Format::NoEmoji)));
        assert!(!format(Format::NoEmoji).replaces(&format(Format::Bullets)));
        assert!(!format(Format::Bullets).replaces(&format(Format::NoEmoji)));
        assert!(!Preference::Tone(Tone::Formal).replaces(&Preference::Address(Address::Formal)));
    }
}
