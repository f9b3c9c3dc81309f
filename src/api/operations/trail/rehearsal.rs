//! Rehearses the recall for a message: what a model would receive, without asking it. Nothing is counted or kept.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    api::{
        ApiError, Caller, ContextRequest, ContextTerms, ContextView,
        operations::{Operations, not_empty, read::SEARCH_TIME},
    },
    placement,
};
use memgate_config::Placement;
use memgate_core::memory::{Reader, Within};
use memgate_dialect::Dialect;
use memgate_embed::model_names;
use memgate_recall::{
    Earlier, Message, QueryWords, RecallRecord, RecallRequest, Recalled, Skip, Step, Trace,
};

/// Maximum number of earlier messages.
const MAX_EARLIER: usize = 64;
/// Maximum length of all messages together, in bytes.
const MAX_MESSAGES: usize = 64 * 1024;

impl Operations {
    /// The context that a model would receive for a message.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while neither vectors nor words can be searched.
    pub async fn context(
        &self,
        caller: &Caller,
        ContextRequest { whose, said }: ContextRequest,
    ) -> Result<ContextView, ApiError> {
        let owner = caller.owner(&whose)?;
        let ContextTerms {
            message,
            earlier,
            project_id,
            agent_id,
            limit,
            threshold,
            types,
            embedding_model,
            placement: placed,
        } = said;
        not_empty("message", Some(&message))?;
        not_empty("project_id", project_id.as_ref())?;
        not_empty("agent_id", agent_id.as_ref())?;
        if earlier.len() > MAX_EARLIER || earlier.iter().any(String::is_empty) {
            let cause = format_args!("must be at most {MAX_EARLIER} messages, none of them empty");
            return Err(ApiError::invalid("earlier", cause));
        }
        if message.len() + earlier.iter().map(String::len).sum::<usize>() > MAX_MESSAGES {
            let cause = format_args!("must have at most {MAX_MESSAGES} bytes, with earlier ones");
            return Err(ApiError::invalid("message", cause));
        }
        let selection = self.selection(limit, threshold, types)?;
        let embedding_models = model_names(self.embedder.as_ref());
        let rehearsal = match &embedding_model {
            None => self.rehearsal.clone(),
            Some(name) => self.rehearsal.with_only_model(name).ok_or_else(|| {
                let cause = format!("must be one of {}", embedding_models.join(", "));
                ApiError::invalid("embedding_model", cause)
            })?,
        };
        let config = self.config.get();
        let projects = match &project_id {
            None if config.memory.search_all_projects => Within::All,
            project => Within::visible_to(project.as_deref()),
        };
        let (began, trace) = (Instant::now(), Trace::default());
        let now = self.clock.now();
        let before: Vec<&str> = earlier.iter().map(String::as_str).collect();
        let is_user = owner.user().is_some();
        let reader =
            is_user.then(|| Reader { owner: owner.clone(), roles: Vec::new(), agent: None });
        let request = RecallRequest {
            owner: &owner,
            projects: &projects,
            agents: &Within::visible_to(agent_id.as_deref()),
            session: None,
            reader: reader.as_ref(),
            earlier: &before,
            selection: &selection,
            settings: config.memory.recall_settings(),
            filter: None,
            forgotten: &[],
            now,
            zone: config.memory.timezone.get().clone(),
            deadline: began + SEARCH_TIME,
            trace: Some(&trace),
        };
        let asked = Message { text: &message, signals: &Earlier::SILENT, tools_offered: false };
        let plan = rehearsal.plan(asked, &request).await?;
        let context = plan.context(|_| true).await?;
        drop(plan);
        trace.step(Step::Total, began.elapsed());
        let placed = placed.unwrap_or(config.memory.placement);
        let messages = messages(&before, &message, &context.text, placed)?;
        let record = Recalled {
            request_id: caller.request_id().unwrap_or_default(),
            owner: owner.clone(),
            at: now,
            began: began.into_std(),
            decision: context.skipped.map_or("searched", Skip::as_str),
            threshold: selection.threshold,
            limit: selection.limit,
            trace,
            presented: context.scores,
            context: context.text.clone(),
            message: None,
        };
        let recall = self.shown(RecallRecord::of(record, QueryWords::All), true).await;
        let embedding_models = embedding_models.into_iter().map(str::to_owned).collect();
        Ok(ContextView { recall, context: context.text, messages, embedding_models })
    }
}

/// The messages of a request, with the context put in as the gateway does.
fn messages(
    earlier: &[&str],
    message: &str,
    context: &str,
    placed: Placement,
) -> Result<Value, ApiError> {
    let said = |text: &&str| json!({"role": "user", "content": text});
    let messages: Vec<Value> = earlier.iter().chain([&message]).map(said).collect();
    let body = json!({ "messages": messages }).to_string().into_bytes();
    let unreadable = |_| ApiError::invalid("message", "cannot be read");
    let request = memgate_dialect::read(Dialect::Chat, &body).map_err(unreadable)?;
    let edited = request.plan(Some((context, placement::in_dialect(placed)))).apply(&body);
    let mut edited: Value = serde_json::from_slice(&edited)
        .map_err(|_| ApiError::invalid("message", "cannot be read"))?;
    Ok(edited["messages"].take())
}
