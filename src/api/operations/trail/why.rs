//! Why a text is remembered and shown, or not: never stored, superseded, not found, cut, or presented.

mod said;

use self::said::{answer, in_request, those_saying};
use crate::api::{
    ApiError, Caller, TurnView, WhyRequest, WhyTerms, WhyView,
    operations::{Operations, not_empty, read::MAX_HITS},
};
use memgate_capture::{Author, Became, TurnRecord, admit_text};
use memgate_core::memory::{
    Filter, ListQuery, Memory, MemoryId, Owner, ScopeQuery, Search, Status, Within,
};
use memgate_recall::{Hit, RecallRecord, Selection};

/// Maximum length of the text and of the query, in bytes.
const MAX_TEXT: usize = 8 * 1024;
/// Memories that are compared with the text.
const COMPARED: usize = 20;
/// Superseded memories that are compared with the text, the newest.
const OLD_COMPARED: usize = 100;
/// Requests that are looked at, the newest.
const REQUESTS: usize = 20;
/// Turns that are named for a text that was never stored.
const TURNS: usize = 5;

impl Operations {
    /// Why a text is remembered and shown, or not.
    ///
    /// # Errors
    /// 400 for an invalid field, 404 for a request that is not in the trail, 503 while the store is unavailable.
    pub async fn why(
        &self,
        caller: &Caller,
        WhyRequest { whose, why }: WhyRequest,
    ) -> Result<WhyView, ApiError> {
        let owner = caller.owner(&whose)?;
        for (param, text) in [("text", Some(&why.text)), ("query", why.query.as_ref())] {
            not_empty(param, text)?;
            if text.is_some_and(|text| text.len() > MAX_TEXT) {
                let cause = format_args!("must have at most {MAX_TEXT} bytes");
                return Err(ApiError::invalid(param, cause));
            }
        }
        let saying = self.saying(&owner, &why.text).await?;
        if !saying.is_empty() {
            return self.why_of(&owner, saying, why).await;
        }
        match self.superseded_saying(&owner, &why.text).await? {
            Some(memory) => self.superseded(&owner, memory).await,
            None => self.never_stored(&owner, &why.text).await,
        }
    }

    /// The memories in use that say a text, the best first: often a statement and the turn that it was taken from.
    async fn saying(&self, owner: &Owner, text: &str) -> Result<Vec<Memory>, ApiError> {
        let search = Search {
            scopes: vec![ScopeQuery::of(owner.clone())],
            shared: None,
            filter: None,
            vector: None,
            text: Some(text.to_owned()),
            limit: COMPARED,
            now: self.clock.now(),
        };
        let found = self.store.retrieve(&search).await?;
        self.those_saying(found.into_iter().map(|found| found.memory).collect(), text).await
    }

    async fn superseded_saying(
        &self,
        owner: &Owner,
        text: &str,
    ) -> Result<Option<Memory>, ApiError> {
        let query = ListQuery {
            scope: ScopeQuery::of(owner.clone()),
            filter: Some(Filter::Status(vec![Status::Superseded])),
            limit: OLD_COMPARED,
            cursor: None,
            now: self.clock.now(),
        };
        let old = self.store.list(&query).await?.memories;
        Ok(self.those_saying(old, text).await?.into_iter().next())
    }

    async fn those_saying(
        &self,
        memories: Vec<Memory>,
        text: &str,
    ) -> Result<Vec<Memory>, ApiError> {
        let text = text.to_owned();
        let bytes = memories.iter().map(|memory| memory.text().len()).sum::<usize>() + text.len();
        self.texts.run(bytes, move || those_saying(memories.into_iter(), &text)).await
    }

    async fn superseded(&self, owner: &Owner, memory: Memory) -> Result<WhyView, ApiError> {
        let turns = self.capture.trail().newest(owner, usize::MAX).await?;
        let events = turns.iter().flat_map(|turn| &turn.events);
        let mut of_it = events.filter(|event| event.memory.as_ref() == Some(&memory.id));
        let by = of_it.find_map(|event| event.by.clone());
        let by = by.map(|id| id.as_str().to_owned());
        Ok(WhyView { reason: by, memory: Some(memory.into()), ..answer("superseded") })
    }

    async fn never_stored(&self, owner: &Owner, text: &str) -> Result<WhyView, ApiError> {
        let (screener, said) = (self.screener(), text.to_owned());
        let admit = move || admit_text(screener, &said, MAX_TEXT, Author::Extractor).err();
        let refused = self.texts.run(text.len(), admit).await?;
        let lost = |turn: &TurnRecord| {
            let lost = [Became::Refused, Became::Redacted, Became::Dropped];
            turn.events.iter().any(|event| lost.contains(&event.became))
        };
        let turns = self.capture.trail().newest(owner, usize::MAX).await?;
        let turns = turns.into_iter().filter(lost);
        Ok(WhyView {
            reason: refused.map(|why| why.name().to_owned()),
            turns: turns.take(TURNS).map(TurnView::from).collect(),
            ..answer("never_stored")
        })
    }

    /// Why stored memories are shown or not: for a question, for a request, or for the latest requests.
    async fn why_of(
        &self,
        owner: &Owner,
        mut saying: Vec<Memory>,
        WhyTerms { request_id, query, .. }: WhyTerms,
    ) -> Result<WhyView, ApiError> {
        let ids: Vec<MemoryId> = saying.iter().map(|memory| memory.id.clone()).collect();
        let (of, view) = match (query, request_id) {
            (Some(query), _) => self.searched_anew(owner, &ids, &query).await?,
            (None, Some(request_id)) => {
                let record = self.recall.trail().find(&request_id, |of| of == owner).await?;
                let Some(record) = record else { return Err(ApiError::not_in_trail("request")) };
                in_request(&record, &ids)
            }
            (None, None) => {
                let records = self.recall.trail().newest(owner, REQUESTS).await?;
                let has =
                    |record: &&RecallRecord| ids.iter().any(|id| record.candidate(id).is_some());
                // Else the newest that was searched; one that was not asks nothing of memory.
                let searched = || records.iter().find(|it| it.decision == "searched");
                let record = records.iter().find(has).or_else(searched).or_else(|| records.first());
                let not_asked = || (0, answer("not_asked"));
                record.map_or_else(not_asked, |record| in_request(record, &ids))
            }
        };
        Ok(WhyView { memory: Some(saying.swap_remove(of).into()), ..view })
    }

    /// The outcome of these memories for this question now, and the place of the one that it is about.
    async fn searched_anew(
        &self,
        owner: &Owner,
        ids: &[MemoryId],
        query: &str,
    ) -> Result<(usize, WhyView), ApiError> {
        let config = self.config.get();
        let memory = &config.memory;
        let threshold = memory.default_similarity_threshold;
        let selection = Selection { limit: MAX_HITS, threshold: 0.0, types: Vec::new() };
        let hits = self.hits(owner, query, &selection, &Within::All, None).await?;
        let place = |hit: &Hit| ids.iter().position(|id| *id == hit.memory.id);
        let passing = hits.iter().filter(|hit| hit.score >= threshold);
        let shown = passing.take(memory.default_retrieval_limit).find(|hit| place(hit).is_some());
        // The order is not the relevance: of those that are cut the most relevant is told.
        let cut = || {
            let found = hits.iter().filter(|hit| place(hit).is_some());
            found.max_by(|a, b| a.score.total_cmp(&b.score))
        };
        let Some(hit) = shown.or_else(cut) else {
            return Ok((0, WhyView { threshold: Some(threshold), ..answer("not_found") }));
        };
        let (found, cut) = match shown {
            Some(_) => ("presented", None),
            None if hit.score < threshold => ("cut", Some("threshold")),
            None => ("cut", Some("limit")),
        };
        let (reason, score) = (cut.map(str::to_owned), Some(hit.score));
        let view = WhyView { reason, score, threshold: Some(threshold), ..answer(found) };
        Ok((place(hit).unwrap_or_default(), view))
    }
}
