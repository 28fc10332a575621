//! The record that each item keeps in the registry about its fires: the guard against a second begin.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cause;
use super::{Attempt, CancelRequest, ExecutionSource, Fire, FireState, ItemEnd, Rerun, TraceParent};
use crate::ident::InstanceId;
use crate::registry::Zxid;

/// Fields that a later release wrote and this one does not know: they survive a rewrite.
pub(crate) type Later = BTreeMap<String, Value>;

/// Data of `sharding/{i}/fire`, as JSON. No instance deletes and creates the node again while the item exists, so its
/// version is a guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "ReadRecord")]
pub struct FireRecord {
    /// Every scheduled fire up to this time (milliseconds since 1970) was begun or decided against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<i64>,
    /// The last manual trigger that the item was begun for: the transaction that created the trigger's node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggered: Option<Zxid>,
    /// The latest scheduled fire that fell into a run and is to be made up for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<i64>,
    /// The latest scheduled fire that was begun long before its time, by an instance whose clock was ahead. It is not
    /// begun again; the fires before it are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<i64>,
    /// The end of the last run that succeeded, in milliseconds since 1970. `None` where `last` says it, where no run
    /// succeeded, and where an earlier release wrote the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) succeeded: Option<i64>,
    /// The run that was begun last. Also `None` where a later release wrote about it what this one does not know; the
    /// decided fires stay decided then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Begun>,
    /// The fields that this release does not know, and `last` where it does not understand that.
    #[serde(flatten)]
    pub(crate) later: Later,
}

/// A record as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadRecord {
    through: Option<i64>,
    triggered: Option<Zxid>,
    missed: Option<i64>,
    ahead: Option<i64>,
    succeeded: Option<i64>,
    #[serde(flatten)]
    rest: Later,
}

const LAST: &str = "last";

impl From<ReadRecord> for FireRecord {
    fn from(read: ReadRecord) -> Self {
        let ReadRecord { through, triggered, missed, ahead, succeeded, rest: mut later } = read;
        let last: Option<Begun> = later.get(LAST).and_then(|last| Begun::deserialize(last).ok());
        if last.is_some() {
            later.remove(LAST);
        }
        Self { through, triggered, missed, ahead, succeeded, last, later }
    }
}

/// A begun run of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Begun {
    /// Time of the scheduled fire in milliseconds since 1970, or of the trigger.
    pub at: i64,
    /// Whether it was a manual trigger.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
    /// The past fire that it runs again. Boxed, as most runs are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<Box<Rerun>>,
    /// The trace context of the caller that triggered it. Boxed, as most runs have none.
    #[serde(
        default,
        rename = "traceparent",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "cause::read_boxed"
    )]
    pub(crate) trace_parent: Option<Box<TraceParent>>,
    /// Why it is run.
    #[serde(default, skip_serializing_if = "is_normal")]
    pub source: ExecutionSource,
    /// The instance that began it.
    pub instance: InstanceId,
    /// The attempt that began it.
    pub attempt: Attempt,
    /// When it was begun, by the clock of the instance, in milliseconds since 1970; earlier releases do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<i64>,
    /// Where it stands.
    pub state: FireState,
    /// When its end was written, by the clock of the instance, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<i64>,
    /// The time that it ran, in milliseconds, once it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<u64>,
    /// Why it failed, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The request of an operator that the run ends. Boxed, as most runs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Box<CancelRequest>>,
    #[serde(flatten)]
    later: Later,
}

impl Begun {
    /// The past fire that it runs again.
    pub fn rerun(&self) -> Option<Rerun> {
        self.rerun.as_deref().copied()
    }
}

fn is_normal(source: &ExecutionSource) -> bool {
    *source == ExecutionSource::NormalTrigger
}

/// Errors are shortened to this many characters in the registry; the log has them in full.
const ERROR_LIMIT: usize = 500;

/// Far more bytes than a record has, with its error and what later releases may add. Records are read again and again.
const LONGEST: usize = 16 * 1024;

impl FireRecord {
    /// The record of an item that was never begun.
    pub(crate) fn empty() -> Self {
        Self {
            through: None,
            triggered: None,
            missed: None,
            ahead: None,
            succeeded: None,
            last: None,
            later: Later::new(),
        }
    }

    /// The attempt of a run whose end is not written.
    pub(crate) fn unfinished(&self) -> Option<&Attempt> {
        self.last.as_ref().filter(|begun| begun.state.is_unfinished()).map(|begun| &begun.attempt)
    }

    /// Reads a record. Blank data stand for an item that was never begun. So do data that cannot be read or are longer
    /// than any record: their writer does not take part in this protocol.
    pub fn parse(data: &[u8]) -> Self {
        match data.len() {
            ..=LONGEST => serde_json::from_slice(data).unwrap_or_else(|_| Self::empty()),
            _ => Self::empty(),
        }
    }

    /// The data of the node.
    #[doc(hidden)]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record of texts and numbers has a JSON form")
    }

    /// The record after a begin at `now`, in milliseconds since 1970.
    pub(crate) fn begin(
        &self,
        now: i64,
        fire: Fire,
        source: ExecutionSource,
        instance: InstanceId,
        attempt: Attempt,
    ) -> Self {
        let (through, triggered) = match fire {
            Fire::Scheduled(at) => (self.through.max(Some(at)), self.triggered),
            Fire::Manual { trigger, .. } => (self.through, self.triggered.max(Some(trigger))),
        };
        let manual = matches!(fire, Fire::Manual { .. });
        let last = Begun {
            at: fire.at(),
            manual,
            rerun: fire.rerun().map(Box::new),
            trace_parent: fire.trace_parent().map(Box::new),
            source,
            instance,
            attempt,
            began: Some(now),
            state: FireState::Running,
            ended: None,
            took: None,
            error: None,
            cancel: None,
            later: Later::new(),
        };
        let missed = self.missed.filter(|missed| Some(*missed) > through);
        let ahead = self.ahead.filter(|ahead| Some(*ahead) > through);
        let mut later = self.later.clone();
        later.remove(LAST);
        Self { through, triggered, missed, ahead, succeeded: self.last_success(), last: Some(last), later }
    }

    /// The record after an operator asked for the end of the run that goes on. `None` where none goes on, or where that
    /// was asked for before.
    pub(crate) fn cancel(&self, request: CancelRequest) -> Option<Self> {
        let begun = self.running().filter(|begun| begun.cancel.is_none())?;
        let last = Begun { cancel: Some(Box::new(request)), ..begun.clone() };
        Some(Self { last: Some(last), ..self.clone() })
    }

    /// The request of an operator that the run of this attempt ends.
    pub(crate) fn cancel_request(&self, attempt: &Attempt) -> Option<&CancelRequest> {
        self.last.as_ref().filter(|begun| begun.attempt == *attempt)?.cancel.as_deref()
    }

    /// The end of the run that was begun last, as the record will have it: what an operator cancelled has failed, and no
    /// instance runs it again.
    pub(crate) fn as_ended(&self, end: &ItemEnd) -> ItemEnd {
        let request = self.last.as_ref().and_then(|begun| begun.cancel.as_deref());
        request.map_or_else(|| end.clone(), |request| request.end(end.clone()))
    }

    /// The record after the end of the run that was begun last, written at `now` in milliseconds since 1970.
    pub(crate) fn end(&self, now: i64, end: &ItemEnd) -> Self {
        let ItemEnd { state, took, error } = self.as_ended(end);
        let error = error.map(|text| text.chars().take(ERROR_LIMIT).collect());
        let last = self.last.clone();
        let last = last.map(|begun| Begun { state, ended: Some(now), took: Some(took), error, ..begun });
        let succeeded = self.succeeded.filter(|_| state != FireState::Succeeded);
        Self { last, succeeded, ..self.clone() }
    }

    /// The end of the last run that succeeded, in milliseconds since 1970. An earlier release keeps what it does not know
    /// when it writes, so the later one counts.
    pub(crate) fn last_success(&self) -> Option<i64> {
        let last = self.last.as_ref().filter(|last| last.state == FireState::Succeeded);
        last.and_then(|last| last.ended).max(self.succeeded)
    }

    /// The record after the end of a run into which the scheduled fire at `skipped` fell, which is not made up for.
    pub(crate) fn end_and_skip(&self, now: i64, end: &ItemEnd, skipped: Option<i64>, is_marked: bool) -> Self {
        let ended = self.end(now, end);
        match skipped {
            Some(at) => ended.skip_in_run(at, is_marked),
            None => ended,
        }
    }

    /// The record after a scheduled fire fell into a run.
    pub(crate) fn miss(&self, at: i64) -> Self {
        Self { missed: self.missed.max(Some(at)), ..self.clone() }
    }

    /// The record after a scheduled fire was decided against.
    pub(crate) fn skip(&self, at: i64) -> Self {
        Self { through: self.through.max(Some(at)), ..self.clone() }
    }

    /// The record after a scheduled fire fell into a run that the item is, or was, a part of, and is not made up for. A fire
    /// that is noted as missed stays so while the item is marked as such: the instance that noted it owned the item at that
    /// time, and the one that skips it went by an earlier configuration.
    pub(crate) fn skip_in_run(&self, at: i64, is_marked: bool) -> Self {
        if is_marked && self.to_make_up() >= Some(at) { self.clone() } else { self.skip(at) }
    }

    /// The missed fire that is still to be made up for.
    pub(crate) fn to_make_up(&self) -> Option<i64> {
        self.missed.filter(|missed| !self.covers(Fire::Scheduled(*missed)))
    }

    /// The run that goes on, as far as the record says.
    pub fn running(&self) -> Option<&Begun> {
        self.last.as_ref().filter(|begun| begun.state == FireState::Running)
    }

    /// The fire that was begun last.
    pub fn last_fire(&self) -> Option<Fire> {
        let last = self.last.as_ref()?;
        Some(match self.triggered.filter(|_| last.manual) {
            Some(trigger) => {
                let cause = last.trace_parent.as_deref().copied().into();
                Fire::Manual { trigger, at: last.at, rerun: last.rerun(), cause }
            }
            None => Fire::Scheduled(last.at),
        })
    }

    /// Whether the item was begun for this fire, or for a later one, or one of these was decided against.
    pub fn covers(&self, fire: Fire) -> bool {
        match fire {
            Fire::Scheduled(at) => self.through >= Some(at) || self.ahead == Some(at),
            Fire::Manual { trigger, .. } => self.triggered >= Some(trigger),
        }
    }

    /// Whether the run that was begun last came to its end.
    pub(crate) fn is_over(&self) -> bool {
        self.last.as_ref().is_some_and(|begun| !begun.state.is_unfinished())
    }

    /// Whether a mark `running` with this text is of the run that was begun last.
    pub(crate) fn is_marked_by(&self, text: Option<&str>) -> bool {
        self.running().is_some_and(|begun| text == Some(begun.instance.as_str()))
    }

    /// Whether this attempt began the last run.
    pub(crate) fn is_attempt(&self, attempt: &Attempt) -> bool {
        self.last.as_ref().is_some_and(|begun| begun.attempt == *attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::SessionId;

    #[test]
    fn what_was_decided_is_read_also_where_the_last_run_is_not_understood() {
        let later = r#"{"through":5,"triggered":7,"missed":9,"last":{"at":5,"state":"SUSPENDED"},"more":1}"#;
        let read = FireRecord::parse(later.as_bytes());
        assert_eq!((read.through, read.triggered, read.missed, &read.last), (Some(5), Some(7), Some(9), &None));
    }

    #[test]
    fn what_a_later_release_wrote_survives_a_rewrite() {
        let kept = |record: &FireRecord| String::from_utf8(record.to_bytes()).unwrap();
        let later = r#"{"through":5,"last":{"at":5,"state":"SUSPENDED"},"more":{"deep":[1]}}"#;
        let skipped = FireRecord::parse(later.as_bytes()).skip(6);
        assert_eq!(kept(&skipped), later.replace(":5,\"last", ":6,\"last"));
        let id = InstanceId::of_process("10.0.0.1", 7);
        let begun = skipped.begin(
            7,
            Fire::Scheduled(7),
            ExecutionSource::NormalTrigger,
            id,
            Attempt::new(SessionId(0x2a), 7, 3),
        );
        let text = kept(&begun);
        assert!(
            text.contains(r#""more":{"deep":[1]}"#) && text.contains("RUNNING") && !text.contains("SUSPENDED"),
            "{text}"
        );
        let ran = text.replace(r#""state""#, r#""host":"a","state""#);
        let end = ItemEnd { state: FireState::Succeeded, took: 3, error: None };
        let ended = FireRecord::parse(ran.as_bytes()).end(8, &end);
        assert!(kept(&ended).contains(r#""host":"a""#), "{}", kept(&ended));
    }

    #[test]
    fn a_missed_fire_is_not_given_up_by_an_instance_that_skips_it() {
        let missed = FireRecord { through: Some(4), missed: Some(5), ..FireRecord::empty() };
        assert_eq!(missed.skip_in_run(5, true), missed);
        assert_eq!(missed.skip_in_run(5, false).through, Some(5));
        assert_eq!(missed.skip_in_run(6, true).to_make_up(), None);
        let made_up = FireRecord { through: Some(5), ..missed };
        assert_eq!(made_up.skip_in_run(6, true).through, Some(6));
    }

    #[test]
    fn a_record_reads_back_what_it_writes() {
        let id = InstanceId::of_process("10.0.0.1", 7);
        let begun = FireRecord::empty().begin(
            1_003,
            Fire::Scheduled(1_000),
            ExecutionSource::NormalTrigger,
            id,
            Attempt::new(SessionId(0x2a), 7, 3),
        );
        let text = String::from_utf8(begun.to_bytes()).unwrap();
        assert_eq!(
            text,
            r#"{"through":1000,"last":{"at":1000,"instance":"10.0.0.1@-@7","attempt":"2a-00000007.3","began":1003,"state":"RUNNING"}}"#
        );
        assert_eq!(FireRecord::parse(text.as_bytes()), begun);
        let end = ItemEnd { state: FireState::Failed, took: 12, error: Some("no".to_owned()) };
        let ended = begun.end(1_016, &end).skip_in_run(2_000, false);
        assert_eq!(ended.through, Some(2_000));
        assert_eq!(ended.last.as_ref().map(|begun| (begun.began, begun.ended)), Some((Some(1_003), Some(1_016))));
        assert_eq!(FireRecord::parse(&ended.to_bytes()), ended);
        assert!(ended.is_attempt(&Attempt::new(SessionId(0x2a), 7, 3)));
        assert_eq!(ended.last_fire(), Some(Fire::Scheduled(1_000)));
    }

    #[test]
    fn the_last_success_outlives_the_runs_after_it() {
        let (id, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(0x2a), 7, 3));
        let begin = |record: &FireRecord, at| {
            let (id, attempt) = (id.clone(), attempt.clone());
            record.begin(at, Fire::Scheduled(at), ExecutionSource::NormalTrigger, id, attempt)
        };
        let end = |record: &FireRecord, at, state| record.end(at, &ItemEnd { state, took: 3, error: None });
        let first = end(&begin(&FireRecord::empty(), 10), 15, FireState::Failed);
        assert_eq!(first.last_success(), None);
        let succeeded = end(&begin(&first, 20), 25, FireState::Succeeded);
        assert_eq!((succeeded.last_success(), succeeded.succeeded), (Some(25), None), "the last run says it");
        let running = begin(&succeeded, 30);
        assert!(String::from_utf8(running.to_bytes()).unwrap().starts_with(r#"{"through":30,"succeeded":25,"last""#));
        let failed = end(&begin(&end(&running, 35, FireState::Failed), 40), 45, FireState::Cancelled);
        let read = FireRecord::parse(&failed.to_bytes());
        assert_eq!((read.last_success(), &read), (Some(25), &failed));
        assert_eq!(end(&begin(&failed, 50), 55, FireState::Succeeded).last_success(), Some(55));
    }

    #[test]
    fn what_an_operator_cancelled_has_failed_and_is_not_unfinished() {
        let (id, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(0x2a), 7, 3));
        let begun =
            FireRecord::empty().begin(7, Fire::Scheduled(7), ExecutionSource::NormalTrigger, id, attempt.clone());
        let asked = begun.cancel(CancelRequest::new("alice", "wrong input")).unwrap();
        assert_eq!(FireRecord::parse(&asked.to_bytes()), asked);
        assert_eq!(asked.cancel(CancelRequest::new("bob", "")), None, "it is asked for once");
        assert!(asked.cancel_request(&attempt).is_some());
        assert_eq!(asked.cancel_request(&Attempt::new(SessionId(0x2a), 7, 4)), None, "of another run");
        let cut = ItemEnd { state: FireState::Cancelled, took: 3, error: None };
        let last = asked.end(9, &cut).last.unwrap();
        assert_eq!((last.state, last.error.as_deref()), (FireState::Failed, Some("cancelled by alice: wrong input")));
        assert_eq!(begun.end(9, &cut).cancel(CancelRequest::new("alice", "")), None, "it does not run");
    }

    #[test]
    fn an_attempt_names_its_session() {
        for id in [1, 0x1000_2a3b_0000_0001, -2] {
            let attempt = Attempt::new(SessionId(id), 7, 3);
            assert_eq!(attempt.session(), Some(SessionId(id)));
            assert!(attempt.is_of(SessionId(id)) && !attempt.is_of(SessionId(id + 1)));
            let of_next_engine = Attempt::new(SessionId(id), 8, 3);
            assert_ne!(attempt, of_next_engine, "an engine that comes after it in the session");
        }
        let earlier: Attempt = serde_json::from_str("\"2a-3\"").unwrap();
        assert!(earlier.is_of(SessionId(0x2a)), "of a release that had no nonce");
    }

    #[test]
    fn a_missed_fire_is_made_up_for_until_a_later_one_begins() {
        let id = InstanceId::of_process("10.0.0.1", 7);
        let record = FireRecord { through: Some(5), ..FireRecord::empty() }.miss(6).miss(7);
        assert_eq!(record.to_make_up(), Some(7));
        let misfire =
            record.begin(8, Fire::Scheduled(7), ExecutionSource::Misfire, id, Attempt::new(SessionId(1), 7, 1));
        assert_eq!((misfire.to_make_up(), misfire.missed), (None, None));
        assert!(String::from_utf8(misfire.to_bytes()).unwrap().contains(r#""source":"MISFIRE""#));
    }

    #[test]
    fn a_manual_fire_leaves_the_schedule_alone() {
        let id = InstanceId::of_process("10.0.0.1", 7);
        let record = FireRecord { through: Some(5), ..FireRecord::empty() };
        let fire = Fire::manual(9, 1_000, None);
        let manual = record.begin(1_001, fire, ExecutionSource::NormalTrigger, id, Attempt::new(SessionId(1), 7, 1));
        assert_eq!(manual.last_fire(), Some(fire));
        assert_eq!(manual.through, Some(5));
        assert!(manual.last.as_ref().is_some_and(|begun| begun.manual));
        assert!(manual.covers(fire));
        assert!(!manual.covers(Fire::manual(10, 1_000, None)));
    }

    #[test]
    fn a_re_run_keeps_the_fire_that_it_runs_again_whichever_instance_goes_on_with_it() {
        let (first, second) = (InstanceId::of_process("10.0.0.1", 7), InstanceId::of_process("10.0.0.2", 7));
        let record = FireRecord { through: Some(5), ..FireRecord::empty() };
        let fire = Fire::manual(9, 1_000, Some(Rerun::new(5, 999)));
        let attempt = |number| Attempt::new(SessionId(1), 7, number);
        let begun = record.begin(1_001, fire, ExecutionSource::NormalTrigger, first, attempt(1));
        let text = String::from_utf8(begun.to_bytes()).unwrap();
        assert!(text.contains(r#""at":1000,"manual":true,"rerun":{"of":5,"asked":999},"instance""#), "{text}");
        let lost = FireRecord::parse(text.as_bytes()).last_fire().unwrap();
        assert_eq!((lost, lost.at(), lost.scheduled_for()), (fire, 1_000, 5));
        let taken = begun.begin(1_002, lost, ExecutionSource::Failover, second, attempt(2));
        assert_eq!((taken.last_fire(), taken.through), (Some(fire), Some(5)));
        let end = ItemEnd { state: FireState::Succeeded, took: 3, error: None };
        assert_eq!(taken.end(1_003, &end).last.unwrap().rerun(), fire.rerun());
    }

    #[test]
    fn blank_and_foreign_data_are_an_item_never_begun() {
        assert_eq!(FireRecord::parse(b""), FireRecord::empty());
        assert_eq!(FireRecord::parse(b"x: y"), FireRecord::empty());
    }
}
