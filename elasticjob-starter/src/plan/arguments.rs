//! Finds the arguments of job functions that have no value.

use std::any::type_name;
use std::collections::BTreeSet;

use elasticjob::api::MissingBean;
use elasticjob::runtime::{OneOffJob, ScheduleJob};

use super::drafts::Draft;
use super::{JobCode, PlanError, Surroundings, bind};
use crate::settings::Key;

/// Looks for the arguments of all functions among the values of the application and the handles of all jobs, including
/// jobs whose settings are wrong: detached handles take their place.
pub(super) fn missing(drafts: &[Draft<'_>], around: &Surroundings<'_>) -> Vec<PlanError> {
    let mut beans = around.beans.clone();
    let mut unsure = Unsure { any: around.doubt.is_about(&Key::of(["jobs"])), names: BTreeSet::new() };
    for draft in drafts {
        let has_schedule = draft.has_schedule();
        let is_kind_unsure = around.doubt.is_about(&draft.key("cron"));
        unsure.any |= around.doubt.is_about(&draft.key("job-bootstrap-bean-name"));
        if is_kind_unsure {
            let usual = [true, false].map(|has_schedule| draft.usual_bean_name(has_schedule));
            unsure.names.extend(draft.own_bean_name().map(str::to_owned).into_iter().chain(usual));
        }
        let (bean, job) = (draft.bean_name(), draft.name.clone());
        match has_schedule {
            true => beans.provide_named(bean, ScheduleJob::detached(job)),
            false => beans.provide_named(bean, OneOffJob::detached(job)),
        };
    }
    let of_draft = |draft: &Draft<'_>| match &draft.code {
        Some(JobCode::Function(function)) => bind(&draft.title, function, &beans).err().unwrap_or_default(),
        Some(JobCode::Given(_) | JobCode::Type) | None => Vec::new(),
    };
    let is_known = |error: &PlanError| match error {
        PlanError::MissingBean { missing, .. } => !unsure.may_be(missing),
        _ => true,
    };
    drafts.iter().flat_map(of_draft).filter(is_known).collect()
}

/// Handles of jobs whose settings cannot be read.
struct Unsure {
    /// Whether a job may have any name for its handle, or a job is not known at all.
    any: bool,
    names: BTreeSet<String>,
}

impl Unsure {
    fn may_be(&self, missing: &MissingBean) -> bool {
        let is_handle = [type_name::<OneOffJob>(), type_name::<ScheduleJob>()].contains(&missing.wanted.as_str());
        is_handle && missing.bean.is_some_and(|bean| self.any || self.names.contains(bean))
    }
}
