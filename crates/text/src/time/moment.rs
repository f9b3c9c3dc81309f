//! A time told from the day on which it is said.

use jiff::{ToSpan, civil::Date, civil::Weekday};

use crate::lang::keys::TimePhrase;

/// The most that a number counts: "999 days ago".
const MOST: i32 = 999;

/// A time told from the day on which it is said. Numbers count from that one: -1 is the last, 1 the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Day(i32),
    Week(i32),
    Weekend(i32),
    Month(i32),
    Year(i32),
    Weekday(Weekday, Which),
    Season(Season, OfSeason),
    /// So many units before or, below zero, after.
    Ago(i32, Unit),
    /// The nearest day of a month with this number.
    DayOfMonth(i8),
    /// None, though it looks like one.
    Nothing,
}

/// Which of the weekdays of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Last,
    This,
    Next,
    /// The one in a week, counted from this week.
    InWeek(i32),
}

/// A season of the northern hemisphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

impl Season {
    /// In the order of `lang/`.
    pub(crate) const ALL: [Self; 4] = [Self::Spring, Self::Summer, Self::Autumn, Self::Winter];
}

/// Which of the seasons of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfSeason {
    /// The last one that is over.
    Last,
    /// The last one that has begun.
    This,
    /// The one of a year, counted from this.
    InYear(i32),
}

/// The unit that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// The word in the place of a phrase, as far as it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    None,
    Number(i32),
    Weekday(Weekday),
    Season(Season),
}

impl Moment {
    /// The meaning of a phrase with a word in its place; `None` where the word does not fit. A
    /// phrase that counts and has no place counts one.
    pub(crate) fn of(phrase: TimePhrase, place: Place) -> Option<Self> {
        use TimePhrase as P;
        let count = match place {
            Place::Number(number) => (1..=MOST).contains(&number).then_some(number),
            Place::None => Some(1),
            _ => None,
        };
        let ago = |unit| count.map(|count| Self::Ago(count, unit));
        let ahead = |unit| count.map(|count| Self::Ago(-count, unit));
        let weekday = |which| match place {
            Place::Weekday(weekday) => Some(Self::Weekday(weekday, which)),
            _ => None,
        };
        let season = |which| match place {
            Place::Season(season) => Some(Self::Season(season, which)),
            _ => None,
        };
        match phrase {
            P::DayBeforeYesterday => Some(Self::Day(-2)),
            P::Yesterday => Some(Self::Day(-1)),
            P::Today => Some(Self::Day(0)),
            P::Tomorrow => Some(Self::Day(1)),
            P::DayAfterTomorrow => Some(Self::Day(2)),
            P::InThreeDays => Some(Self::Day(3)),
            P::LastWeek => Some(Self::Week(-1)),
            P::ThisWeek => Some(Self::Week(0)),
            P::NextWeek => Some(Self::Week(1)),
            P::LastWeekend => Some(Self::Weekend(-1)),
            P::ThisWeekend => Some(Self::Weekend(0)),
            P::LastMonth => Some(Self::Month(-1)),
            P::ThisMonth => Some(Self::Month(0)),
            P::NextMonth => Some(Self::Month(1)),
            P::YearBeforeLast => Some(Self::Year(-2)),
            P::LastYear => Some(Self::Year(-1)),
            P::ThisYear => Some(Self::Year(0)),
            P::NextYear => Some(Self::Year(1)),
            P::LastWeekday => weekday(Which::Last),
            P::ThisWeekday => weekday(Which::This),
            P::NextWeekday => weekday(Which::Next),
            P::WeekdayOfLastWeek => weekday(Which::InWeek(-1)),
            P::WeekdayOfThisWeek => weekday(Which::InWeek(0)),
            P::WeekdayOfNextWeek => weekday(Which::InWeek(1)),
            P::LastSeason => season(OfSeason::Last),
            P::ThisSeason => season(OfSeason::This),
            P::SeasonOfYearBeforeLast => season(OfSeason::InYear(-2)),
            P::SeasonOfLastYear => season(OfSeason::InYear(-1)),
            P::SeasonOfThisYear => season(OfSeason::InYear(0)),
            P::DaysAgo => ago(Unit::Day),
            P::WeeksAgo => ago(Unit::Week),
            P::MonthsAgo => ago(Unit::Month),
            P::YearsAgo => ago(Unit::Year),
            P::DaysAhead => ahead(Unit::Day),
            P::WeeksAhead => ahead(Unit::Week),
            P::MonthsAhead => ahead(Unit::Month),
            P::YearsAhead => ahead(Unit::Year),
            P::DayOfMonth => {
                let day = count.and_then(|day| i8::try_from(day).ok());
                day.filter(|day| (1..=31).contains(day)).map(Self::DayOfMonth)
            }
            P::NoTime => Some(Self::Nothing),
        }
    }
}

/// The Monday of a day's week.
pub(crate) fn monday(day: Date) -> Option<Date> {
    day.checked_sub(i32::from(day.weekday().to_monday_zero_offset()).days()).ok()
}

/// A weekday of a week, counted from the week of this day.
pub(crate) fn in_week(weekday: Weekday, weeks: i32, today: Date) -> Option<Date> {
    let days = 7 * weeks + i32::from(weekday.to_monday_zero_offset());
    monday(today)?.checked_add(days.days()).ok()
}
