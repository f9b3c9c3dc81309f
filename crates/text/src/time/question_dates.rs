//! Times that a query names: days and months ("on 1 May 2022", "in March", "5月8日"), and what it tells from the day
//! of asking. Memories of that time, or just after, are more likely meant; that is a hint and never a filter.

use jiff::{ToSpan, civil::Date};

use crate::time::{
    named_days::{Named, named},
    question_periods::{self, Period},
};

/// Most dates of a query that count, of those named and of those told from the day of asking.
const MOST: usize = 8;
/// For so many days after it, people still tell of a day.
const TOLD_WITHIN: i32 = 7;

/// The times that a query names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    named: Vec<Named>,
    periods: Vec<Period>,
}

impl Times {
    /// Those of a query that was asked on some day.
    #[must_use]
    pub fn of(query: &str, asked: Date) -> Self {
        Self {
            named: named(query).into_iter().take(MOST).collect(),
            periods: question_periods::named(query, asked).take(MOST).collect(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.periods.is_empty()
    }

    /// Whether a day on which something was said is one of them, or soon after.
    #[must_use]
    pub fn meet(&self, said: Date) -> bool {
        self.named.iter().any(|it| meets(*it, said))
            || self.periods.iter().any(|it| told_of(*it, said))
    }
}

/// Whether a period of a few days may have been told of on this day: people still tell soon after.
fn told_of(period: Period, said: Date) -> bool {
    let short = period.from.saturating_add(TOLD_WITHIN.days()) >= period.until;
    let later = if short { TOLD_WITHIN } else { 0 };
    (period.from..=period.until.saturating_add(later.days())).contains(&said)
}

/// Whether something was said in a named month, or on a named day or soon after.
fn meets(named: Named, said: Date) -> bool {
    let Some(day) = named.day else {
        return said.month() == named.month && named.year.is_none_or(|year| year == said.year());
    };
    // Told in January of a day in December.
    let years = named.year.map_or([said.year(), said.year() - 1], |year| [year, year]);
    years.into_iter().any(|year| {
        let Ok(start) = Date::new(year, named.month, day) else { return false };
        let end = start.saturating_add(TOLD_WITHIN.days());
        (start..=end).contains(&said)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_in_a_period_told_from_today_meets_it() {
        let meets = |query: &str, said: &str| {
            Times::of(query, "2026-04-16".parse().unwrap()).meet(said.parse().unwrap())
        };
        assert!(meets("what did I buy yesterday", "2026-04-15"));
        assert!(meets("what did I do last week", "2026-04-14"), "told soon after");
        assert!(!meets("what did I do last week", "2026-04-05"));
        assert!(meets("去年夏天去哪儿了", "2025-07-01"));
        assert!(!meets("去年夏天去哪儿了", "2025-09-02"));
        assert!(Times::of("what did I buy", Date::default()).is_empty());
    }

    #[test]
    fn what_was_said_then_or_soon_after_meets_a_date() {
        let meets = |query: &str, said: &str| meets(named(query)[0], said.parse().unwrap());
        assert!(meets("on 1 May 2022", "2022-05-03"));
        assert!(!meets("on 1 May 2022", "2022-04-30"));
        assert!(!meets("on 1 May 2022", "2023-05-01"));
        assert!(meets("on 30 December", "2023-01-02"));
        assert!(meets("in May", "2022-05-30") && !meets("in May", "2022-06-01"));
        assert!(!meets("on 30 February", "2022-03-01"));
    }
}
