//! Makes decisions for the decision log of the notices of an engine.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use crate::engine::Notice;
use crate::fire::{Fire, SkipReason};
use crate::ident::{InstanceId, ShardingItem};
use crate::trace::DecisionKind;

/// How many moves of items a decision has.
const MOST_MOVES: usize = 500;

/// What a notice says, before it is known when, where and for which job.
#[derive(Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) kind: DecisionKind,
    pub(super) scheduled_at: Option<DateTime<Utc>>,
    pub(super) scheduled_until: Option<DateTime<Utc>>,
    pub(super) items: Vec<ShardingItem>,
    pub(super) related: Option<InstanceId>,
    pub(super) reason: String,
    pub(super) detail: Map<String, Value>,
}

impl Decision {
    fn new(kind: DecisionKind) -> Self {
        let (items, reason, detail) = (Vec::new(), String::new(), Map::new());
        Self { kind, scheduled_at: None, scheduled_until: None, items, related: None, reason, detail }
    }

    /// A trigger has no scheduled time, unless it runs a past fire again; the detail says when it was asked for.
    fn fire(mut self, fire: Fire) -> Self {
        match fire {
            Fire::Scheduled(at) => self.scheduled_at = time(at),
            Fire::Manual { at, rerun, .. } => {
                self.scheduled_at = rerun.and_then(|rerun| time(rerun.of));
                self.detail.insert("triggeredAt".to_owned(), at.into());
            }
        }
        self
    }

    fn fires(mut self, from: i64, until: i64) -> Self {
        (self.scheduled_at, self.scheduled_until) = (time(from), time(until));
        self
    }

    fn items(mut self, items: &[ShardingItem]) -> Self {
        self.items = items.to_vec();
        self
    }

    fn related(mut self, instance: Option<&InstanceId>) -> Self {
        self.related = instance.cloned();
        self
    }

    fn because(mut self, reason: impl ToString) -> Self {
        self.reason = reason.to_string();
        self
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.detail.insert(name.to_owned(), value);
        self
    }
}

fn time(at: i64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(at)
}

/// The decision that a notice is about; `None` for what belongs to a normal run.
pub(super) fn decision(notice: &Notice) -> Option<Decision> {
    use DecisionKind as Kind;
    let new = Decision::new;
    Some(match notice {
        // Each instance says this of what another one runs.
        Notice::Skipped { reason: SkipReason::AlreadyBegun { .. }, .. } => return None,
        Notice::Skipped { fire, items, reason } => skipped(new(Kind::Skipped).fire(*fire).items(items), reason),
        Notice::RerunSkipped { rerun, reason } => {
            let mut decision = skipped(new(Kind::Skipped), reason).with("rerun", json!(true));
            decision.scheduled_at = time(rerun.of);
            decision
        }
        Notice::Missed { from, until } => new(Kind::Missed).fires(*from, *until),
        Notice::Collapsed { earlier, into } => new(Kind::Collapsed).fires(*earlier, *into),
        Notice::NotBegun { items, from, before } => new(Kind::NotBegun).fires(*from, *before).items(items),
        Notice::BegunLate { fire, items, seconds, why } => {
            new(Kind::BegunLate).fire(*fire).items(items).because(why).with("lateSeconds", json!(seconds))
        }
        Notice::NotStarted { key, items, reason } => new(Kind::NotStarted).fire(key.fire).items(items).because(reason),
        Notice::TakenOver { fire, item, from } => {
            new(Kind::TakenOver).fire(*fire).items(&[*item]).related(from.as_ref())
        }
        Notice::HandedOver { fire, items } => new(Kind::HandedOver).fire(*fire).items(items),
        Notice::RunsCancelled { items, reason } => new(Kind::RunsCancelled).items(items).because(reason),
        Notice::CancelledOnRequest { fire, item, request } => {
            new(Kind::RunsCancelled).fire(*fire).items(&[*item]).because(request)
        }
        Notice::LostAfterCancel { fire, item, from, request } => {
            new(Kind::RunsCancelled).fire(*fire).items(&[*item]).related(from.as_ref()).because(request)
        }
        Notice::RunsAbandoned { items } => new(Kind::RunsAbandoned).items(items),
        Notice::Stale { fire, item } => new(Kind::Stale).fire(*fire).items(&[*item]),
        Notice::TriggerDropped { instance, items } => new(Kind::TriggerDropped).items(items).related(Some(instance)),
        Notice::TriggerHandedOver { instance, items } => {
            new(Kind::TriggerHandedOver).items(items).related(Some(instance))
        }
        Notice::TriggerMerged { instance, items } => new(Kind::TriggerMerged).items(items).related(Some(instance)),
        Notice::TriggerLeavesOut { items } => new(Kind::TriggerLeavesOut).items(items),
        Notice::ConfigurationChanged { changes } if changes.is_empty() => new(Kind::ConfigurationChanged),
        Notice::ConfigurationChanged { changes } => new(Kind::ConfigurationChanged).because(changes.join("; ")),
        Notice::ConfigurationRefused { why } | Notice::WaitsForConfiguration { why } => {
            new(Kind::ConfigurationRefused).because(why)
        }
        Notice::ConfigurationDiffers { differences, overwritten } => {
            new(Kind::ConfigurationDiffers).because(differences.join("; ")).with("overwritten", json!(overwritten))
        }
        Notice::Registered { session, .. } => new(Kind::Registered).with("session", json!(session.to_string())),
        Notice::Left => new(Kind::Left),
        Notice::LeftUnanswered => new(Kind::Left).because("the registry center did not answer"),
        Notice::DataLost => new(Kind::ConfigurationChanged)
            .because("the registry center had lost the data of the job: this instance wrote the configuration again"),
        Notice::RemovedByOperator => new(Kind::Left).because("an operator removed the instance"),
        Notice::Elected => new(Kind::Elected),
        Notice::Abdicated => new(Kind::Abdicated),
        Notice::Resharded { moved, pinned } => {
            let told: Vec<&String> = moved.iter().take(MOST_MOVES).collect();
            let decision = new(Kind::Resharded).with("moved", json!(told)).with("pinned", json!(pinned));
            match moved.len().checked_sub(MOST_MOVES) {
                Some(more @ 1..) => decision.with("moreMoved", json!(more)),
                _ => decision,
            }
        }
        Notice::StrategyFailed { strategy, fault } => {
            new(Kind::StrategyFailed).because(fault).with("strategy", json!(strategy))
        }
        Notice::ClockOff { difference, limit } => new(Kind::ClockOff)
            .because(SkipReason::ClockOff { difference: *difference })
            .with("differenceMilliseconds", json!(difference))
            .with("limitSeconds", json!(limit)),
        Notice::ClockRight => new(Kind::ClockRight),
        Notice::RegistryLost => new(Kind::RegistryLost),
        Notice::RegistryBack { session, new: is_new, first: false } => {
            new(Kind::RegistryBack).with("session", json!(session.to_string())).with("newSession", json!(is_new))
        }
        Notice::RegistryBack { first: true, .. }
        | Notice::Begun { .. }
        | Notice::Finished { .. }
        | Notice::NothingToRun { .. }
        | Notice::IdTaken { .. }
        | Notice::ForeignToJava { .. }
        | Notice::ValuesRefused { .. }
        | Notice::StartFailed { .. }
        | Notice::ReshardRequested { .. }
        | Notice::Reconciling
        | Notice::StopAsked { .. }
        | Notice::CalledOnce { .. }
        | Notice::ListenerTimedOut { .. }
        | Notice::ListenerInterrupted { .. }
        | Notice::ListenerTooLate { .. }
        | Notice::ListenersCutOff { .. }
        | Notice::ListenersAbandoned { .. }
        | Notice::RegistryTrouble { .. }
        | Notice::RerunFollowed { .. }
        | Notice::ForeignNodesDeleted { .. }
        | Notice::ForeignNodesKept { .. }
        | Notice::SessionlessNodesDeleted { .. }
        | Notice::TotalsDiffer { .. }
        | Notice::RulesCircle => return None,
    })
}

fn skipped(decision: Decision, reason: &SkipReason) -> Decision {
    let decision = decision.because(reason);
    match reason {
        SkipReason::RunsElsewhere { by } | SkipReason::AlreadyBegun { by } => decision.related(by.as_ref()),
        SkipReason::DecidedAhead { by, seconds } => decision.related(by.as_ref()).with("seconds", json!(seconds)),
        SkipReason::OwnerGone { owner } => decision.related(Some(owner)),
        SkipReason::ClockOff { difference } => decision.with("differenceMilliseconds", json!(difference)),
        SkipReason::TooLate { seconds, limit } => {
            decision.with("lateSeconds", json!(seconds)).with("limitSeconds", json!(limit))
        }
        SkipReason::RegisteredSince { milliseconds } => decision.with("milliseconds", json!(milliseconds)),
        SkipReason::StillRunning { since } => decision.with("runningSinceFireAt", json!(since.at())),
        SkipReason::DependencyNotMet { job, end, when } | SkipReason::ItemDependencyNotMet { job, end, when } => {
            decision.with("job", json!(job)).with("end", json!(end)).with("when", json!(when))
        }
        SkipReason::BeginUnknown
        | SkipReason::AwaitingFailover
        | SkipReason::Refused
        | SkipReason::NotBegunInTime
        | SkipReason::ServerDisabled
        | SkipReason::ItemDisabled
        | SkipReason::Leaving
        | SkipReason::RegistryLost
        | SkipReason::MaybeRunByJava => decision,
    }
    .with("code", json!(reason.code()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::SessionId;

    const FIRE: Fire = Fire::Scheduled(60_000);

    #[test]
    fn a_skip_has_its_fire_its_items_its_reason_and_the_values_of_the_reason() {
        let by = Some(InstanceId::of_process("10.0.0.2", 7));
        let reason = SkipReason::RunsElsewhere { by: by.clone() };
        let told = decision(&Notice::Skipped { fire: FIRE, items: vec![3], reason: reason.clone() }).unwrap();
        assert_eq!((told.kind, told.scheduled_at, &told.related), (DecisionKind::Skipped, time(60_000), &by));
        assert_eq!((told.items, told.reason), (vec![3], reason.to_string()));
        assert_eq!(Value::from(told.detail), json!({"code": "runs-elsewhere"}));

        let reason = SkipReason::TooLate { seconds: 31, limit: 20 };
        let told = decision(&Notice::Skipped { fire: FIRE, items: Vec::new(), reason }).unwrap();
        assert_eq!(Value::from(told.detail), json!({"code": "too-late", "lateSeconds": 31, "limitSeconds": 20}));
    }

    #[test]
    fn what_belongs_to_a_normal_run_is_no_decision() {
        let by = SkipReason::AlreadyBegun { by: None };
        for notice in [
            Notice::Skipped { fire: FIRE, items: Vec::new(), reason: by },
            Notice::NothingToRun { fire: FIRE },
            Notice::Reconciling,
            Notice::RegistryBack { session: SessionId(7), new: true, first: true },
        ] {
            assert_eq!(decision(&notice), None);
        }
        let back = Notice::RegistryBack { session: SessionId(7), new: true, first: false };
        assert_eq!(decision(&back).map(|told| told.kind), Some(DecisionKind::RegistryBack));
    }

    #[test]
    fn a_stretch_of_fires_ends_at_the_one_that_is_run_instead() {
        let told = decision(&Notice::Missed { from: 60_000, until: 180_000 }).unwrap();
        assert_eq!((told.scheduled_at, told.scheduled_until), (time(60_000), time(180_000)));
        let trigger = Fire::manual(7, 5, None);
        let told = decision(&Notice::Stale { fire: trigger, item: 1 }).unwrap();
        assert_eq!((told.scheduled_at, Value::from(told.detail)), (None, json!({"triggeredAt": 5})));
    }

    #[test]
    fn a_changed_configuration_names_its_changes() {
        let changed = |changes: &[&str]| {
            let changes = changes.iter().map(ToString::to_string).collect();
            decision(&Notice::ConfigurationChanged { changes }).unwrap()
        };
        let reason = changed(&["cron: '0 0 3 * * ?' -> '0 0 4 * * ?'", "props.a: added"]).reason;
        assert_eq!(reason, "cron: '0 0 3 * * ?' -> '0 0 4 * * ?'; props.a: added");
        assert_eq!(changed(&[]).reason, "");
    }

    #[test]
    fn very_many_moves_are_cut() {
        let moved: Vec<String> = (0..600).map(|item| format!("{item}: a -> b")).collect();
        let told = decision(&Notice::Resharded { moved, pinned: vec![1] }).unwrap().detail;
        assert_eq!((told["moved"].as_array().unwrap().len(), &told["moreMoved"]), (500, &json!(100)));
        assert_eq!(told["pinned"], json!([1]));
    }
}
