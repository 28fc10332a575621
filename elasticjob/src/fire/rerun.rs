//! A past fire that is run once more.

use serde::{Deserialize, Serialize};

/// A past fire of a job that an operator runs again. A manual trigger with these data asks for it, and each run that it
/// begins keeps them: in the record of its item, through takeovers, and for the code that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rerun {
    /// The scheduled time of that fire, in milliseconds since 1970.
    pub of: i64,
    /// When it was asked for, by the clock of the operator, in milliseconds since 1970. The jobs that are run again
    /// together have the same time.
    pub asked: i64,
}

/// Far more bytes than these data have. A node of an operator may have any number of them.
const LONGEST: usize = 1024;

/// The data of a trigger node that asks for a re-run, as they are read: one that was made by hand may lack the time.
#[derive(Deserialize)]
struct Asked {
    of: i64,
    asked: Option<i64>,
}

impl Rerun {
    /// The fire of this time is run again, as was asked for at that time.
    pub fn new(of: i64, asked: i64) -> Self {
        Self { of, asked }
    }

    /// What a trigger node asks for that was created at this time: `None` for one that asks for no past fire. Data that
    /// cannot be read, or are longer than [`LONGEST`], ask for none.
    pub(crate) fn parse(data: &[u8], created: i64) -> Option<Self> {
        if data.len() > LONGEST {
            return None;
        }
        let Asked { of, asked } = serde_json::from_slice(data).ok()?;
        Some(Self { of, asked: asked.unwrap_or(created) })
    }

    /// The data of the trigger node.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        serde_json::to_vec(&self).expect("two numbers have a JSON form")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_reads_back_what_it_asks_for_and_a_plain_one_asks_for_no_past_fire() {
        let rerun = Rerun::new(5_000, 7_001);
        assert_eq!(String::from_utf8(rerun.to_bytes()).unwrap(), r#"{"of":5000,"asked":7001}"#);
        assert_eq!(Rerun::parse(&rerun.to_bytes(), 7_003), Some(rerun));
        assert_eq!(Rerun::parse(br#"{"of":5000}"#, 7_003), Some(Rerun::new(5_000, 7_003)), "made by hand");
        for plain in ["", "TRIGGER", "{}", "5000", r#"{"of":"now"}"#] {
            assert_eq!(Rerun::parse(plain.as_bytes(), 7_003), None, "{plain}");
        }
    }

    #[test]
    fn data_of_more_bytes_than_the_limit_ask_for_no_past_fire() {
        let padded = |length: usize| format!("{:<length$}", r#"{"of":5000,"asked":7001}"#);
        assert_eq!(Rerun::parse(padded(LONGEST).as_bytes(), 0), Some(Rerun::new(5_000, 7_001)));
        assert_eq!(Rerun::parse(padded(LONGEST + 1).as_bytes(), 0), None);
    }
}
