//! Search, or skip with a reason. When in doubt, search: a needless search
//! costs a millisecond, a skipped one the answer.

use crate::signals::Signals;

/// What is to be done about an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Memory may help.
    Search,
    /// It cannot.
    Skip(Skip),
}

/// Why memory is not looked at, as the signals tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// A question about the world that has nothing to do with the user.
    Fact,
    /// A tool answers.
    Tool,
    /// Nothing was asked.
    Greeting,
}

/// Decides by the signals. Personal reference wins over fact, whoever said
/// fact: "who wrote my favourite book" needs the book first. It does not win
/// over tool, whose answer is fetched and not remembered.
#[must_use]
pub fn decide(signals: &Signals) -> Decision {
    if signals.fact && !signals.personal {
        tracing::debug!("Memory: Skipping - general fact query");
        Decision::Skip(Skip::Fact)
    } else if signals.tool {
        tracing::debug!("Memory: Skipping - tool query");
        Decision::Skip(Skip::Tool)
    } else if signals.greeting {
        tracing::debug!("Memory: Skipping - greeting");
        Decision::Skip(Skip::Greeting)
    } else {
        Decision::Search
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(fact: bool, tool: bool, greeting: bool, personal: bool) -> Decision {
        decide(&Signals { fact, tool, greeting, personal })
    }

    #[test]
    fn personal_wins_over_fact_and_not_over_tool() {
        assert_eq!(decision(true, false, false, false), Decision::Skip(Skip::Fact));
        assert_eq!(decision(true, false, false, true), Decision::Search);
        assert_eq!(decision(true, true, false, true), Decision::Skip(Skip::Tool));
        assert_eq!(decision(false, true, false, true), Decision::Skip(Skip::Tool));
    }

    #[test]
    fn greetings_are_skipped_and_silence_means_search() {
        assert_eq!(decision(false, false, true, false), Decision::Skip(Skip::Greeting));
        assert_eq!(decision(false, false, false, false), Decision::Search);
    }
}
