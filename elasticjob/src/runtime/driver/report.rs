//! Reports the failures of a job to its error handler.

use std::sync::Arc;

use super::Driver;
use crate::api::{Failed, JobFailure, RunInfo};
use crate::config::JobConfiguration;
use crate::fire::{CancelReason, Fire, RunKey, SkipReason};
use crate::ident::ShardingItem;

impl Driver {
    pub(super) fn report_not_started(&self, key: RunKey, items: &[ShardingItem], reason: CancelReason) {
        let Some(configuration) = self.engine.configuration() else { return };
        let run = self.run_info(key, configuration.clone(), self.engine.instance().clone(), items.to_vec());
        for item in items {
            self.report_item(*item, run.clone(), format!("it was cut off before it started: {reason}"));
        }
    }

    /// Reports a scheduled fire that is given up. Of several such fires in a row it reports the first only, until a
    /// fire begins again: while a registry center is away for long, one fire after the other is given up.
    pub(super) fn report_given_up(&mut self, fire: Fire, items: &[ShardingItem], reason: &SkipReason) {
        if !matches!(fire, Fire::Scheduled(_)) || !reason.gives_up() || self.reported_given_up {
            return;
        }
        self.reported_given_up = true;
        let Some(configuration) = self.engine.configuration() else { return };
        let error = format!("that of {} is not begun: {reason}", self.scheduled_at(fire, configuration).to_rfc3339());
        self.report(self.failure(Failed::Fires(items.to_vec()), error));
    }

    /// Reports items that no instance began before a later fire came.
    pub(super) fn report_not_begun(&self, items: &[ShardingItem], from: i64, before: i64) {
        let Some(span) = self.span(from, before) else { return };
        let error = format!("no instance began them {span}");
        self.report(self.failure(Failed::Fires(items.to_vec()), error));
    }

    /// Reports fires that came while this process did not run. The last of them is decided on its own.
    pub(super) fn report_missed(&self, from: i64, until: i64) {
        let Some(span) = self.span(from, until) else { return };
        let error = format!("those {span}, are not begun here: the process was stopped, or the clock stepped");
        self.report(self.failure(Failed::Fires(Vec::new()), error));
    }

    /// The fires from one time on, and before another one, as a text. `None` before the job has a configuration.
    fn span(&self, from: i64, before: i64) -> Option<String> {
        let configuration = self.engine.configuration()?;
        let time = |at: i64| self.local_time(at, configuration).to_rfc3339();
        Some(format!("from {} on, before that of {}", time(from), time(before)))
    }

    pub(super) fn report_item(&self, item: ShardingItem, run: Arc<RunInfo>, error: String) {
        self.report(self.failure(Failed::Item(item), error).map(|failure| failure.of_run(run)));
    }

    pub(super) fn report(&self, failure: Option<JobFailure>) {
        if let Some(failure) = failure {
            self.environment.failures().report(failure);
        }
    }

    /// A failure that is noticed now. `None` before the job has a configuration.
    pub(super) fn failure(&self, what: Failed, error: String) -> Option<JobFailure> {
        Some(self.failure_with(self.engine.configuration()?, what, error))
    }

    /// A failure of a job that has only the configuration of the program yet.
    pub(super) fn failure_of_program(&self, what: Failed, error: String) -> JobFailure {
        self.failure_with(self.engine.local_configuration(), what, error)
    }

    fn failure_with(&self, configuration: &Arc<JobConfiguration>, what: Failed, error: String) -> JobFailure {
        let at = self.local_time(self.environment.now().wall, configuration);
        JobFailure::new(configuration.clone(), self.engine.instance().clone(), what, error, at)
    }
}
