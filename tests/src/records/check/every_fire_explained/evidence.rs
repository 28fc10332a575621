//! What is known of an item of a fire that had to be begun: records are not kept by every machine that finds such a one.

use std::time::Duration;

use super::Fire;
use crate::records::history::us;
use crate::records::{Fault, Run, Skip};

/// How long before the fire something is still told.
const BEFORE: Duration = Duration::from_secs(10);

impl Fire<'_> {
    /// Its owners, what was said of it, the runs of the item around it, the faults before it and when the observer saw nothing,
    /// with times relative to the fire.
    pub(super) fn evidence(&self) -> String {
        let owners =
            self.tenures().into_iter().map(|tenure| format!("{:?} from {}", tenure.owner, self.at(tenure.from_us)));
        let skips = self.history.skips.iter().filter(|skip| skip.covers(self.job, self.item, self.at_ms));
        let said = skips.map(|Skip { pid, reason, at_us, .. }| format!("{pid} {reason:?} at {}", self.at(*at_us)));
        let around = |run: &&Run| run.end.is_none_or(|(at, _)| at >= self.since_us()) && run.began_us <= self.next_us();
        let runs = self.of_item().filter(around).map(|run| {
            let (fire, began) = (self.at(run.scheduled_ms * 1_000), self.at(run.began_us));
            let end = run.end.map(|(at, how)| format!("{how:?} at {}", self.at(at)));
            format!("{} of {fire} {:?} from {began}, {end:?}", run.pid, run.source)
        });
        let faults = self.history.faults.iter().filter(|fault| fault.touches(self.since_us(), self.next_us()));
        let faults = faults.map(|fault: &Fault| {
            format!("{:?} from {} to {}", fault.kind, self.at(fault.from_us), self.at(fault.until_us))
        });
        let blind = self.unobserved().filter(|(from, until)| *from <= self.next_us() && *until >= self.since_us());
        let blind = blind.map(|(from, until)| format!("from {} to {}", self.at(from), self.at(until)));
        let (owners, said) = (Vec::from_iter(owners).join(", "), Vec::from_iter(said).join(", "));
        let (runs, faults) = (Vec::from_iter(runs).join(", "), Vec::from_iter(faults).join(", "));
        let blind = Vec::from_iter(blind).join(", ");
        format!("owners: [{owners}], said: [{said}], runs: [{runs}], faults: [{faults}], not seen: [{blind}]")
    }

    fn since_us(&self) -> i64 {
        self.at_us() - us(BEFORE)
    }

    /// A time, relative to the fire.
    fn at(&self, at_us: i64) -> String {
        match at_us.saturating_sub(self.at_us()) / 1_000 {
            ms if ms.abs() > 3_600_000 => "ever".to_owned(),
            ms => format!("{ms:+} ms"),
        }
    }
}
