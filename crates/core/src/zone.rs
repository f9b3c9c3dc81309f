//! Time zones by their names, as requests and the configuration name them.

use jiff::tz::TimeZone;

/// The rule for a zone's name; errors append it to the field's name.
pub const RULE: &str = "must be the IANA name of a time zone, such as Europe/Berlin";

/// The longest name that is looked up, in bytes; the longest that exists has 32.
const MAX_BYTES: usize = 64;

/// The time zone of an IANA name; `None` where there is none.
#[must_use]
pub fn named(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok().filter(|_| name.len() <= MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_known_by_its_name_alone() {
        for name in ["Europe/Berlin", "Asia/Kolkata", "UTC", "America/Argentina/Buenos_Aires"] {
            assert_eq!(
                named(name).and_then(|zone| zone.iana_name().map(str::to_owned)).as_deref(),
                Some(name)
            );
        }
        for name in ["", "Berlin", "Europe/Utopia", "+02:00", "../etc/passwd", "UTC+2"] {
            assert_eq!(named(name), None, "{name}");
        }
    }
}
