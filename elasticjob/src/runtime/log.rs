//! Writes one line of the log for each notice of an engine.

mod brief;

use tracing::Level;
use tracing::level_filters::LevelFilter;

use self::brief::{Items, in_brief};
use crate::engine::Notice;
use crate::escaped::Escaped;
use crate::fire::{Fire, FireState, RunKey, SkipReason};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::log::{apart, debug, error, info, is_off, warn};
use crate::schedule::{TimeZone, format_rfc3339};

/// How many nodes, failures and moves of items a line names.
const MOST_NODES: usize = 10;
const MOST_FAILURES: usize = 100;
const MOST_MOVES: usize = 100;

/// Logs a notice of an engine, without waiting for the log. Fires are shown in the zone of the job.
pub(super) fn log(job: &JobName, instance: &InstanceId, zone: TimeZone, notice: &Notice) {
    // A process may have thousands of jobs: lines that no log takes should not even wake the thread that writes.
    if LevelFilter::current() >= level_of(notice) && !is_off() {
        let (job, instance, notice) = (job.clone(), instance.clone(), notice.clone());
        apart(move || write(&job, &instance, zone, &notice));
    }
}

/// The level that the line does not exceed, where each fire, start and end makes one; `ERROR` for all others, which are looked at
/// closer when they are written.
fn level_of(notice: &Notice) -> Level {
    let is_well = match notice {
        Notice::Registered { .. }
        | Notice::RegistryBack { .. }
        | Notice::Elected
        | Notice::ReshardRequested { .. }
        | Notice::Resharded { .. }
        | Notice::Begun { .. }
        | Notice::NothingToRun { .. }
        | Notice::Left => true,
        Notice::Finished { items, .. } => items.iter().all(|(_, state)| *state == FireState::Succeeded),
        _ => false,
    };
    if is_well { Level::INFO } else { Level::ERROR }
}

fn write(job: &JobName, instance: &InstanceId, zone: TimeZone, notice: &Notice) {
    let time = |at: i64| format_rfc3339(at, zone);
    let name = |fire: &Fire| match fire {
        Fire::Scheduled(at) => time(*at),
        Fire::Manual { at, rerun: None, .. } => format!("manual trigger of {}", time(*at)),
        Fire::Manual { rerun: Some(rerun), .. } => format!("re-run of {}", time(rerun.of)),
    };
    match notice {
        Notice::Registered { instance, session } => info!(%job, %instance, %session, "registered"),
        Notice::IdTaken { taken, instance } => {
            warn!(%job, %taken, %instance, "the instance id is taken, by another process with the same id or by a session that has not ended yet: using another id");
        }
        Notice::ConfigurationDiffers { differences, overwritten: true } => {
            info!(%job, "overwriting the configuration in the registry: {}", Escaped(differences.join("; ")));
        }
        Notice::ConfigurationDiffers { differences, overwritten: false } => info!(
            %job,
            "the configuration in the registry is used, not that of this program (set `overwrite: true` to change it): {}",
            Escaped(differences.join("; "))
        ),
        Notice::ForeignToJava { values } => {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            warn!(%job, "Java instances of this job cannot use the configuration that was written: {}", values.join("; "));
        }
        Notice::ConfigurationChanged { changes } if changes.is_empty() => {
            info!(%job, "the configuration in the registry was written again, without a change that concerns this program");
        }
        Notice::ConfigurationChanged { changes } => {
            info!(%job, "the configuration in the registry changed and is in force: {}", Escaped(changes.join("; ")));
        }
        Notice::ConfigurationRefused { why } => {
            error!(%job, "the configuration in the registry cannot be used, the last good one stays in force: {}", Escaped(why));
        }
        Notice::WaitsForConfiguration { why } => error!(
            %job,
            "not started: the configuration in the registry cannot be used: {}; the job starts by itself when that is \
             corrected or removed there; `overwrite: true` replaces it at the next start of the program",
            Escaped(why)
        ),
        Notice::ValuesRefused { values } => {
            warn!(%job, "the configuration in the registry is used, but not its commands and addresses that differ from those of this program: {}", Escaped(values));
        }
        Notice::StartFailed { why } => error!(%job, "not started: {}", Escaped(why)),
        Notice::Elected => info!(%job, %instance, "elected leader"),
        Notice::Abdicated => info!(%job, %instance, "no longer the leader: the server is disabled"),
        Notice::ReshardRequested { why } => info!(%job, "resharding is necessary: {why}"),
        Notice::Reconciling => debug!(%job, %instance, "reconciling: the leader reads all nodes of the job again"),
        Notice::Resharded { moved, pinned } => {
            let moved = if moved.is_empty() { "nothing moved".to_owned() } else { in_brief(moved, MOST_MOVES) };
            if pinned.is_empty() {
                info!(%job, "resharded: {moved}");
            } else {
                info!(%job, "resharded: {moved}; items {:?} stay where they run until they end", Items(pinned));
            }
        }
        Notice::StrategyFailed { strategy, fault } => {
            error!(%job, "the sharding strategy {strategy} failed: {}; the items are assigned by AVG_ALLOCATION instead", Escaped(fault));
        }
        Notice::BegunLate { fire, items, seconds, why } => {
            warn!(%job, fire = %name(fire), items = ?Items(items), "the fire begins {seconds} s late: {why}");
        }
        Notice::NotBegun { items, from, before } => error!(
            %job,
            items = ?Items(items),
            "no instance began these items for the fires from {} on, and no instance will begin them: this instance goes on with the fire of {}",
            time(*from),
            time(*before)
        ),
        Notice::Begun { key: RunKey { fire, source }, items, .. } => {
            info!(%job, fire = %name(fire), %source, items = ?Items(items), "began")
        }
        Notice::Skipped { fire, items, reason } => {
            let since = match reason {
                SkipReason::StillRunning { since } => format!(", it began with {}", name(since)),
                _ => String::new(),
            };
            let what = if items.is_empty() { String::new() } else { format!("items {:?}: ", Items(items)) };
            if matches!(reason, SkipReason::ClockOff { .. }) {
                // A line of its own was logged when the clock was found to be off.
                debug!(%job, fire = %name(fire), "not run here: {what}{reason}");
            } else if is_expected(reason) {
                info!(%job, fire = %name(fire), "not run here: {what}{reason}");
            } else {
                warn!(%job, fire = %name(fire), "not run here: {what}{reason}{since}");
            }
        }
        Notice::Missed { from, until } => warn!(
            %job,
            "fires from {} on were missed, the process was stopped or the clock stepped; going on with {}",
            time(*from),
            time(*until)
        ),
        Notice::Collapsed { earlier, into } => {
            info!(%job, "missed fires collapsed: the fire of {} is replaced by the one of {}", time(*earlier), time(*into));
        }
        Notice::TakenOver { fire, item, from } => {
            let from = from.as_ref().map_or("an instance that has ended", InstanceId::as_str);
            warn!(%job, fire = %name(fire), item, from, "took the item over: its run was lost");
        }
        Notice::NothingToRun { fire } => debug!(%job, fire = %name(fire), "no item to run here"),
        Notice::HandedOver { fire, items } => {
            warn!(%job, fire = %name(fire), items = ?Items(items), "items that were cut off wait for another instance to take them over");
        }
        Notice::ClockOff { difference, limit } => warn!(
            %job,
            "{}, and `max-time-diff-seconds` allows {limit}: fires are skipped until the clocks agree",
            SkipReason::ClockOff { difference: *difference }
        ),
        Notice::ClockRight => info!(%job, "the clocks of this host and of the registry center agree again"),
        Notice::Finished { key: RunKey { fire, source }, items }
            if items.iter().all(|(_, state)| *state == FireState::NotRun) =>
        {
            debug!(%job, fire = %name(fire), %source, "not run: the clock of this host is off");
        }
        Notice::Finished { key: RunKey { fire, source }, items } => {
            let wrong: Vec<&(ShardingItem, FireState)> =
                items.iter().filter(|(_, state)| *state != FireState::Succeeded).collect();
            let items: Vec<ShardingItem> = items.iter().map(|(item, _)| *item).collect();
            if wrong.is_empty() {
                info!(%job, fire = %name(fire), %source, items = ?Items(&items), "finished");
            } else {
                let wrong: Vec<String> =
                    wrong.into_iter().map(|(item, state)| format!("item {item} {state}")).collect();
                let wrong = in_brief(&wrong, MOST_FAILURES);
                warn!(%job, fire = %name(fire), %source, items = ?Items(&items), "finished with failures: {wrong}");
            }
        }
        Notice::Stale { fire, item } => {
            warn!(%job, fire = %name(fire), item, "the run ended after another run of its item had begun: its outcome is not recorded");
        }
        Notice::StopAsked { items, reason } => {
            info!(%job, items = ?Items(items), "runs are asked to end: {reason}");
        }
        Notice::RunsCancelled { items, reason } => warn!(%job, items = ?Items(items), "runs cancelled: {reason}"),
        Notice::CancelledOnRequest { fire, item, request } => {
            warn!(%job, fire = %name(fire), item, "run cancelled: {}", Escaped(request));
        }
        Notice::LostAfterCancel { fire, item, from, request } => {
            let from = from.as_ref().map_or("?", InstanceId::as_str);
            warn!(%job, fire = %name(fire), item, from, "the run was lost, and is not taken over: {}", Escaped(request));
        }
        Notice::NotStarted { key: RunKey { fire, source }, items, reason } => {
            warn!(%job, fire = %name(fire), %source, items = ?Items(items), "the items were recorded as begun, but did not start: {reason}");
        }
        Notice::CalledOnce { fire, listener, hook } => {
            info!(%job, fire = %name(fire), %listener, %hook, "calling the listener on behalf of the group");
        }
        Notice::ListenerTimedOut { fire, listener, hook, waited_for } => {
            error!(%job, fire = %name(fire), %listener, %hook, "going on without the listener: timed out waiting for {waited_for}");
        }
        Notice::ListenerInterrupted { fire, listener, hook, by } => {
            error!(%job, fire = %name(fire), %listener, %hook, %by, "the call of the listener on behalf of the group was cut off with the instance that made it: the listener is not called again");
        }
        Notice::ListenerTooLate { fire, listener, hook } => {
            warn!(%job, fire = %name(fire), %listener, %hook, "going on without the listener: the fire is too old to tell whether it was called");
        }
        Notice::ListenersCutOff { fire, reason } => {
            warn!(%job, fire = %name(fire), "listeners cut off: {reason}");
        }
        Notice::ListenersAbandoned { fire } => {
            warn!(%job, fire = %name(fire), "the instance left while listeners go on that cannot be cut off: their code blocks a thread");
        }
        Notice::RunsAbandoned { items } => {
            warn!(%job, items = ?Items(items), "the instance left while runs go on that cannot be cut off: their code blocks a thread; other instances begin these items when the code returns, or when this process ends");
        }
        Notice::RegistryLost => {
            warn!(%job, "the connection to the registry center is lost: nothing begins until it is back")
        }
        Notice::RegistryBack { session, new: true, .. } => {
            info!(%job, %session, "connected to the registry center, a new session")
        }
        Notice::RegistryBack { session, new: false, .. } => {
            info!(%job, %session, "the connection to the registry center is back")
        }
        Notice::RegistryTrouble { why } => {
            warn!(%job, "a request to the registry center failed, trying again: {}", Escaped(why))
        }
        Notice::TriggerDropped { instance: of, items } => {
            warn!(
                %job,
                %of,
                items = ?Items(items),
                "a manual trigger waited for an instance that has ended: its items are not run for it, as failover is off or no \
                 other instance was there; trigger the job again"
            )
        }
        Notice::TriggerHandedOver { instance: of, items } => {
            info!(%job, %of, items = ?Items(items), "a manual trigger waited for an instance that has ended: its items are taken over")
        }
        Notice::TriggerMerged { instance: of, items } => {
            warn!(
                %job,
                %of,
                items = ?Items(items),
                "a manual trigger waited for an instance that has ended: an earlier run of its items has not ended, or another \
                 instance takes it over; the items do not run again for this trigger; trigger the job again if you need one more run"
            )
        }
        Notice::TriggerLeavesOut { items } => {
            warn!(
                %job,
                items = ?Items(items),
                "a manual trigger perhaps does not run these items: no instance that it asks has them, as they were not assigned, as \
                 they went to another instance, or as the server of theirs is disabled; look at their last runs, and trigger the job \
                 again"
            )
        }
        Notice::RerunFollowed { rerun, from } => {
            info!(%job, fire = %time(rerun.of), %from, "an operator runs the fire of job '{from}' again, and the jobs before this one have ended: triggered")
        }
        Notice::RerunSkipped { rerun, reason } => {
            info!(%job, fire = %time(rerun.of), "not run again: {reason}")
        }
        Notice::ForeignNodesDeleted { above, nodes } => {
            warn!(
                %job,
                above = %Escaped(above),
                nodes = %Escaped(&in_brief(nodes, MOST_NODES)),
                "deleted nodes that no instance makes: the node above them could not be deleted with them there; keep other data \
                 out of the nodes of a job"
            )
        }
        Notice::ForeignNodesKept { above, why } => {
            warn!(
                %job,
                above = %Escaped(above),
                "a node of the job has to be deleted and cannot, as there are nodes below it that no instance makes: {}; delete \
                 them by hand",
                Escaped(why)
            )
        }
        Notice::SessionlessNodesDeleted { nodes } => {
            warn!(
                %job,
                nodes = %Escaped(&in_brief(nodes, MOST_NODES)),
                "deleted nodes of instances that have no session: a backup or a copy of another namespace brought them here, and \
                 the leader would assign items to them for ever; when you copy a job, leave out `instances`, `sessions` and `leader`"
            )
        }
        Notice::TotalsDiffer { other, of_other, own } => warn!(
            %job, %instance, %other, of_other, own,
            "no fire begins: this job runs after the other one with `items same`, and they have different numbers of items; give \
             both the same sharding-total-count"
        ),
        Notice::RulesCircle => error!(
            %job, %instance,
            "the rules of the job proposed one change after the other without an end: this is a bug of elasticjob; please \
             report it with the lines of the log before this one; the job goes on with its next event"
        ),
        Notice::RemovedByOperator => {
            warn!(%job, %instance, "an operator removed the instance from the registry: leaving")
        }
        Notice::DataLost => warn!(
            %job, %instance,
            "the registry center has lost the data of the job, with all sessions: this instance wrote the configuration again, as \
             it was there last. What operators disabled is enabled, and no record says what ran before: fires from before are \
             not run again"
        ),
        Notice::Left => info!(%job, %instance, "left"),
        Notice::LeftUnanswered => warn!(
            %job, %instance,
            "left without an answer of the registry center: the nodes of the instance and the marks of its runs stay there until \
             its session ends, and its items wait until then"
        ),
    }
}

/// Whether nothing is wrong: an instance has run it or is running it, or an operator does not want it to run.
fn is_expected(reason: &SkipReason) -> bool {
    matches!(
        reason,
        SkipReason::AlreadyBegun { .. }
            | SkipReason::ServerDisabled
            | SkipReason::ItemDisabled
            | SkipReason::DependencyNotMet { .. }
            | SkipReason::ItemDependencyNotMet { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fire::ExecutionSource;
    use crate::registry::SessionId;
    use crate::test_log::Logged;

    /// A line that is taken for a less important one would be lost where such ones are not logged.
    #[test]
    fn no_line_is_more_important_than_it_is_taken_for() {
        let (job, instance) = (JobName::new("settle").unwrap(), InstanceId::of_process("10.0.0.1", 7));
        let (fire, session) = (Fire::Scheduled(0), SessionId(1));
        let key = RunKey::new(fire, ExecutionSource::NormalTrigger);
        let finished = |state| Notice::Finished { key, items: vec![(0, state)] };
        let ordinary = [
            Notice::Registered { instance: instance.clone(), session },
            Notice::RegistryBack { session, new: true, first: true },
            Notice::RegistryBack { session, new: false, first: false },
            Notice::Elected,
            Notice::ReshardRequested { why: "it joined".to_owned() },
            Notice::Resharded { moved: vec!["0: none -> it".to_owned()], pinned: vec![1] },
            Notice::Begun { key, attempt: None, items: vec![0] },
            Notice::NothingToRun { fire },
            Notice::Left,
            finished(FireState::Succeeded),
        ];
        let level = |notice: &Notice| {
            let log = Logged::default();
            tracing::subscriber::with_default(log.clone(), || write(&job, &instance, TimeZone::UTC, notice));
            log.take()[0].split(' ').next().unwrap().parse::<Level>().unwrap()
        };
        for notice in &ordinary {
            assert_eq!(level_of(notice), Level::INFO, "{notice:?}");
            assert!(level(notice) >= Level::INFO, "{notice:?}");
        }
        assert!(level_of(&finished(FireState::Failed)) <= level(&finished(FireState::Failed)));
    }
}
