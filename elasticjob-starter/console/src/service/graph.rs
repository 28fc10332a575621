//! The jobs that run after others, as they stand for a fire.

use chrono::DateTime;
use elasticjob::ident::JobName;
use elasticjob::operations::{GraphFire, GraphRuns, GraphState, RunOfJob};
use futures_util::{StreamExt, TryStreamExt};
use serde::Deserialize;
use utoipa::IntoParams;

use super::fires::{FireOutcome, recorded};
use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// How many jobs are looked up in the traces at the same time.
const AT_ONCE: usize = 4;

/// How many jobs of a run are looked up in the traces at all.
const MOST_ASKED: usize = 100;

/// Which fire is shown.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GraphQuery {
    /// The scheduled time of the fire, as RFC 3339 has it; the latest one of each group of jobs unless it is said.
    pub(crate) at: String,
}

impl GraphQuery {
    fn time(&self) -> Result<Option<i64>, Problem> {
        match self.at.trim() {
            "" => Ok(None),
            text => DateTime::parse_from_rfc3339(text)
                .map(|at| Some(at.timestamp_millis()))
                .map_err(|_| Problem::bad_request(texts::field_instant("at"))),
        }
    }
}

/// The first `most` groups of jobs that the caller may see, each for one fire; of one job its group alone.
///
/// What the registry center does not know any more comes from the traces, where there are any.
pub(crate) async fn runs(
    here: &Here,
    of: Option<&JobName>,
    query: &GraphQuery,
    most: usize,
) -> Result<GraphRuns, Problem> {
    let at = query.time()?;
    let mut runs = here.registry.catalogue().graph_runs(of, at, most, |job| here.sees(job)).await?;
    let fires = runs.runs.iter_mut().flat_map(|run| &mut run.jobs).filter_map(past);
    let looked = fires.take(MOST_ASKED).map(|(job, fire)| look_up(here, job, fire));
    // Collected first: a lazy stream of borrowing futures is not known to be `Send`.
    let looked: Vec<_> = looked.collect();
    futures_util::stream::iter(looked).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(runs)
}

/// The fire of a job of which the registry center says nothing more than that it was.
fn past(one: &mut RunOfJob) -> Option<(&JobName, &mut GraphFire)> {
    let fire = one.fire.as_mut().filter(|fire| fire.state == GraphState::Past)?;
    Some((&one.job.job, fire))
}

async fn look_up(here: &Here, job: &JobName, fire: &mut GraphFire) -> Result<(), Problem> {
    let Some(reader) = here.registry.trace_reader() else { return Ok(()) };
    let Some(found) = recorded(reader, job, fire.at).await? else { return Ok(()) };
    fire.state = match found.outcome() {
        FireOutcome::Succeeded | FireOutcome::Recovered | FireOutcome::Partial => GraphState::Succeeded,
        FireOutcome::Failed => GraphState::Failed,
        FireOutcome::Running | FireOutcome::NoEnd => GraphState::Past,
    };
    (fire.began, fire.ended) = (found.began(), found.ended());
    let tally = found.tally();
    fire.items_ended = tally.done + tally.failed;
    Ok(())
}
