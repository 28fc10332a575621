//! Reports what the engine tells: to the log, the tracing and the observer, and failures to the error handler of the job.
//! Answers the program that triggers or starts the job.

use std::sync::Arc;

use super::Driver;
use crate::api::{Failed, JobFailure, RunInfo};
use crate::config::JobConfiguration;
use crate::engine::{Notice, TriggerAnswer, TriggerId};
use crate::fire::{CancelReason, Fire, RunKey, SkipReason};
use crate::ident::ShardingItem;
use crate::runtime::handle::{TriggerError, Triggered};
use crate::runtime::log::log;

impl Driver {
    pub(super) fn tell(&mut self, notice: &Notice) {
        let zone = self.engine.schedule().map_or(self.environment.local_zone(), |schedule| schedule.time_zone());
        log(&self.job, self.engine.instance(), zone, notice);
        if let Some(recorder) = &mut self.recorder {
            recorder.note(self.engine.instance(), self.engine.makes_up(), notice);
        }
        if let Some(observed) = &mut self.observed {
            observed.note(notice, self.engine.schedule(), self.environment.now().wall);
        }
        match notice {
            Notice::WaitsForConfiguration { why } => {
                self.report(Some(self.failure_of_program(Failed::Configuration, why.clone())));
            }
            Notice::ConfigurationRefused { why } => self.report(self.failure(Failed::Configuration, why.clone())),
            Notice::ClockOff { difference, .. } => {
                let error = SkipReason::ClockOff { difference: *difference }.to_string();
                self.report(self.failure(Failed::Clock, error));
            }
            Notice::Skipped { fire, items, reason } => self.report_given_up(*fire, items, reason),
            Notice::TriggerDropped { instance, items } => {
                let error = format!(
                    "a manual trigger asked {instance}, and that instance has ended before it ran its items; trigger the job again"
                );
                self.report(self.failure(Failed::Fires(items.clone()), error));
            }
            Notice::TriggerMerged { instance, items } => {
                let error = format!(
                    "a manual trigger asked {instance} to run these items, and that instance has ended during an earlier run of \
                     them: they do not run once more; trigger the job again if you need that"
                );
                self.report(self.failure(Failed::Fires(items.clone()), error));
            }
            Notice::TriggerLeavesOut { items } => {
                let error = "no instance that a manual trigger asks has these items, so perhaps they do not run for it; look at \
                             their last runs, and trigger the job again";
                self.report(self.failure(Failed::Fires(items.clone()), error.to_owned()));
            }
            Notice::NotBegun { items, from, before } => self.report_not_begun(items, *from, *before),
            Notice::Missed { from, until } => self.report_missed(*from, *until),
            Notice::Begun { .. } => self.reported_given_up = false,
            Notice::NotStarted { key, items, reason } => self.report_not_started(*key, items, *reason),
            _ => {}
        }
    }

    pub(super) fn answer_trigger(&mut self, id: TriggerId, answer: TriggerAnswer) {
        let Some(reply) = self.triggers.remove(&id) else { return };
        let job = self.job.clone();
        let answer = match answer {
            TriggerAnswer::Queued => Ok(Triggered::Queued),
            TriggerAnswer::AlreadyPending => Ok(Triggered::AlreadyPending),
            TriggerAnswer::NoEnabledInstance => Err(TriggerError::NoEnabledInstance { job }),
            TriggerAnswer::NotRunning => Err(TriggerError::NotRunning { job }),
            TriggerAnswer::Registry(why) => Err(TriggerError::Registry { job, why }),
        };
        // The caller may have gone away.
        let _ = reply.send(answer);
    }

    pub(super) fn answer_start(&mut self, outcome: Result<(), String>) {
        if let Some(started) = self.started.take() {
            // The program may look at the status at once, for example for the id that the instance got.
            self.publish_status();
            // The program may have stopped waiting for the start.
            let _ = started.send(outcome);
        }
    }

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
        let is_lost = reason.gives_up() || (*reason == SkipReason::BeginUnknown && !self.engine.makes_up());
        if !matches!(fire, Fire::Scheduled(_)) || !is_lost || self.reported_given_up {
            return;
        }
        self.reported_given_up = true;
        let Some(configuration) = self.engine.configuration() else { return };
        let error =
            format!("the fire of {} was not begun: {reason}", self.scheduled_at(fire, configuration).to_rfc3339());
        self.report(self.failure(Failed::Fires(items.to_vec()), error));
    }

    /// Reports items that no instance began before a later fire came.
    pub(super) fn report_not_begun(&self, items: &[ShardingItem], from: i64, before: i64) {
        let Some(span) = self.span(from, before) else { return };
        let error = format!("no instance began the fires {span}");
        self.report(self.failure(Failed::Fires(items.to_vec()), error));
    }

    /// Reports fires that came while this process did not run. The last of them is decided on its own.
    pub(super) fn report_missed(&self, from: i64, until: i64) {
        let Some(span) = self.span(from, until) else { return };
        let error =
            format!("this instance does not begin the fires {span}: its process was stopped, or the clock stepped");
        self.report(self.failure(Failed::Fires(Vec::new()), error));
    }

    /// The fires from one time on, and before another one, as a text. `None` before the job has a configuration.
    fn span(&self, from: i64, before: i64) -> Option<String> {
        let configuration = self.engine.configuration()?;
        let time = |at: i64| self.local_time(at, configuration).to_rfc3339();
        Some(format!("from {} on that come before the fire of {}", time(from), time(before)))
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
