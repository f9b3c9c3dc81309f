//! Lists and searches memories.

use std::time::Duration;

use tokio::time::Instant;

use crate::api::{
    ApiError, Caller, HitView, HitsView, ListFilter, ListRequest, MemoriesView, SearchRequest,
    SearchTerms, cursor,
    operations::{Operations, not_empty, page, share},
};
use memgate_core::memory::{Filter, ListQuery, Owner, ScopeQuery, Within};
use memgate_recall::{Hit, Query, RecallRequest, Selection};

/// Maximum number of hits, as for a model request.
pub(super) const MAX_HITS: usize = 50;
/// Maximum length of a query, in bytes.
const MAX_QUERY: usize = 64 * 1024;
/// Maximum duration of a search; no model request waits for it.
pub(super) const SEARCH_TIME: Duration = Duration::from_secs(10);

impl Operations {
    /// A page of a user's memories, newest first.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the store is unavailable.
    pub async fn list(
        &self,
        caller: &Caller,
        request: ListRequest,
    ) -> Result<MemoriesView, ApiError> {
        let owner = caller.owner(&request.whose)?;
        let query = ListQuery {
            scope: ScopeQuery::of(owner),
            filter: self.conditions(request.filter)?,
            limit: page(request.paging.limit)?,
            cursor: request.paging.cursor.as_deref().map(cursor::decode).transpose()?,
            now: self.clock.now(),
        };
        Ok(self.store.list(&query).await?.into())
    }

    /// The conditions of a list as one; `None` if there are none.
    ///
    /// # Errors
    /// 400 for an invalid field.
    pub(super) fn conditions(&self, filter: ListFilter) -> Result<Option<Filter>, ApiError> {
        let ListFilter { project_id, memory_type, status, entity, filter } = filter;
        not_empty("project_id", project_id.as_ref())?;
        self.known_types("type", &memory_type)?;
        let mut conditions = Vec::new();
        conditions.extend(project_id.map(Filter::Project));
        conditions.extend(memory_type.map(|name| Filter::Type(vec![name])));
        conditions.extend(status.map(|status| Filter::Status(vec![status])));
        conditions.extend(entity.map(Filter::Entity));
        conditions.extend(filter);
        Ok((!conditions.is_empty()).then_some(Filter::And(conditions)))
    }

    /// The memories relevant to a query, best first, as a model request would get them; without a query the newest.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while neither vectors nor words can be searched.
    pub async fn search(
        &self,
        caller: &Caller,
        SearchRequest { whose, search: request }: SearchRequest,
    ) -> Result<HitsView, ApiError> {
        let owner = caller.owner(&whose)?;
        not_empty("project_id", request.project_id.as_ref())?;
        not_empty("query", request.query.as_ref())?;
        if request.query.as_ref().is_some_and(|query| query.len() > MAX_QUERY) {
            return Err(ApiError::invalid(
                "query",
                format_args!("must have at most {MAX_QUERY} bytes"),
            ));
        }
        if let (Some(since), Some(until)) = (request.since, request.until)
            && since >= until
        {
            return Err(ApiError::invalid("since", "must be before until"));
        }
        let projects = request.project_id.clone().map_or(Within::All, Within::Shared);
        let filter = narrowed(&request);
        let selection = self.selection(request.limit, request.threshold, request.types.clone())?;
        let Some(query) = request.query else {
            if request.threshold.is_some() {
                return Err(ApiError::invalid("threshold", "requires a query"));
            }
            let types = selection.types;
            let scope = ScopeQuery { projects, types, ..ScopeQuery::of(owner) };
            let limit = selection.limit;
            let query = ListQuery { scope, filter, limit, cursor: None, now: self.clock.now() };
            let newest = self.store.list(&query).await?.memories;
            return Ok(HitsView { hits: newest.into_iter().map(HitView::without_query).collect() });
        };
        let hits = self.hits(&owner, &query, &selection, &projects, filter).await?;
        let hits = hits.into_iter().map(|hit| HitView::of(hit, request.explain)).collect();
        Ok(HitsView { hits })
    }

    /// Which hits are presented; what is absent is as configured.
    pub(super) fn selection(
        &self,
        limit: Option<usize>,
        threshold: Option<f32>,
        types: Option<Vec<String>>,
    ) -> Result<Selection, ApiError> {
        self.known_types("types", types.iter().flatten())?;
        share("threshold", threshold)?;
        let config = self.config.get();
        let limit = limit.unwrap_or(config.memory.default_retrieval_limit);
        if !(1..=MAX_HITS).contains(&limit) {
            let cause = format_args!("must be between 1 and {MAX_HITS}");
            return Err(ApiError::invalid("limit", cause));
        }
        Ok(Selection {
            limit,
            threshold: threshold.unwrap_or(config.memory.default_similarity_threshold),
            types: types.unwrap_or_default(),
        })
    }

    /// The hits for a query, as a model request would get them.
    pub(super) async fn hits(
        &self,
        owner: &Owner,
        query: &str,
        selection: &Selection,
        projects: &Within,
        filter: Option<Filter>,
    ) -> Result<Vec<Hit>, ApiError> {
        let config = self.config.get();
        let (now, zone) = (self.clock.now(), config.memory.timezone.get().clone());
        let (text, today, of) =
            (query.to_owned(), now.to_zoned(zone.clone()).date(), config.clone());
        let read = move || Query::of(&text, today, &of.memory.query);
        let query = self.texts.run(query.len(), read).await?;
        let wanted = RecallRequest {
            owner,
            projects,
            agents: &Within::All,
            session: None,
            reader: None,
            earlier: &[],
            selection,
            settings: config.memory.recall_settings(),
            filter,
            forgotten: &[],
            now,
            zone,
            deadline: Instant::now() + SEARCH_TIME,
            trace: None,
        };
        Ok(self.recall.search(&query, &wanted).await?)
    }
}

/// The request's filter, combined with its time window.
fn narrowed(request: &SearchTerms) -> Option<Filter> {
    if request.since.is_none() && request.until.is_none() {
        return request.filter.clone();
    }
    let window = Filter::happened(request.since, request.until);
    Some(Filter::And(request.filter.clone().into_iter().chain([window]).collect()))
}
