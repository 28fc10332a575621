//! Actions of operators in the decision log.

use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, DecisionRecord, OperatorAction, Page, PageRequest, ReadError,
    TraceReader,
};

use super::history::{HistoryQuery, Jobs, Range, Traced};
use super::history_file::{Row, written};
use crate::api::Problem;
use crate::registries::Registry;

/// The last actions on a job, the last one first; none where nothing has them.
pub(crate) async fn last_actions(registry: &Registry, job: &JobName, most: u32) -> Result<Vec<ActionRecord>, Problem> {
    let Some(reader) = registry.action_reader() else { return Ok(Vec::new()) };
    let mut filter = DecisionFilter::of_job(job.clone());
    filter.kinds = vec![DecisionKind::Operator];
    let found = reader.decisions(&filter, &PageRequest::default().limit(most)).await?;
    Ok(found.records.into_iter().map(ActionRecord).collect())
}

/// An action of an operator.
#[derive(Debug, Clone)]
pub(crate) struct ActionRecord(pub(crate) DecisionRecord);

impl ActionRecord {
    /// What the record says of the action.
    pub(crate) fn action(&self) -> OperatorAction<'_> {
        OperatorAction::of(&self.0)
    }
}

impl Traced for ActionRecord {
    type Filter = DecisionFilter;

    const PARAMETERS: &'static [&'static str] = &["item", "who", "what"];

    fn filter(query: &HistoryQuery, of: Jobs, range: Range) -> Result<DecisionFilter, Problem> {
        let mut filter = DecisionFilter::default();
        (filter.job, filter.jobs) = of.parts();
        (filter.from, filter.until) = (Some(range.from), range.until);
        filter.kinds = vec![DecisionKind::Operator];
        filter.item = super::history::parsed::<ShardingItem>("item", &query.item)?;
        Ok(filter)
    }

    async fn read(
        reader: &AnyTraceReader,
        filter: &DecisionFilter,
        page: &PageRequest,
    ) -> Result<Page<Self>, ReadError> {
        Ok(reader.decisions(filter, page).await?.map(Self))
    }

    fn reader(registry: &Registry) -> Option<&AnyTraceReader> {
        registry.action_reader()
    }

    fn job(&self) -> &str {
        &self.0.job_name
    }

    /// The database does not look into the details of a decision.
    fn is_wanted(&self, query: &HistoryQuery) -> bool {
        self.action().is_of(&query.who, &query.what)
    }
}

impl Row for ActionRecord {
    const NAME: &'static str = "audit";
    const HEAD: &'static [&'static str] = &[
        "time", "who", "action", "job", "outcome", "parts", "before", "after", "reason", "error", "surface", "address",
        "request",
    ];

    fn cells(self) -> Vec<String> {
        let action = self.action();
        let (before, after) = action.states().unwrap_or_default();
        vec![
            written(self.0.at),
            action.actor().to_owned(),
            action.name().to_owned(),
            self.0.job_name.clone(),
            action.outcome().to_owned(),
            action.parts().join("; "),
            before.to_owned(),
            after.to_owned(),
            self.0.reason.clone(),
            action.error().unwrap_or_default().to_owned(),
            action.surface().unwrap_or_default().to_owned(),
            action.address().unwrap_or_default().to_owned(),
            action.request().unwrap_or_default().to_owned(),
        ]
    }
}
