//! `memgate why`: what recall did for a request and why, what was learned from it, and why a text is remembered and shown
//! or not.

use std::process::ExitCode;

use crate::{
    api::{
        WhoseIfNamed, WhyRequest, WhyTerms, WithId,
        table::{RecallOf, TurnOf, Why},
    },
    cli::{answer, options::Common, output::show_trail},
    startup::Need,
};

/// Arguments of `memgate why`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of a request, as in x-memgate-request-id; with --user: a text that should have been remembered.
    #[arg(value_name = "REQUEST_ID|TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    what: String,
    #[command(flatten)]
    common: Common,
    /// User who should have had the text remembered or shown.
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Tenant of the user [default: default].
    #[arg(long, value_name = "ID", requires = "user")]
    tenant: Option<String>,
    /// Request in which the text was missed [default: the user's latest ones].
    #[arg(long, value_name = "REQUEST_ID", requires = "user", conflicts_with = "query")]
    request: Option<String>,
    /// Question for which the text was missed; it is searched anew.
    #[arg(long, value_name = "TEXT", requires = "user")]
    query: Option<String>,
    /// Show what was learned from the request's turn.
    #[arg(long, conflicts_with = "user")]
    learned: bool,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let (common, what) = (self.common, self.what);
        let Some(user_id) = self.user else {
            if matches!(&*what, "." | "..") {
                let kind = clap::error::ErrorKind::ValueValidation;
                clap::Error::raw(kind, "REQUEST_ID is not the id of a request\n").exit();
            }
            let of = WithId { id: what, request: WhoseIfNamed::default() };
            return match self.learned {
                true => answer::run::<TurnOf>(common, Need::Stored, of, show_trail::turn),
                false => answer::run::<RecallOf>(common, Need::Stored, of, show_trail::recall),
            };
        };
        let whose = crate::api::Whose::user(user_id, self.tenant);
        let need = if self.query.is_some() { Need::Model } else { Need::Stored };
        let why = WhyTerms { text: what, request_id: self.request, query: self.query };
        answer::run::<Why>(common, need, WhyRequest { whose, why }, show_trail::why)
    }
}
