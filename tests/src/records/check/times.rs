//! Spans of time, in microseconds, and what is left of them.

use crate::records::Fault;

/// Everything that was.
pub(super) const ALWAYS: (i64, i64) = (i64::MIN, i64::MAX);

/// Spans that lie one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Times(Vec<(i64, i64)>);

impl Times {
    pub(super) fn new(spans: impl IntoIterator<Item = (i64, i64)>) -> Self {
        Self(spans.into_iter().collect())
    }

    /// What is left without a span. One without a length cuts in two.
    pub(super) fn without(self, (from, until): (i64, i64)) -> Self {
        let parts = self.0.into_iter().flat_map(|(begin, end)| {
            if until < begin || end < from { vec![(begin, end)] } else { vec![(begin, from), (until, end)] }
        });
        Self(parts.filter(|(begin, end)| begin < end).collect())
    }

    /// What is left without each of some spans.
    pub(super) fn without_all(self, spans: impl IntoIterator<Item = (i64, i64)>) -> Self {
        spans.into_iter().fold(self, Self::without)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, i64)> {
        self.0.iter().copied()
    }

    pub(super) fn touches(&self, from: i64, until: i64) -> bool {
        self.iter().any(|(begin, end)| begin <= until && end >= from)
    }
}

/// From when to when a fault keeps a process from doing its part: for good when the process is gone.
pub(super) fn hinders(fault: &Fault, pid: u32) -> Option<(i64, i64)> {
    use crate::records::FaultKind::{CutOff, Disabled, Frozen, Killed, Left, Outage};
    match fault.kind {
        Killed { pid: of } | Left { pid: of } if of == pid => Some((fault.from_us, i64::MAX)),
        Frozen { pid: of } | CutOff { pid: of } if of == pid => Some((fault.from_us, fault.until_us)),
        Outage | Disabled => Some((fault.from_us, fault.until_us)),
        Killed { .. } | Left { .. } | Frozen { .. } | CutOff { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_cut_at_both_ends_and_in_two() {
        let times = Times::new([(0, 10), (20, 30)]);
        assert_eq!(times.clone().without((5, 25)), Times::new([(0, 5), (25, 30)]));
        assert_eq!(times.clone().without((22, 24)), Times::new([(0, 10), (20, 22), (24, 30)]));
        assert_eq!(times.clone().without((5, 5)), Times::new([(0, 5), (5, 10), (20, 30)]));
        assert_eq!(times.clone().without_all([(0, 10), (11, 12)]), Times::new([(20, 30)]));
        assert!(times.touches(10, 15) && !times.touches(11, 19));
    }
}
