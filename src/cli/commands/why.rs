//! `memgate why`: what recall did for a request and why, what was learned from it, and why a text is remembered and shown
//! or not.

use std::process::ExitCode;

use crate::{
    api::{
        Whose, WhoseIfNamed, WhyRequest, WhyTerms, WithId,
        table::{RecallOf, TurnOf, Why},
    },
    cli::{answer, options::Common, output::show_trail},
    startup::Need,
};

/// Arguments of `memgate why`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of a request, as in x-memgate-request-id; with --user or --space: a text that should have been remembered.
    #[arg(value_name = "REQUEST_ID|TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    what: String,
    #[command(flatten)]
    common: Common,
    /// User who should have had the text remembered or shown.
    #[arg(long, value_name = "ID", group = "owner")]
    user: Option<String>,
    /// In place of a user what is known to the organisation, or to an agent: `organisation` or `agent:ID`.
    #[arg(long, value_name = "SPACE", group = "owner")]
    space: Option<String>,
    /// Tenant of the user or space [default: default].
    #[arg(long, value_name = "ID", requires = "owner")]
    tenant: Option<String>,
    /// Request in which the text was missed [default: the user's latest ones].
    #[arg(long, value_name = "REQUEST_ID", requires = "owner", conflicts_with = "query")]
    request: Option<String>,
    /// Question for which the text was missed; it is searched anew.
    #[arg(long, value_name = "TEXT", requires = "owner")]
    query: Option<String>,
    /// Show what was learned from the request's turn.
    #[arg(long, conflicts_with = "owner")]
    learned: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let (common, what) = (self.common, self.what);
        if self.user.is_none() && self.space.is_none() {
            if matches!(&*what, "." | "..") {
                let kind = clap::error::ErrorKind::ValueValidation;
                clap::Error::raw(kind, "REQUEST_ID is not the id of a request\n").exit();
            }
            let of = WithId { id: what, request: WhoseIfNamed::default() };
            return match self.learned {
                true => answer::run::<TurnOf>(common, Need::Stored, of, show_trail::turn),
                false => answer::run::<RecallOf>(common, Need::Stored, of, show_trail::recall),
            };
        }
        let whose = Whose { user_id: self.user, space: self.space, tenant_id: self.tenant };
        let need = if self.query.is_some() { Need::Model } else { Need::Stored };
        let why = WhyTerms { text: what, request_id: self.request, query: self.query };
        answer::run::<Why>(common, need, WhyRequest { whose, why }, show_trail::why)
    }
}
