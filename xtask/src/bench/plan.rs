//! The plan of a benchmark: subjects, cases and numbers of requests. Nothing is run here.

/// A server between Envoy and the model server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// None: Envoy without memgate's filters.
    Nobody,
    /// A no-op server behind both filters.
    NoOp,
    /// memgate with a small store.
    Small,
    /// memgate with a large store.
    Large,
}

impl Subject {
    /// All subjects.
    pub(super) const ALL: [Self; 4] = [Self::Nobody, Self::NoOp, Self::Small, Self::Large];

    /// Name for files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::NoOp => "noop",
            Self::Small => "small",
            Self::Large => "large",
        }
    }

    /// Whether it is memgate.
    pub(super) fn is_memgate(self) -> bool {
        matches!(self, Self::Small | Self::Large)
    }
}

/// Content of the last user message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Message {
    /// Nothing to search for.
    Greeting,
    /// A question of 16 tokens, different in every request.
    Question,
}

/// A case: one kind of request with a body size and a concurrency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Case {
    pub subject: Subject,
    pub message: Message,
    /// Whether memgate may learn from the exchange, which is the default.
    pub learns: bool,
    /// Whether the reply is streamed; the first token comes after [`FIRST_TOKEN_MS`], and its
    /// arrival is measured.
    pub streamed: bool,
    /// Approximate size of the request's body, in bytes.
    pub bytes: usize,
    /// Number of concurrent requests.
    pub at_once: usize,
}

/// Delay of the model server before the first token of a stream.
pub(super) const FIRST_TOKEN_MS: u32 = 50;
/// Number of concurrent requests in the concurrent cases.
pub(super) const AT_ONCE: usize = 8;
/// Body sizes.
pub(super) const SIZES: [usize; 3] = [1_000, 20_000, 1_000_000];
/// Number of memories per user.
pub(super) const MEMORIES: u64 = 100;

/// A store to fill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    pub subject: Subject,
    pub users: u64,
}

/// The extent of a benchmark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Users of the small and of the large store.
    small: u64,
    large: u64,
    /// Number of measured rounds; one warm-up round precedes them.
    pub rounds: usize,
    /// Requests per case and round with one connection; fewer for large bodies and streams.
    requests: usize,
    /// Whether this is a quick run, whose results mean little.
    pub quick: bool,
}

impl Plan {
    /// The plan for docs/benchmarks.md.
    pub(super) fn full() -> Self {
        Self { small: 100, large: 10_000, rounds: 9, requests: 200, quick: false }
    }

    /// A shorter plan with less reliable results.
    pub(super) fn quick() -> Self {
        Self { small: 100, large: 500, rounds: 3, requests: 60, quick: true }
    }

    /// The stores to fill.
    pub(super) fn stores(&self) -> [Store; 2] {
        [
            Store { subject: Subject::Small, users: self.small },
            Store { subject: Subject::Large, users: self.large },
        ]
    }

    /// Number of users of a subject; the others do not look at users.
    pub(super) fn users(&self, subject: Subject) -> u64 {
        if subject == Subject::Large { self.large } else { self.small }
    }

    /// All cases of one round.
    pub(super) fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for bytes in SIZES {
            for at_once in [1, AT_ONCE] {
                cases.extend(kinds().map(|case| Case { bytes, at_once, ..case }));
            }
        }
        for at_once in [1, AT_ONCE] {
            cases.extend(streams().map(|case| Case { at_once, ..case }));
        }
        cases
    }

    /// Number of requests of a case in one round.
    pub(super) fn requests(&self, case: &Case) -> usize {
        let all = if case.at_once > 1 { 2 * self.requests } else { self.requests };
        match case {
            Case { streamed: true, .. } => all / 5,
            Case { bytes: 100_001.., .. } => all / 10,
            _ => all,
        }
    }
}

/// The rows of the table of complete replies.
pub(super) fn kinds() -> impl Iterator<Item = Case> {
    let row = |subject, message, learns| Case {
        subject,
        message,
        learns,
        streamed: false,
        bytes: SIZES[0],
        at_once: 1,
    };
    [
        row(Subject::Nobody, Message::Question, false),
        row(Subject::NoOp, Message::Question, false),
        row(Subject::Small, Message::Greeting, false),
        row(Subject::Small, Message::Greeting, true),
        row(Subject::Small, Message::Question, false),
        row(Subject::Large, Message::Question, false),
        row(Subject::Large, Message::Question, true),
    ]
    .into_iter()
}

/// The rows of the table of first chunks: without memory, with no-op filters, with memory.
pub(super) fn streams() -> impl Iterator<Item = Case> {
    kinds()
        .filter(|case| case.message == Message::Question && case.subject != Subject::Small)
        .map(|case| Case { streamed: true, ..case })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_unique_and_has_requests() {
        let plan = Plan::quick();
        let cases = plan.cases();
        let distinct: std::collections::HashSet<_> = cases.iter().collect();
        assert_eq!(distinct.len(), cases.len());
        assert!(cases.iter().all(|case| plan.requests(case) >= case.at_once));
    }
}
