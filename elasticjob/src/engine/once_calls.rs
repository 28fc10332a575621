//! The record of the calls that are made once for the group: data of `guarantee/rounds`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fire::{Attempt, Fire, Hook, Later};
use crate::ident::InstanceId;
use crate::registry::{SessionId, Zxid};

/// The number of fires that the record remembers. Rounds hardly ever overlap by more than one.
pub const KEPT_FIRES: usize = 8;
/// How many calls it keeps that this release does not understand.
const KEPT_FOREIGN: usize = 64;

/// The listeners that were called on behalf of the group, for the last fires. As JSON; only this implementation writes it.
///
/// No instance deletes and creates the node again while the job exists, so its version is a guard: one instance claims
/// a call.
///
/// Fields that a later release wrote and this one does not know survive a rewrite, and a claimed call stays claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct OnceCalls {
    /// Scheduled fires up to this time (milliseconds since 1970) that are not in the list are over.
    pub through: Option<i64>,
    /// The same for manual triggers: the transaction that created the trigger's node.
    pub triggered: Option<Zxid>,
    /// The calls, oldest claim first.
    pub calls: Vec<OnceCall>,
    /// Calls that this release does not understand.
    foreign: Vec<Value>,
    later: Later,
}

/// The record as it stands in the node.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    through: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    triggered: Option<Zxid>,
    #[serde(default)]
    calls: Vec<WrittenCall>,
    #[serde(flatten)]
    later: Later,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenCall {
    Known(OnceCall),
    Foreign(Value),
}

impl From<Written> for OnceCalls {
    fn from(written: Written) -> Self {
        let Written { through, triggered, calls: all, later } = written;
        let (mut calls, mut foreign) = (Vec::new(), Vec::new());
        for call in all {
            match call {
                WrittenCall::Known(call) => calls.push(call),
                WrittenCall::Foreign(written) => match OnceCall::in_later_state(&written) {
                    Some(call) => calls.push(call),
                    None => foreign.push(written),
                },
            }
        }
        Self { through, triggered, calls, foreign, later }
    }
}

impl From<OnceCall> for WrittenCall {
    fn from(call: OnceCall) -> Self {
        let Some(state) = call.later_state.clone() else { return Self::Known(call) };
        let mut written = serde_json::to_value(call).expect("a call of texts and numbers has a JSON form");
        written[STATE] = state;
        Self::Foreign(written)
    }
}

impl From<OnceCalls> for Written {
    fn from(record: OnceCalls) -> Self {
        let OnceCalls { through, triggered, calls, foreign, later } = record;
        let calls = calls.into_iter().map(WrittenCall::from).chain(foreign.into_iter().map(WrittenCall::Foreign));
        Self { through, triggered, calls: calls.collect(), later }
    }
}

/// A call that an instance claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OnceCall {
    /// Time of the scheduled fire in milliseconds since 1970, or of the trigger.
    pub at: i64,
    /// The transaction that created the trigger of a manual fire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggered: Option<Zxid>,
    /// Type name of the listener.
    pub listener: String,
    /// The hook for which it is called.
    pub hook: Hook,
    /// The instance that calls it.
    pub instance: InstanceId,
    /// The attempt of the claim.
    pub attempt: Attempt,
    /// The state of the call.
    pub state: CallState,
    /// The state that stands in the node, where only a later release knows it. This release takes such a call for over.
    #[serde(skip)]
    later_state: Option<Value>,
    #[serde(flatten)]
    later: Later,
}

const STATE: &str = "state";

impl OnceCall {
    /// A call in a state that only a later release knows; `None` where something else of it is not understood.
    fn in_later_state(written: &Value) -> Option<Self> {
        let mut known = written.clone();
        let state = known.as_object_mut()?.insert(STATE.to_owned(), serde_json::to_value(CallState::Done).ok()?)?;
        let call = Self::deserialize(known).ok()?;
        Some(Self { later_state: Some(state), ..call })
    }
}

/// The outcome of an own claim, until the registry knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettledClaim {
    pub(super) claim: Attempt,
    /// Whether the call was made. Otherwise another instance may make it.
    pub(super) was_called: bool,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CallState {
    /// Claimed, and not over as far as the registry knows.
    Calling,
    /// Over.
    Done,
    /// Cut off with the engine that made it, or before it was made: it is not made again.
    CutOff,
}

impl OnceCall {
    /// A call that is claimed now.
    pub fn claim(fire: Fire, listener: &str, hook: Hook, instance: InstanceId, attempt: Attempt) -> Self {
        let triggered = match fire {
            Fire::Scheduled(_) => None,
            Fire::Manual { trigger, .. } => Some(trigger),
        };
        let listener = listener.to_owned();
        let (state, later_state, later) = (CallState::Calling, None, Later::new());
        Self { at: fire.at(), triggered, listener, hook, instance, attempt, state, later_state, later }
    }

    /// The fire it belongs to. The record does not say which past fire a trigger runs again, and has no trace context of a caller.
    pub fn fire(&self) -> Fire {
        match self.triggered {
            Some(trigger) => Fire::manual(trigger, self.at, None),
            None => Fire::Scheduled(self.at),
        }
    }

    fn is_of(&self, fire: Fire) -> bool {
        self.fire().is_same(fire)
    }
}

/// Far more bytes than the calls of the kept fires have.
const LONGEST: usize = 256 * 1024;

impl OnceCalls {
    /// Reads the record. Data that cannot be read, or are longer than any record, have a writer that does not take
    /// part: they say that nothing was called.
    pub fn parse(data: &[u8]) -> Self {
        match data.len() {
            ..=LONGEST => serde_json::from_slice(data).unwrap_or_default(),
            _ => Self::default(),
        }
    }

    /// The data of the node.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record of texts and numbers has a JSON form")
    }

    /// The call of a listener for a fire.
    pub fn find(&self, fire: Fire, listener: &str, hook: Hook) -> Option<&OnceCall> {
        self.calls.iter().find(|call| call.is_of(fire) && call.listener == listener && call.hook == hook)
    }

    /// Whether a fire is so old that the record has forgotten it: calls of it that are not in the record are not made
    /// any more.
    pub fn is_past(&self, fire: Fire) -> bool {
        let is_forgotten = match fire {
            Fire::Scheduled(at) => self.through >= Some(at),
            Fire::Manual { trigger, .. } => self.triggered >= Some(trigger),
        };
        is_forgotten && self.calls.iter().all(|call| !call.is_of(fire))
    }

    /// Adds a claim. The fires that were claimed first are forgotten, and so are calls that are not understood, when there
    /// are too many.
    pub fn add(&mut self, call: OnceCall) {
        self.calls.push(call);
        self.foreign.drain(..self.foreign.len().saturating_sub(KEPT_FOREIGN));
        let mut fires: Vec<Fire> = Vec::new();
        for call in &self.calls {
            if !fires.contains(&call.fire()) {
                fires.push(call.fire());
            }
        }
        for fire in fires.iter().take(fires.len().saturating_sub(KEPT_FIRES)) {
            self.calls.retain(|call| call.fire() != *fire);
            match *fire {
                Fire::Scheduled(at) => self.through = self.through.max(Some(at)),
                Fire::Manual { trigger, .. } => self.triggered = self.triggered.max(Some(trigger)),
            }
        }
    }

    /// The calls of a session are cut off, as the engine that made them is gone. Returns whether there were any.
    pub(super) fn cut_off(&mut self, session: SessionId) -> bool {
        let is_meant = |call: &&mut OnceCall| call.state == CallState::Calling && call.attempt.is_of(session);
        let mut found = false;
        for call in self.calls.iter_mut().filter(is_meant) {
            call.state = CallState::CutOff;
            found = true;
        }
        found
    }

    /// Whether a call that was claimed in this session is not over.
    #[cfg(feature = "testing")]
    pub fn is_calling(&self, session: SessionId) -> bool {
        self.calls.iter().any(|call| call.state == CallState::Calling && call.attempt.is_of(session))
    }

    /// Takes over the outcome of a claim. Returns whether that is new.
    pub(super) fn settle(&mut self, settled: &SettledClaim) -> bool {
        let is_meant = |call: &OnceCall| call.attempt == settled.claim && call.state == CallState::Calling;
        let Some(place) = self.calls.iter().position(is_meant) else { return false };
        if settled.was_called {
            self.calls[place].state = CallState::Done;
        } else {
            self.calls.remove(place);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fire::Rerun;

    fn call(fire: Fire, hook: Hook, number: u64) -> OnceCall {
        let attempt = Attempt::new(SessionId(0x2a), 7, number);
        OnceCall::claim(fire, "settle", hook, InstanceId::of_process("10.0.0.1", 7), attempt)
    }

    #[test]
    fn a_record_reads_back_what_it_writes() {
        let mut record = OnceCalls::default();
        record.add(call(Fire::Scheduled(1_000), Hook::Before, 3));
        record.add(call(Fire::manual(41, 2_000, None), Hook::After, 4));
        let over = SettledClaim { claim: Attempt::new(SessionId(0x2a), 7, 3), was_called: true };
        assert!(record.settle(&over));
        assert!(!record.settle(&over), "it was over before");
        let text = String::from_utf8(record.to_bytes()).unwrap();
        let expected = concat!(
            r#"{"calls":[{"at":1000,"listener":"settle","hook":"BEFORE","instance":"10.0.0.1@-@7","attempt":"2a-00000007.3","state":"DONE"},"#,
            r#"{"at":2000,"triggered":41,"listener":"settle","hook":"AFTER","instance":"10.0.0.1@-@7","attempt":"2a-00000007.4","state":"CALLING"}]}"#
        );
        assert_eq!(text, expected);
        assert_eq!(OnceCalls::parse(text.as_bytes()), record);
        assert_eq!(OnceCalls::parse(b""), OnceCalls::default());
    }

    #[test]
    fn what_a_later_release_wrote_survives_and_stays_decided() {
        let later = concat!(
            r#"{"through":7,"calls":[{"at":1000,"listener":"settle","hook":"BEFORE","instance":"10.0.0.1@-@7","attempt":"2a-3","state":"GAVE_UP","why":"x"},"#,
            r#"{"at":1000,"listener":"settle","hook":"AROUND","more":1}],"next":{"a":1}}"#
        );
        let mut record = OnceCalls::parse(later.as_bytes());
        let claimed = record.find(Fire::Scheduled(1_000), "settle", Hook::Before).expect("it is claimed");
        assert_eq!(claimed.state, CallState::Done, "it is not made again");
        record.add(call(Fire::Scheduled(2_000), Hook::Before, 4));
        let text = String::from_utf8(record.to_bytes()).unwrap();
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let (before, after) = (json(later), json(&text));
        assert_eq!((&after["through"], &after["next"]), (&before["through"], &before["next"]));
        for kept in before["calls"].as_array().unwrap() {
            assert!(after["calls"].as_array().unwrap().contains(kept), "{kept} is not in {text}");
        }
        assert_eq!(after["calls"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn a_claim_that_was_not_acted_on_leaves_the_call_to_others() {
        let mut record = OnceCalls::default();
        record.add(call(Fire::Scheduled(1_000), Hook::Before, 3));
        assert!(record.settle(&SettledClaim { claim: Attempt::new(SessionId(0x2a), 7, 3), was_called: false }));
        assert_eq!(record, OnceCalls::default());
    }

    #[test]
    fn calls_of_a_session_are_cut_off_and_those_of_others_go_on() {
        let mut record = OnceCalls::default();
        let of_another = Attempt::new(SessionId(0x2b), 7, 3);
        record.add(call(Fire::Scheduled(1_000), Hook::Before, 3));
        record.add(OnceCall { attempt: of_another, ..call(Fire::Scheduled(1_000), Hook::After, 4) });
        assert!(record.cut_off(SessionId(0x2a)));
        assert_eq!(record.calls[0].state, CallState::CutOff);
        assert_eq!(record.calls[1].state, CallState::Calling);
        assert!(!record.cut_off(SessionId(0x2a)), "nothing is left of it");
    }

    #[test]
    fn calls_are_told_apart_by_fire_listener_and_hook() {
        let mut record = OnceCalls::default();
        record.add(call(Fire::Scheduled(1_000), Hook::Before, 1));
        assert!(record.find(Fire::Scheduled(1_000), "settle", Hook::Before).is_some());
        assert!(record.find(Fire::Scheduled(1_000), "settle", Hook::After).is_none());
        assert!(record.find(Fire::Scheduled(1_000), "other", Hook::Before).is_none());
        let manual = |trigger| Fire::manual(trigger, 1_000, None);
        assert!(record.find(manual(1), "settle", Hook::Before).is_none());
    }

    #[test]
    fn the_oldest_fires_are_forgotten_and_never_called_again() {
        let mut record = OnceCalls::default();
        for n in 1..=KEPT_FIRES as i64 + 2 {
            assert!(!record.is_past(Fire::Scheduled(n * 1_000)));
            record.add(call(Fire::Scheduled(n * 1_000), Hook::Before, n as u64));
        }
        assert_eq!((record.calls.len(), record.through), (KEPT_FIRES, Some(2_000)));
        assert!(record.is_past(Fire::Scheduled(1_500)) && record.is_past(Fire::Scheduled(2_000)));
        assert!(!record.is_past(Fire::Scheduled(2_500)) && !record.is_past(Fire::Scheduled(3_000)));
    }

    #[test]
    fn a_trigger_that_waited_for_long_is_no_old_fire() {
        let mut record = OnceCalls::default();
        let waited = Fire::manual(7, 1_000, Some(Rerun::new(5, 999)));
        for n in 1..=KEPT_FIRES as i64 + 2 {
            record.add(call(Fire::Scheduled(n * 1_000), Hook::Before, n as u64));
        }
        assert!(!record.is_past(waited));
        for n in 8..=KEPT_FIRES as i64 + 8 {
            record.add(call(Fire::manual(n, n * 1_000, None), Hook::Before, n as u64));
        }
        assert!(record.is_past(waited), "a later trigger was forgotten");
    }
}
