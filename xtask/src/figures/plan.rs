//! The evaluations behind the figures of README.md and docs/quality.md, and what is quoted of each.

/// An evaluation: `memgate eval KIND FILE`.
pub(super) struct Evaluation {
    pub kind: &'static str,
    /// Its data, in the repository.
    pub file: &'static str,
    /// What the data is, and who saw it.
    pub rows: &'static str,
    pub figures: &'static [Quoted],
}

/// A figure.
pub(super) struct Quoted {
    /// Its row in docs/quality.md.
    pub name: &'static str,
    /// Its place in the evaluation's JSON: a count, or a share with its interval beside it.
    pub at: &'static str,
    /// Its row in README.md, if it has one.
    pub readme: Option<&'static str>,
}

impl Evaluation {
    /// The command that measures it.
    pub(super) fn command(&self) -> String {
        format!("memgate eval {} {}", self.kind, self.file)
    }
}

const fn figure(name: &'static str, at: &'static str) -> Quoted {
    Quoted { name, at, readme: None }
}

const fn quoted(name: &'static str, at: &'static str, readme: &'static str) -> Quoted {
    Quoted { name, at, readme: Some(readme) }
}

pub(super) const EVALUATIONS: [Evaluation; 6] = [
    Evaluation {
        kind: "scenarios",
        file: "testdata/scenarios/dev.jsonl",
        rows: "235 stories over several sessions; choices were made by them",
        figures: &[
            quoted("needed facts shown", "/recall", "stories: needed facts put before the model"),
            quoted(
                "shown memories that are needed",
                "/precision",
                "stories: shown memories that were needed",
            ),
            quoted(
                "questions without need: nothing of the story shown",
                "/negatives_clean",
                "stories: questions without need that got nothing of them",
            ),
            figure("changed values: the old one is shown", "/outdated_shown"),
        ],
    },
    Evaluation {
        kind: "ordinary",
        file: "testdata/conversations/kept/rows.jsonl",
        rows: "30 users in whose lives much changes, twelve languages; kept apart",
        figures: &[
            quoted(
                "facts stored",
                "/rows/all/store/fact_recall",
                "lives in which much changes: facts stored",
            ),
            figure("facts in any memory, turns too", "/rows/all/store/held"),
            figure("stored memories that hold no fact", "/rows/all/store/junk"),
            figure("past facts shown as current", "/rows/all/store/past_active"),
            quoted(
                "needed facts shown",
                "/rows/all/asks/context_recall",
                "the same: needed facts put before the model",
            ),
            figure("relevant lines", "/rows/all/asks/precision"),
            figure("questions with a wrong line", "/rows/all/asks/must_not_shown"),
            figure("questions without need: nothing needless shown", "/rows/all/asks/silence_kept"),
        ],
    },
    Evaluation {
        kind: "ordinary",
        file: "testdata/answers/kept/rows.jsonl",
        rows: "30 users who ask for a part of a long answer weeks later; kept apart",
        figures: &[
            figure("facts in any memory", "/rows/all/store/held"),
            quoted(
                "needed facts shown",
                "/rows/all/asks/context_recall",
                "parts of earlier answers, asked for weeks later: shown",
            ),
            figure("relevant lines", "/rows/all/asks/precision"),
            figure("questions without need: nothing needless shown", "/rows/all/asks/silence_kept"),
        ],
    },
    Evaluation {
        kind: "forgetting",
        file: "testdata/forgetting/kept/rows.jsonl",
        rows: "120 users, half of whom ask to forget something, the others only seem to; hard on purpose; kept apart",
        figures: &[
            quoted(
                "requests that take what they mean and nothing else",
                "/requests_right",
                "requests to forget in free words that take what they mean, and nothing else",
            ),
            figure("of what they mean: gone", "/gone"),
            figure("of what is gone: not meant", "/gone_wrongly"),
            figure("messages that only look like one: nothing gone", "/others_right"),
        ],
    },
    Evaluation {
        kind: "refusals",
        file: "testdata/screening/kept/sentences-secrets.jsonl",
        rows: "215 sentences with secrets, mostly without a label, and harmless look-alikes; kept apart",
        figures: &[
            quoted(
                "secrets of which a part is stored",
                "/secrets_stored",
                "secrets in sentences of which a part is stored",
            ),
            figure("look-alikes changed or refused", "/benign_lost"),
        ],
    },
    Evaluation {
        kind: "refusals",
        file: "testdata/screening/kept/sentences-benign.jsonl",
        rows: "188 statements about ordinary lives that look like commands or quotations; kept apart",
        figures: &[figure("changed or refused", "/benign_lost")],
    },
];
