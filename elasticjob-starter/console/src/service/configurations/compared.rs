//! The configurations of the jobs of two registry centers, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use elasticjob::config::{JobSettings, Message};
use elasticjob::ident::JobName;
use elasticjob::operations::StoredConfiguration;
use elasticjob::secret::Secret;
use futures_util::{StreamExt, TryStreamExt};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{AT_ONCE, Code, EXTRA, Read, read};
use crate::api::Problem;
use crate::here::Here;
use crate::registries::Registry;
use crate::service::configuration::object;
use crate::service::history::parsed;
use crate::service::versions::flat;
use crate::texts as messages;

/// The most jobs that are compared at a time.
const JOBS: usize = 200;

/// The jobs that are compared.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompareQuery {
    /// The other registry center; the first one that the caller may see unless it is said.
    pub(crate) with: String,
    /// A part of the name of the jobs; empty for all.
    pub(crate) q: String,
    /// The job after which the part begins, as the part before has it in `next`; empty for the begin.
    pub(crate) cursor: String,
}

impl CompareQuery {
    /// The parameters of the part that follows.
    pub(crate) fn after(&self, with: &str, cursor: &str) -> String {
        let fields = [("with", with), ("q", self.q.as_str()), ("cursor", cursor)];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
    }
}

/// A part of a comparison.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The other registry center.
    pub(crate) with: String,
    /// The jobs that are not the same, in the order of their names.
    pub(crate) jobs: Vec<Compared>,
    /// The number of jobs of this part that are the same.
    pub(crate) same: usize,
    /// The number of jobs that both registry centers have together, of those that are asked for.
    pub(crate) total: usize,
    /// The job after which the next part begins.
    pub(crate) next: Option<String>,
    /// Since when this registry center is lost: what it has is from then.
    pub(crate) lost_since: Option<i64>,
    /// Since when the other one is lost.
    pub(crate) with_lost_since: Option<i64>,
}

/// A job that is not the same in both.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) job: JobName,
    pub(crate) beside: Beside,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    OnlyHere,
    OnlyThere,
    Differs(Vec<Difference>),
    /// The configuration here, there or in both cannot be used, for this reason.
    Unusable {
        here: Option<Message>,
        there: Option<Message>,
    },
}

/// A setting with its texts, secrets masked; a property as `props.KEY`. Where both texts are the same, what is masked differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) setting: String,
    pub(crate) here: Option<String>,
    pub(crate) there: Option<String>,
}

/// The other registry centers that the caller may see.
pub(crate) fn others(here: &Here) -> impl Iterator<Item = &Arc<Registry>> {
    let is_other = |one: &&Arc<Registry>| one.name() != here.registry.name() && here.identity.sees_registry(one.name());
    here.app.registries.values().filter(is_other)
}

/// Compares the jobs that the caller may see in each of both.
pub(crate) async fn compared(here: &Here, query: &CompareQuery) -> Result<Comparison, Problem> {
    let there = others(here).find(|one| query.with.is_empty() || one.name() == query.with);
    let there = there.ok_or_else(|| match query.with.as_str() {
        "" => Problem::bad_request(messages::no_other_registry()),
        with if with == here.registry.name() => Problem::bad_request(messages::same_registry(with)),
        with => Problem::no_such_registry(with),
    })?;
    let ((own, lost_since), (other, with_lost_since)) =
        tokio::try_join!(names(here, &here.registry, query), names(here, there, query))?;
    let all: BTreeSet<&JobName> = own.union(&other).collect();
    let after = parsed::<JobName>("cursor", &query.cursor)?;
    let rest: Vec<&JobName> =
        all.iter().copied().filter(|job| after.as_ref().is_none_or(|after| *job > after)).collect();
    let part = &rest[..rest.len().min(JOBS)];
    let next = part.last().filter(|_| rest.len() > JOBS).map(ToString::to_string);
    let asked: Vec<_> =
        part.iter().map(|job| beside(here, there, job, (own.contains(*job), other.contains(*job)))).collect();
    let compared: Vec<Option<Compared>> = futures_util::stream::iter(asked).buffered(AT_ONCE).try_collect().await?;
    let same = compared.iter().filter(|one| one.is_none()).count();
    let jobs = compared.into_iter().flatten().collect();
    let (with, total) = (there.name().to_owned(), all.len());
    Ok(Comparison { with, jobs, same, total, next, lost_since, with_lost_since })
}

/// The jobs of a registry center that the caller may see and asks for, and since when it is lost.
async fn names(
    here: &Here,
    registry: &Registry,
    query: &CompareQuery,
) -> Result<(BTreeSet<JobName>, Option<i64>), Problem> {
    let wanted = query.q.to_lowercase();
    let listed = registry.catalogue().jobs().await;
    let listed = listed.map_err(|error| Problem::from(error).of_registry(registry))?;
    let names = listed.jobs.iter().map(|job| &job.job).filter(|job| job.as_str().to_lowercase().contains(&wanted));
    let names = names.filter(|job| here.identity.sees_job(registry.name(), job.as_str()));
    Ok((names.cloned().collect(), listed.lost_since))
}

/// A job beside its namesake; `None` where both are the same.
async fn beside(
    here: &Here,
    there: &Registry,
    job: &JobName,
    is_in: (bool, bool),
) -> Result<Option<Compared>, Problem> {
    let beside = match is_in {
        (true, false) => Some(Beside::OnlyHere),
        (false, _) => Some(Beside::OnlyThere),
        (true, true) => match tokio::try_join!(read(&here.registry, job), read(there, job))? {
            (Read::Stored(own), Read::Stored(other)) => {
                let differences = differences(&own, &other)?;
                (!differences.is_empty()).then_some(Beside::Differs(differences))
            }
            (Read::Stored(_), Read::Gone) => Some(Beside::OnlyHere),
            (Read::Gone, Read::Stored(_)) => Some(Beside::OnlyThere),
            (Read::Gone, Read::Gone) => None,
            (own, other) => Some(Beside::Unusable { here: own.why_unusable(), there: other.why_unusable() }),
        },
    };
    Ok(beside.map(|beside| Compared { job: job.clone(), beside }))
}

/// The settings in which they differ. Secrets are compared as they are, and shown masked, as is what Java alone reads.
fn differences(here: &StoredConfiguration, there: &StoredConfiguration) -> Result<Vec<Difference>, Problem> {
    let [own_shown, other_shown] = [texts(here, &here.masked_settings())?, texts(there, &there.masked_settings())?];
    let [own, other] = [texts(here, &here.configuration.settings())?, texts(there, &there.configuration.settings())?];
    let names: BTreeSet<&String> = own.keys().chain(other.keys()).collect();
    let differing = names.into_iter().filter(|name| own.get(*name) != other.get(*name));
    let shown = |name: &String| Difference {
        setting: name.clone(),
        here: own_shown.get(name).cloned(),
        there: other_shown.get(name).cloned(),
    };
    let extra = |of: &StoredConfiguration| of.has_extra().then(|| Secret::MASK.to_owned());
    let extra = (!here.has_extra_of(there)).then(|| Difference {
        setting: EXTRA.to_owned(),
        here: extra(here),
        there: extra(there),
    });
    Ok(differing.map(shown).chain(extra).collect())
}

/// The texts of the settings of a job by their names, and the class or the type of its code.
fn texts(stored: &StoredConfiguration, settings: &JobSettings) -> Result<BTreeMap<String, String>, Problem> {
    let code = Code::of(stored).map(|Code { setting, name }| (setting.to_string(), name.to_owned()));
    Ok(flat(&object(settings)?).into_iter().chain(code).collect())
}
