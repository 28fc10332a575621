//! Actions of operators in the decision log.

use elasticjob::ident::ShardingItem;
use elasticjob::trace::{
    AnyTraceReader, DecisionFilter, DecisionKind, DecisionRecord, Page, PageRequest, ReadError, TraceReader,
};
use serde_json::Value;

use super::history::{HistoryQuery, Jobs, Range, Traced};
use super::history_file::{Row, written};
use crate::api::Problem;
use crate::registries::Registry;

/// An action of an operator.
#[derive(Debug, Clone)]
pub(crate) struct ActionRecord(pub(crate) DecisionRecord);

impl ActionRecord {
    fn word(&self, name: &str) -> &str {
        self.0.detail.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.detail.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// Who did it, or tried to.
    pub(crate) fn actor(&self) -> &str {
        self.word("actor")
    }

    /// The name of the action, such as `disable-item`.
    pub(crate) fn action(&self) -> &str {
        self.word("action")
    }

    /// `done`, `unchanged`, `refused`, `failed`, or `unknown` where the answer was lost.
    pub(crate) fn outcome(&self) -> &str {
        self.word("outcome")
    }

    /// Why it was not done.
    pub(crate) fn error(&self) -> Option<&str> {
        Some(self.word("error")).filter(|error| !error.is_empty())
    }

    /// The parts that were changed, such as `server 192.0.2.7`, and the differences of a configuration.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.words("parts").chain(self.words("changes")).collect()
    }

    /// The status of the parts before and after.
    pub(crate) fn states(&self) -> Option<(&str, &str)> {
        self.0.detail.contains_key("after").then(|| (self.word("before"), self.word("after")))
    }
}

impl Traced for ActionRecord {
    type Filter = DecisionFilter;

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
        let has = |text: &str, wanted: &str| text.to_lowercase().contains(&wanted.trim().to_lowercase());
        has(self.actor(), &query.who) && has(self.action(), &query.what)
    }
}

impl Row for ActionRecord {
    const NAME: &'static str = "audit";
    const HEAD: &'static [&'static str] =
        &["time", "who", "action", "job", "outcome", "parts", "before", "after", "reason", "error"];

    fn cells(self) -> Vec<String> {
        let (before, after) = self.states().unwrap_or_default();
        vec![
            written(self.0.at),
            self.actor().to_owned(),
            self.action().to_owned(),
            self.0.job_name.clone(),
            self.outcome().to_owned(),
            self.parts().join("; "),
            before.to_owned(),
            after.to_owned(),
            self.0.reason.clone(),
            self.error().unwrap_or_default().to_owned(),
        ]
    }
}
