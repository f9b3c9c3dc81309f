//! The action for each class of secret or personal data: the `memory.screening` section.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A class of secret or personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Class {
    /// A private key in PEM, OpenSSH, PuTTY or PGP armour, or the seed phrase of a wallet.
    PrivateKey,
    /// An access token or API key in a known format.
    Token,
    /// A password or another value after a label such as "password:".
    Credential,
    /// A PIN, a door or alarm code, a one-time code.
    Code,
    /// A payment card number.
    Card,
    /// An international bank account number.
    Iban,
    /// An identity, tax, social security, passport or licence number.
    NationalId,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// A postal address: street and number.
    Address,
    /// A statement about somebody's health.
    Health,
}

impl Class {
    /// The name used in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The text that replaces a redacted value.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::PrivateKey => "[removed: private key]",
            Self::Token => "[removed: token]",
            Self::Credential => "[removed: credential]",
            Self::Code => "[removed: code]",
            Self::Card => "[removed: card number]",
            Self::Iban => "[removed: account number]",
            Self::NationalId => "[removed: id number]",
            Self::Email => "[removed: email]",
            Self::Phone => "[removed: phone number]",
            Self::Address => "[removed: address]",
            Self::Health => "[removed: health]",
        }
    }
}

/// The action for a value.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is stored.
    Keep,
    /// A mark replaces it. A sentence that says nothing lasting without it is not stored.
    Redact,
    /// The whole sentence is not stored.
    Drop,
}

/// Actions for secrets and personal data before anything is written. Private keys, access tokens
/// and passwords are always redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// PINs, door and alarm codes, one-time codes: `keep`, `redact` or `drop`.
    pub codes: Action,
    /// Payment card numbers.
    pub cards: Action,
    /// International bank account numbers (IBAN).
    pub ibans: Action,
    /// Identity, tax, social security, passport and licence numbers.
    pub national_ids: Action,
    /// E-mail addresses.
    pub emails: Action,
    /// Telephone numbers.
    pub phones: Action,
    /// Street addresses.
    pub addresses: Action,
    /// Sentences about somebody's health. There is no value to redact, so `redact` drops the sentence.
    pub health: Action,
}

impl Default for Policy {
    /// Data that identify a person to an authority or a bank are redacted. Data that friends know of each
    /// other (contacts, address, health) is kept, because people ask an assistant to remember it.
    fn default() -> Self {
        Self {
            codes: Action::Redact,
            cards: Action::Redact,
            ibans: Action::Redact,
            national_ids: Action::Redact,
            emails: Action::Keep,
            phones: Action::Keep,
            addresses: Action::Keep,
            health: Action::Keep,
        }
    }
}

impl Policy {
    /// The action for a class.
    #[must_use]
    pub fn action(&self, class: Class) -> Action {
        match class {
            Class::PrivateKey | Class::Token | Class::Credential => Action::Redact,
            Class::Code => self.codes,
            Class::Card => self.cards,
            Class::Iban => self.ibans,
            Class::NationalId => self.national_ids,
            Class::Email => self.emails,
            Class::Phone => self.phones,
            Class::Address => self.addresses,
            Class::Health if self.health == Action::Keep => Action::Keep,
            Class::Health => Action::Drop,
        }
    }

    /// The keys of the classes for which `new` is more permissive.
    #[must_use]
    pub fn loosened(&self, new: &Self) -> Vec<&'static str> {
        [
            ("codes", self.codes, new.codes),
            ("cards", self.cards, new.cards),
            ("ibans", self.ibans, new.ibans),
            ("national_ids", self.national_ids, new.national_ids),
            ("emails", self.emails, new.emails),
            ("phones", self.phones, new.phones),
            ("addresses", self.addresses, new.addresses),
            ("health", self.health, new.health),
        ]
        .into_iter()
        .filter(|(_, old, new)| new < old)
        .map(|(key, ..)| key)
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_less_strict_action_loosens_and_a_stricter_one_does_not() {
        let strict = Policy { emails: Action::Drop, ..Policy::default() };
        assert_eq!(strict.loosened(&Policy::default()), ["emails"]);
        assert!(Policy::default().loosened(&strict).is_empty());
    }

    #[test]
    fn keys_tokens_and_passwords_are_redacted_under_every_policy() {
        let open = Policy { codes: Action::Keep, cards: Action::Keep, ..Policy::default() };
        for class in [Class::PrivateKey, Class::Token, Class::Credential] {
            assert_eq!(open.action(class), Action::Redact);
        }
    }
}
