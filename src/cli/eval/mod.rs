//! `memgate eval`: measures the quality of memory on labelled data, with the parts of `memgate
//! serve` on a temporary data folder.

mod harness;

use anyhow::Result;

use self::harness::Framed;
use memgate_eval::{
    Forgetting, Locomo, LongMemEval, Memorable, Messages, Ordinary, Placements, Poisoning,
    Refusals, Scenarios, Signals, Updates,
};

/// Arguments of `memgate eval`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Requests to forget: whether they take what they mean, and only that
    Forgetting(Framed<Forgetting>),
    /// Recall of evidence turns in long conversations (LoCoMo)
    Locomo(Framed<Locomo>),
    /// Recall in long histories of chats with an assistant (LongMemEval)
    #[command(name = "longmemeval")]
    LongMemEval(Framed<LongMemEval>),
    /// Precision and recall of facts extracted from single messages
    Memorable(Framed<Memorable>),
    /// What becomes of each part of labelled messages: own and foreign words, wishes, opt-outs
    Messages(Framed<Messages>),
    /// Stored and presented memories of ordinary conversations over several sessions
    Ordinary(Framed<Ordinary>),
    /// Prompt-prefix reuse per context placement, in conversations of twenty turns
    Placement(Framed<Placements>),
    /// Foreign text that gets into memory as the user's word, and typed text that is kept
    Poisoning(Framed<Poisoning>),
    /// Benign statements lost to caution, and secrets that are stored
    Refusals(Framed<Refusals>),
    /// Recall and precision in scenarios over several sessions
    Scenarios(Framed<Scenarios>),
    /// Accuracy of the decision whether to search memory
    Signals(Framed<Signals>),
    /// Accuracy of detecting statements that a new message supersedes
    Updates(Framed<Updates>),
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        match self.what {
            What::Forgetting(args) => args.run(),
            What::Locomo(args) => args.run(),
            What::LongMemEval(args) => args.run(),
            What::Memorable(args) => args.run(),
            What::Messages(args) => args.run(),
            What::Ordinary(args) => args.run(),
            What::Placement(args) => args.run(),
            What::Poisoning(args) => args.run(),
            What::Refusals(args) => args.run(),
            What::Scenarios(args) => args.run(),
            What::Signals(args) => args.run(),
            What::Updates(args) => args.run(),
        }
    }
}
