//! The trace context of the caller that triggered a job by hand.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The header `traceparent` of W3C Trace Context, version 00: the trace and the span of a caller. Kept as bytes, which lie in
/// any place: each fire has room for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    trace: [u8; 16],
    span: [u8; 8],
    flags: u8,
}

/// The flag of a caller that may have recorded the trace.
const SAMPLED: u8 = 1;

impl TraceParent {
    /// The trace context with these ids and flags. `None` where an id is zero, which W3C has for no trace.
    pub fn new(trace: u128, span: u64, flags: u8) -> Option<Self> {
        let is_one = trace != 0 && span != 0;
        is_one.then_some(Self { trace: trace.to_be_bytes(), span: span.to_be_bytes(), flags })
    }

    /// Reads the value of such a header. As W3C demands of a receiver, `None` for a text that is not understood, and of a later
    /// version what this one has: it may say more after that. Of the flags only the one that version 00 knows counts.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.splitn(5, '-').collect();
        let [version, trace, span, flags, more @ ..] = &parts[..] else { return None };
        let is_hex = |text: &str, digits| {
            text.len() == digits && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_known = *version == "00" && more.is_empty();
        let is_later = is_hex(version, 2) && !["00", "ff"].contains(version);
        if !(is_known || is_later) || !is_hex(trace, 32) || !is_hex(span, 16) || !is_hex(flags, 2) {
            return None;
        }
        let (trace, span) = (u128::from_str_radix(trace, 16).ok()?, u64::from_str_radix(span, 16).ok()?);
        Self::new(trace, span, u8::from_str_radix(flags, 16).ok()? & SAMPLED)
    }

    /// The id of the trace.
    pub fn trace_id(self) -> u128 {
        u128::from_be_bytes(self.trace)
    }

    /// The id of the span of the caller.
    pub fn span_id(self) -> u64 {
        u64::from_be_bytes(self.span)
    }

    /// The flags: 1 where the caller may have recorded the trace.
    pub fn flags(self) -> u8 {
        self.flags
    }
}

impl fmt::Display for TraceParent {
    /// As the header has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace_id(), self.span_id(), self.flags)
    }
}

impl Serialize for TraceParent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads one of a record, whose other fields count also where this one is not understood.
pub(super) fn read_lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TraceParent>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().and_then(TraceParent::parse))
}

/// The same, in a box.
pub(super) fn read_boxed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<TraceParent>>, D::Error> {
    Ok(read_lenient(deserializer)?.map(Box::new))
}

/// The trace context of the caller that triggered a fire, where there is one. It travels with the fire and is no part of its
/// identity: two are always equal, as an instance of an earlier release does not pass it on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cause(Option<TraceParent>);

impl Cause {
    /// No trace context is known.
    pub const UNKNOWN: Self = Self(None);

    /// The trace context.
    pub fn trace_parent(self) -> Option<TraceParent> {
        self.0
    }
}

impl From<Option<TraceParent>> for Cause {
    fn from(trace_parent: Option<TraceParent>) -> Self {
        Self(trace_parent)
    }
}

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}

impl PartialOrd for Cause {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cause {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Cause {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_trace_context_reads_back_what_it_writes() {
        let read = TraceParent::parse(TEXT).unwrap();
        assert_eq!(read.to_string(), TEXT);
        assert_eq!((read.span_id(), read.flags()), (0xb7ad_6b71_6920_3331, 1));
        assert_eq!(TraceParent::new(read.trace_id(), read.span_id(), 1), Some(read));
        assert_eq!(serde_json::to_string(&read).unwrap(), format!("\"{TEXT}\""));
        let small = format!("00-{:032x}-{:016x}-00", 1, 2);
        assert_eq!(TraceParent::parse(&small).map(|read| read.to_string()), Some(small));
    }

    #[test]
    fn what_w3c_has_a_receiver_ignore_is_no_trace_context() {
        let (trace, span) = (&TEXT[3..35], &TEXT[36..52]);
        for wrong in [
            String::new(),
            "00".to_owned(),
            TEXT.to_uppercase(),
            format!(" {TEXT}"),
            format!("{TEXT}-00"),
            format!("ff{}", &TEXT[2..]),
            format!("1{}", &TEXT[2..]),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{trace}-{span}-1"),
            format!("00-{trace}-{span}-+1"),
            format!("00-{}-{span}-01", &trace[1..]),
            format!("00-{}g-{span}-01", &trace[1..]),
            format!("00-{}é-{span}-01", &trace[2..]),
        ] {
            assert_eq!(TraceParent::parse(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn of_a_later_version_what_this_one_has_is_read() {
        for more in ["", "-what-a-later-one-says"] {
            let read = TraceParent::parse(&format!("01{}f{more}", &TEXT[2..TEXT.len() - 1]));
            assert_eq!(read.map(|read| read.to_string()).as_deref(), Some(TEXT));
        }
    }

    #[test]
    fn the_cause_of_a_fire_gives_it_no_identity() {
        let known = Cause::from(TraceParent::parse(TEXT));
        assert_eq!((known, known.cmp(&Cause::default())), (Cause::default(), Ordering::Equal));
    }
}
