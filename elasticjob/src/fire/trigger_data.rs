//! The data of a trigger node.

use serde::{Deserialize, Serialize};

use super::Rerun;
use super::cause::{self, TraceParent};

/// Far more bytes than these data have. A node of an operator may have any number of them.
const LONGEST: usize = 1024;

/// What a manual trigger says beside that the job is to run now. An instance of Java reads none of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TriggerData {
    /// The past fire that it runs again.
    pub(crate) rerun: Option<Rerun>,
    /// The trace context of the caller.
    pub(crate) trace_parent: Option<TraceParent>,
}

/// The data as JSON. Those that were made by hand may name a fire and lack the time.
#[derive(Default, Serialize, Deserialize)]
struct Fields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<i64>,
    #[serde(
        default,
        rename = "traceparent",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "cause::read_lenient"
    )]
    trace_parent: Option<TraceParent>,
}

impl TriggerData {
    /// Reads the data of a node that was created at this time. Data that cannot be read, or are longer than [`LONGEST`], say
    /// nothing.
    pub(crate) fn parse(data: &[u8], created: i64) -> Self {
        let fields = (data.len() <= LONGEST).then(|| serde_json::from_slice(data).ok()).flatten();
        let Fields { of, asked, trace_parent } = fields.unwrap_or_default();
        Self { rerun: of.map(|of| Rerun::new(of, asked.unwrap_or(created))), trace_parent }
    }

    /// The data of the node: none where it says nothing.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Self { rerun, trace_parent } = self;
        if self == Self::default() {
            return Vec::new();
        }
        let fields = Fields { of: rerun.map(|rerun| rerun.of), asked: rerun.map(|rerun| rerun.asked), trace_parent };
        serde_json::to_vec(&fields).expect("numbers and a text have a JSON form")
    }
}

impl From<Rerun> for TriggerData {
    fn from(rerun: Rerun) -> Self {
        Self { rerun: Some(rerun), trace_parent: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_trigger_reads_back_what_it_says_and_a_plain_one_says_nothing() {
        let (rerun, trace_parent) = (Rerun::new(5_000, 7_001), TraceParent::parse(PARENT));
        for (data, text) in [
            (TriggerData::default(), String::new()),
            (rerun.into(), r#"{"of":5000,"asked":7001}"#.to_owned()),
            (TriggerData { rerun: None, trace_parent }, format!(r#"{{"traceparent":"{PARENT}"}}"#)),
            (
                TriggerData { rerun: Some(rerun), trace_parent },
                format!(r#"{{"of":5000,"asked":7001,"traceparent":"{PARENT}"}}"#),
            ),
        ] {
            assert_eq!(String::from_utf8(data.to_bytes()).unwrap(), text);
            assert_eq!(TriggerData::parse(text.as_bytes(), 7_003), data, "{text}");
        }
        let by_hand = TriggerData::parse(br#"{"of":5000}"#, 7_003);
        assert_eq!(by_hand, Rerun::new(5_000, 7_003).into(), "made by hand");
        for plain in ["", "TRIGGER", "{}", "5000", r#"{"of":"now"}"#, r#"{"asked":7001}"#] {
            assert_eq!(TriggerData::parse(plain.as_bytes(), 7_003), TriggerData::default(), "{plain}");
        }
    }

    #[test]
    fn a_trace_context_that_is_not_understood_leaves_the_past_fire_asked_for() {
        for wrong in [r#""""#, "7", "null", r#"["a"]"#, r#""00-0-0-01""#] {
            let text = format!(r#"{{"of":5000,"asked":7001,"traceparent":{wrong}}}"#);
            assert_eq!(TriggerData::parse(text.as_bytes(), 7_003), Rerun::new(5_000, 7_001).into(), "{text}");
        }
    }

    #[test]
    fn data_of_more_bytes_than_the_limit_say_nothing() {
        let padded = |length: usize| format!("{:<length$}", r#"{"of":5000,"asked":7001}"#);
        assert_eq!(TriggerData::parse(padded(LONGEST).as_bytes(), 0), Rerun::new(5_000, 7_001).into());
        assert_eq!(TriggerData::parse(padded(LONGEST + 1).as_bytes(), 0), TriggerData::default());
    }
}
