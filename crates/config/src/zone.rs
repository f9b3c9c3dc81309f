//! A time zone as a value of the configuration.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use memgate_core::zone;

/// A time zone, by its IANA name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone.
    #[must_use]
    pub fn get(&self) -> &TimeZone {
        &self.0
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl TryFrom<String> for Zone {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        zone::named(&name).map(Self).ok_or(zone::RULE)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.0.iana_name().unwrap_or("UTC").to_owned()
    }
}

impl JsonSchema for Zone {
    fn schema_name() -> Cow<'static, str> {
        "Zone".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}
