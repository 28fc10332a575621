//! The configurations of the jobs of two registry centers, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use elasticjob::config::{JobSettings, Message};
use elasticjob::ident::JobName;
use elasticjob::operations::StoredConfiguration;
use futures_util::{StreamExt, TryStreamExt};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{AT_ONCE, Read, read};
use crate::api::Problem;
use crate::here::Here;
use crate::registries::Registry;
use crate::service::configuration::object;
use crate::service::history::parsed;
use crate::service::versions::flat;
use crate::texts as messages;

/// How many jobs are compared at a time.
const JOBS: usize = 200;

/// What is compared.
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
    /// How many jobs of this part are the same.
    pub(crate) same: usize,
    /// How many jobs both registry centers have together, of those that are asked for.
    pub(crate) total: usize,
    /// The job after which the next part begins.
    pub(crate) next: Option<String>,
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
    /// The configuration of one of both cannot be used, for this reason.
    Unusable(Message),
}

/// A setting with its texts, secrets masked; a property as `props.KEY`. Where both texts are the same, the secrets differ.
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
    let (own, other) = tokio::try_join!(names(here, &here.registry, query), names(here, there, query))?;
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
    Ok(Comparison { with: there.name().to_owned(), jobs, same, total: all.len(), next })
}

/// The jobs of a registry center that the caller may see and asks for.
async fn names(here: &Here, registry: &Registry, query: &CompareQuery) -> Result<BTreeSet<JobName>, Problem> {
    let wanted = query.q.to_lowercase();
    let listed = registry.catalogue().jobs().await?;
    let names = listed.jobs.iter().map(|job| &job.job).filter(|job| job.as_str().to_lowercase().contains(&wanted));
    Ok(names.filter(|job| here.identity.sees_job(registry.name(), job.as_str())).cloned().collect())
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
        (true, true) => match tokio::try_join!(read(here.views(), job), read(there.views(), job))? {
            (Read::Unusable(why), _) | (_, Read::Unusable(why)) => Some(Beside::Unusable(why)),
            (Read::Stored(own), Read::Stored(other)) => {
                let differences = differences(&own, &other)?;
                (!differences.is_empty()).then_some(Beside::Differs(differences))
            }
            (Read::Stored(_), Read::Gone) => Some(Beside::OnlyHere),
            (Read::Gone, Read::Stored(_)) => Some(Beside::OnlyThere),
            (Read::Gone, Read::Gone) => None,
        },
    };
    Ok(beside.map(|beside| Compared { job: job.clone(), beside }))
}

/// The settings in which they differ. Secrets are compared as they are, and shown masked.
fn differences(here: &StoredConfiguration, there: &StoredConfiguration) -> Result<Vec<Difference>, Problem> {
    let [own, other] = [here, there].map(|stored| stored.configuration.settings());
    let [own_shown, other_shown] = [texts(&own.masked())?, texts(&other.masked())?];
    let [own, other] = [texts(&own)?, texts(&other)?];
    let names: BTreeSet<&String> = own.keys().chain(other.keys()).collect();
    let differing = names.into_iter().filter(|name| own.get(*name) != other.get(*name));
    let shown = |name: &String| Difference {
        setting: name.clone(),
        here: own_shown.get(name).cloned(),
        there: other_shown.get(name).cloned(),
    };
    Ok(differing.map(shown).collect())
}

/// The texts of settings by their names.
fn texts(settings: &JobSettings) -> Result<BTreeMap<String, String>, Problem> {
    Ok(flat(&object(settings)?).into_iter().collect())
}
