//! The registry centers that the console shows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use elasticjob::config::Message;
use elasticjob::ident::JobName;
use elasticjob::operations::alarms::UsualDurations;
use elasticjob::operations::disabled::KeptActions;
use elasticjob::operations::{Audit, Catalogue, Operations, Origin};
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::watched::WatchedRegistry;
use elasticjob::trace::{AnyTraceReader, Tracing};
use tokio::sync::watch;

use crate::service::changes::KeptChanges;
use crate::service::now;
use crate::service::recent_actions::RecentActions;
use crate::service::strip::KeptFires;
use crate::service::timeline::{KeptCounts, KeptTimelines};
use crate::slow_traces::{Answering, TimeLimited, TraceHealth};
use crate::store::DataFile;

/// A registry center, with the traces of its jobs.
pub struct Registry {
    name: String,
    center: Arc<dyn RegistryCenter>,
    watched: WatchedRegistry,
    catalogue: Catalogue,
    traces: Option<AnyTraceReader>,
    /// Whether their storage answers.
    trace_health: TraceHealth,
    /// What was read of the traces for lists of jobs.
    kept_fires: KeptFires,
    /// What was counted of the traces for timelines.
    kept_counts: KeptCounts,
    /// The timelines of a moment ago.
    kept_timelines: KeptTimelines,
    /// What was read of the actions that disabled something.
    kept_actions: KeptActions,
    /// How long runs of jobs usually take, as it was read for alarms.
    usual_durations: UsualDurations,
    /// What was read of the last actions.
    kept_changes: KeptChanges,
    record: Option<Tracing>,
    /// The tracings of jobs that have others.
    record_of_jobs: Arc<BTreeMap<JobName, Tracing>>,
    /// The actions of operators where no database of traces has them.
    kept: Option<Kept>,
    /// Settings of the registry center, as pages show them.
    shown: Vec<(String, String)>,
    traces_shown: Option<String>,
    /// Why it was not reached so far, where that is told.
    away: Option<watch::Receiver<Option<Message>>>,
    /// Since when the session has its state, in milliseconds since 1970, where that is known.
    since: Arc<Mutex<Option<i64>>>,
}

/// What operators do, in the data file or in memory.
struct Kept {
    reader: AnyTraceReader,
    record: Tracing,
    outlives_the_console: bool,
}

impl Registry {
    /// A registry center under this name. The name is a part of addresses: letters, digits, `-` and `_`.
    pub fn new(name: impl Into<String>, center: Arc<dyn RegistryCenter>) -> Self {
        let watched = WatchedRegistry::new(center.clone());
        let catalogue = Catalogue::new(watched.clone());
        let (shown, since) = (Vec::new(), Arc::default());
        Self {
            name: name.into(),
            center,
            watched,
            catalogue,
            traces: None,
            trace_health: TraceHealth::default(),
            kept_fires: KeptFires::default(),
            kept_counts: KeptCounts::default(),
            kept_timelines: KeptTimelines::default(),
            kept_actions: KeptActions::default(),
            usual_durations: UsualDurations::default(),
            kept_changes: KeptChanges::default(),
            record: None,
            record_of_jobs: Arc::default(),
            kept: None,
            shown,
            traces_shown: None,
            away: None,
            since,
        }
    }

    /// Shows the runs and decisions that this reader finds.
    #[must_use]
    pub fn traces(self, traces: AnyTraceReader) -> Self {
        let limited = TimeLimited(traces, self.trace_health.clone());
        Self { traces: Some(AnyTraceReader::new(limited)), ..self }
    }

    /// Shows these settings of the registry center to administrators, by name. Give no secrets.
    #[must_use]
    pub fn settings<N: Into<String>, V: Into<String>>(self, settings: impl IntoIterator<Item = (N, V)>) -> Self {
        let shown = settings.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { shown: shown.collect(), ..self }
    }

    /// Shows administrators which database has the traces: a text without a password.
    #[must_use]
    pub fn traces_at(self, database: impl Into<String>) -> Self {
        Self { traces_shown: Some(database.into()), ..self }
    }

    /// Shows why the registry center was not reached so far, as it changes; `None` once it came.
    #[must_use]
    pub fn away(self, why: watch::Receiver<Option<Message>>) -> Self {
        Self { away: Some(why), ..self }
    }

    /// Records what operators do in the decision log of this tracing.
    #[must_use]
    pub fn record(self, tracing: Tracing) -> Self {
        Self { record: Some(tracing), ..self }
    }

    /// Records what operators do to these jobs in the decision logs of tracings of their own, where that of
    /// [`record`](Self::record) has the rest.
    #[must_use]
    pub fn record_of_jobs(self, tracings: impl IntoIterator<Item = (JobName, Tracing)>) -> Self {
        Self { record_of_jobs: Arc::new(tracings.into_iter().collect()), ..self }
    }

    /// Notes from now on when the session changes its state. Without a Tokio runtime that is not known.
    pub(crate) fn follow_session(&self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (mut session, since) = (self.center.session(), Arc::downgrade(&self.since));
        runtime.spawn(async move {
            let mut state = std::mem::discriminant(&*session.borrow_and_update());
            note(&since, now());
            while session.changed().await.is_ok() {
                let next = std::mem::discriminant(&*session.borrow_and_update());
                if next != state && !note(&since, now()) {
                    return;
                }
                state = next;
            }
        });
    }

    /// Since when the session has its state; the start of the console at the earliest.
    pub(crate) fn session_since(&self) -> Option<i64> {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it was not reached so far.
    pub(crate) fn problem(&self) -> Option<Message> {
        self.away.as_ref()?.borrow().clone()
    }

    pub(crate) fn shown(&self) -> &[(String, String)] {
        &self.shown
    }

    pub(crate) fn traces_shown(&self) -> Option<&str> {
        self.traces_shown.as_deref()
    }

    /// Records what operators do in the data file, unless a database of traces does.
    pub(crate) fn kept_in(mut self, data: &DataFile) -> Self {
        if self.record.is_none() {
            let storage = data.storage();
            let (reader, record) = (storage.actions(&self.name), storage.record_actions(&self.name));
            self.kept = Some(Kept { reader, record, outlives_the_console: true });
        }
        self
    }

    /// Notes the last things that operators do in memory, unless a database of traces records them. Outside of a Tokio
    /// runtime nothing can.
    pub(crate) fn kept_in_memory(mut self) -> Self {
        if self.record.is_none()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let recent = RecentActions::of(&self.name);
            let (reader, record) = (recent.reader(), recent.record(&runtime));
            self.kept = Some(Kept { reader, record, outlives_the_console: false });
        }
        self
    }

    /// Whether the actions of operators outlive the console.
    pub(crate) fn keeps_actions(&self) -> bool {
        self.traces.is_some() || self.kept.as_ref().is_none_or(|kept| kept.outlives_the_console)
    }

    /// What has the actions of operators. A database of traces has those of the command line as well, and for longer than
    /// the memory of the console.
    pub(crate) fn action_reader(&self) -> Option<&AnyTraceReader> {
        let kept = self.kept.as_ref().filter(|kept| kept.outlives_the_console || self.traces.is_none());
        kept.map(|kept| &kept.reader).or(self.traces.as_ref())
    }

    /// What was read of the actions that disabled something.
    pub(crate) fn kept_actions(&self) -> &KeptActions {
        &self.kept_actions
    }

    /// How long runs of jobs usually take, as it was read for alarms.
    pub(crate) fn usual_durations(&self) -> &UsualDurations {
        &self.usual_durations
    }

    /// What was read of the last actions.
    pub(crate) fn kept_changes(&self) -> &KeptChanges {
        &self.kept_changes
    }

    /// Writes the actions that wait to be kept, within a limit. Returns how many are lost.
    pub(crate) async fn close_kept(&self, limit: Duration) -> u64 {
        match &self.kept {
            Some(kept) => kept.record.close(limit).await,
            None => 0,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name fits into an address without escapes.
    pub(crate) fn has_usable_name(&self) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        !self.name.is_empty() && self.name.chars().all(fits)
    }

    pub(crate) fn center(&self) -> &Arc<dyn RegistryCenter> {
        &self.center
    }

    pub(crate) fn trace_reader(&self) -> Option<&AnyTraceReader> {
        self.traces.as_ref()
    }

    /// Whether the storage of the traces answered the last read; `None` before the first one.
    pub(crate) fn trace_health(&self) -> Option<Answering> {
        self.trace_health.get()
    }

    pub(crate) fn kept_fires(&self) -> &KeptFires {
        &self.kept_fires
    }

    pub(crate) fn kept_timelines(&self) -> &KeptTimelines {
        &self.kept_timelines
    }

    pub(crate) fn kept_counts(&self) -> &KeptCounts {
        &self.kept_counts
    }

    /// The jobs as lists show them.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// For each job the last event that concerns it: what was read after it is current.
    pub(crate) fn last_events(&self, jobs: &[JobName]) -> Vec<u64> {
        self.watched.last_events(jobs.iter().map(JobName::as_str))
    }

    /// Operations for views. What was read is read again only where it changed.
    pub(crate) fn views(&self) -> &Operations {
        self.catalogue.views()
    }

    /// Operations that change something, for this operator, who acts from there.
    pub(crate) fn operations_of(&self, actor: &str, origin: Origin, reason: &str) -> Operations {
        let operations = Operations::new(self.center.clone()).caused_by(origin.trace_parent());
        match self.record.as_ref().or(self.kept.as_ref().map(|kept| &kept.record)) {
            Some(tracing) => {
                let audit = Audit::new(tracing.clone(), actor).of_jobs(self.record_of_jobs.clone());
                operations.audited(audit.origin(origin).reason(reason))
            }
            None => operations,
        }
    }
}

/// Notes a time; false where no caller can ask for it any more.
fn note(since: &Weak<Mutex<Option<i64>>>, at: i64) -> bool {
    let since = since.upgrade();
    if let Some(since) = &since {
        *since.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }
    since.is_some()
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("name", &self.name).field("center", &self.center).finish_non_exhaustive()
    }
}
