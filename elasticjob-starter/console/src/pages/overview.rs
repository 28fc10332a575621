//! The page of jobs that need a look: overdue ones, ones without an instance, failing ones.

use std::sync::Arc;

use askama::Template;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::fire::{Begun, FireState};
use elasticjob::operations::JobOverview;
use elasticjob::operations::alarms::Concern;
use i18n_embed_fl::fl;

use super::history::job_link;
use super::outcome::{Said, Tone};
use super::time::Clock;
use super::{Layout, disabled, error, findings, page};
use crate::access::Role;
use crate::here::Here;
use crate::registries::Registry;
use crate::service::changes::{Change, Changes, Reach, Source};
use crate::service::disabled::{Disablings, disablings_of, of_list};
use crate::service::overview::{MOST, Overview};
use crate::text::{Text, t};

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    layout: Layout,
    said: Option<Said>,
    overview: Overview,
    groups: Vec<Group>,
    now: Vec<Row>,
    /// How many jobs that run are not shown.
    more_now: usize,
    next: Vec<Row>,
    changes: Changes,
    connections: Vec<Arc<Registry>>,
    /// The times of what is of no single job.
    clock: Clock,
}

/// The jobs of one concern.
struct Group {
    concern: Concern,
    rows: Vec<Row>,
    /// How many jobs are not shown.
    more: usize,
}

/// A job with its reasons.
struct Row {
    job: Arc<JobOverview>,
    clock: Clock,
    reasons: Vec<findings::Line>,
    /// Who disabled it, or a part of it.
    disabled: Option<String>,
    may_operate: bool,
    may_edit: bool,
}

impl Row {
    fn of(here: &Here, disablings: &Disablings, job: &Arc<JobOverview>) -> Self {
        let clock = Clock::in_zone(job.time_zone);
        Self {
            reasons: findings::lines(here, &job.job, &job.obstacles, &clock),
            disabled: disabled::of_job(&here.text, disablings, job),
            may_operate: here.may(Role::Operator, &job.job),
            may_edit: here.may(Role::Editor, &job.job),
            clock,
            job: job.clone(),
        }
    }

    /// Since when it needs a look, as far as that is known; of one that fails, when it failed last.
    fn since(&self, concern: &Concern) -> Option<i64> {
        if *concern == Concern::Failing {
            return self.job.last.as_ref().filter(|last| last.state == FireState::Failed)?.ended;
        }
        concern.since(&self.job)
    }

    /// How late the latest fire began.
    fn lateness(&self, text: &Text) -> Option<String> {
        self.job.last.as_ref().and_then(|last| super::late(text, last))
    }

    /// The run of the latest fire, where it goes on and the schedule asked for it.
    fn scheduled_run(&self) -> Option<&Begun> {
        self.job.last.as_ref().filter(|last| last.state == FireState::Running && !last.manual)
    }

    fn is_given_up(&self) -> bool {
        self.job.overdue.is_some_and(|overdue| overdue.given_up)
    }

    /// The first item that failed, with its cause.
    fn failure(&self) -> Option<(&u32, &String)> {
        self.job.failed.iter().next()
    }
}

/// The class of a concern in the style sheet.
fn class_of_concern(concern: &Concern) -> &'static str {
    match concern {
        Concern::Overdue | Concern::DaemonEnds | Concern::Crashed | Concern::Refused | Concern::Failing => "bad",
        Concern::Unassigned | Concern::CarriedWaits | Concern::Late => "warn",
        Concern::Disabled => "off",
        // One of a later release of the library needs a look, too.
        _ => "warn",
    }
}

/// A concern in a few words.
pub(crate) fn name_of_concern(text: &Text, concern: &Concern) -> String {
    let texts = text.loader();
    match concern {
        Concern::Overdue => fl!(texts, "concern-overdue"),
        Concern::DaemonEnds => fl!(texts, "concern-daemon-ends"),
        Concern::Crashed => fl!(texts, "concern-crashed"),
        Concern::Refused => fl!(texts, "concern-configuration-refused"),
        Concern::Unassigned => fl!(texts, "concern-unassigned"),
        Concern::CarriedWaits => fl!(texts, "concern-carried-waits"),
        Concern::Failing => fl!(texts, "concern-failing"),
        Concern::Disabled => fl!(texts, "concern-disabled"),
        Concern::Late => fl!(texts, "concern-late"),
        // One of a later release of the library has no words here yet.
        concern => concern.code().to_owned(),
    }
}

/// What a concern means.
pub(super) fn about_concern(text: &Text, concern: &Concern) -> String {
    let texts = text.loader();
    match concern {
        Concern::Overdue => fl!(texts, "concern-overdue-about"),
        Concern::DaemonEnds => fl!(texts, "concern-daemon-ends-about"),
        Concern::Crashed => fl!(texts, "concern-crashed-about"),
        Concern::Refused => fl!(texts, "concern-configuration-refused-about"),
        Concern::Unassigned => fl!(texts, "concern-unassigned-about"),
        Concern::CarriedWaits => fl!(texts, "concern-carried-waits-about"),
        Concern::Failing => fl!(texts, "concern-failing-about"),
        Concern::Disabled => fl!(texts, "concern-disabled-about"),
        Concern::Late => fl!(texts, "concern-late-about"),
        _ => String::new(),
    }
}

impl OverviewPage {
    fn name(&self, concern: &Concern) -> String {
        name_of_concern(&self.layout.text, concern)
    }

    fn about(&self, concern: &Concern) -> String {
        about_concern(&self.layout.text, concern)
    }

    /// Why it is not known who made a change.
    fn without_action(&self, change: &Change) -> Option<String> {
        match change.source {
            Source::Action(_) => None,
            Source::NotRecorded => Some(t!(self, "overview-change-not-recorded")),
            Source::Unread => Some(t!(self, "overview-change-unread")),
            Source::Older => Some(t!(self, "overview-change-older")),
        }
    }

    /// The page with all about a change: the versions of a configuration, or the actions of operators on the job.
    fn link(&self, change: &Change) -> Option<String> {
        let job = job_link(&self.layout, &change.job)?;
        let is_configuration = change.action().is_none_or(|record| record.action().name() == "update-configuration");
        match is_configuration {
            true => Some(format!("{job}/configuration/history")),
            false => {
                let query = form_urlencoded::Serializer::new(String::new()).append_pair("job", &change.job).finish();
                Some(format!("{}?{query}", self.layout.here("/history/audit")))
            }
        }
    }
}

pub(crate) async fn show(here: Here, headers: HeaderMap) -> Response {
    let layout = Layout::of(&here).live(&here);
    let overview = match here.registry.catalogue().jobs().await {
        Ok(listed) => Overview::of(&here, listed),
        Err(wrong) => return error::problem(&here, &wrong.into()),
    };
    let shown = overview.concerns.values().flat_map(|jobs| jobs.iter().take(MOST));
    let disablings = disablings_of(&here, of_list(shown.map(|job| &**job))).await;
    let rows = |jobs: &[Arc<JobOverview>]| {
        jobs.iter().take(MOST).map(|job| Row::of(&here, &disablings, job)).collect::<Vec<_>>()
    };
    let groups = overview.concerns.iter().map(|(concern, jobs)| Group {
        concern: *concern,
        rows: rows(jobs),
        more: jobs.len().saturating_sub(MOST),
    });
    let (groups, now, next): (_, Vec<Row>, _) = (groups.collect(), rows(&overview.now), rows(&overview.next));
    let more_now = overview.running.saturating_sub(now.len());
    let changes = Changes::of(&here, &overview.configured).await;
    let connections = here.app.registries.values().filter(|registry| here.identity.sees_registry(registry.name()));
    let (connections, clock) = (connections.cloned().collect(), Clock::in_zone(None));
    let said = Said::of(&here.app, &headers);
    let shown =
        page(&OverviewPage { layout, said, overview, groups, now, more_now, next, changes, connections, clock });
    Said::forget(&here.app, shown)
}

#[cfg(test)]
mod tests;
