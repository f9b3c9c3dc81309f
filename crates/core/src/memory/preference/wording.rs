//! The words of a preference for the model: fixed for every value, but for a name.

use crate::memory::{Address, Expertise, Format, Length, Preference, Tone, Units};

/// A preference in one short sentence.
#[must_use]
pub fn wording(preference: &Preference) -> String {
    let fixed = match preference {
        Preference::Name(name) => {
            let name = name.as_str();
            let stop = if name.ends_with('.') { "" } else { "." };
            return format!("Call the user {name}{stop}");
        }
        Preference::Language(language) => return format!("Answer in {}.", language.english_name()),
        Preference::Address(Address::Formal) => "Address the user formally (Sie, vous).",
        Preference::Address(Address::Informal) => "Address the user informally (du, tu).",
        Preference::Length(Length::Short) => "Keep answers short.",
        Preference::Length(Length::Detailed) => "Give detailed answers.",
        Preference::Format(Format::Bullets) => "Answer in bullet points.",
        Preference::Format(Format::Prose) => "Answer in prose, without lists.",
        Preference::Format(Format::Tables) => "Use tables where they fit.",
        Preference::Format(Format::CodeFirst) => "Show code first, then explain.",
        Preference::Format(Format::NoEmoji) => "Use no emojis.",
        Preference::Units(Units::Metric) => "Use metric units.",
        Preference::Units(Units::Imperial) => "Use imperial units.",
        Preference::Tone(Tone::Plain) => "Use plain words.",
        Preference::Tone(Tone::Friendly) => "Be friendly and casual.",
        Preference::Tone(Tone::Formal) => "Keep a formal tone.",
        Preference::Tone(Tone::NoSmallTalk) => "Leave out small talk.",
        Preference::Expertise(Expertise::Beginner) => "Explain things to a beginner.",
        Preference::Expertise(Expertise::Expert) => "Skip the basics: the user is an expert.",
    };
    fixed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PreferenceKey;

    #[test]
    fn every_value_is_one_short_sentence() {
        for key in PreferenceKey::ALL {
            for value in key.values() {
                let words = wording(&Preference::new(*key, value).unwrap());
                assert!(words.ends_with('.') && words.len() < 48, "{words}");
            }
        }
        let named = |name| wording(&Preference::new(PreferenceKey::Name, name).unwrap());
        assert_eq!(
            (named("Sam"), named("Sam Jr.")),
            ("Call the user Sam.".to_owned(), "Call the user Sam Jr.".to_owned(),)
        );
    }
}
