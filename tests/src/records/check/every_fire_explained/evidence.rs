//! What is known of an item of a fire that had to be begun: records are not kept by every machine that finds such a one.

use std::time::Duration;

use super::Fire;
use crate::records::history::us;

/// How long before the fire something is still told. A killed process is gone by then.
const BEFORE: Duration = Duration::from_secs(15);

impl Fire<'_> {
    /// Its owners, what was said of it, the runs of the item around it, the faults before it and when the observer saw nothing,
    /// with times relative to the fire.
    pub(super) fn evidence(&self) -> String {
        let (since, next) = (self.at_us() - us(BEFORE), self.next_us());
        let owners = self.tenures().into_iter();
        let owners = owners.map(|tenure| format!("{:?} from {}", tenure.owner, self.relative(tenure.from_us)));
        let said = self.history.skips.iter().filter(|skip| skip.covers(self.job, self.item, self.at_ms));
        let said = said.map(|skip| format!("{} {:?} at {}", skip.pid, skip.reason, self.relative(skip.at_us)));
        let runs = self.of_item().filter(|run| run.began_us <= next && self.history.ended_us(run) >= since);
        let runs = runs.map(|run| {
            let (fire, began) = (self.relative(run.scheduled_ms * 1_000), self.relative(run.began_us));
            let end = run.end.map(|(at, how)| format!("{how:?} at {}", self.relative(at)));
            format!("{} of {fire} {:?} from {began}, {end:?}", run.pid, run.source)
        });
        let faults = self.history.faults.iter().filter(|fault| fault.touches(since, next));
        let faults = faults.map(|fault| format!("{:?} {}", fault.kind, self.span((fault.from_us, fault.until_us))));
        let unobserved = self.unobserved();
        let blind = unobserved.iter().filter(|(from, until)| *from <= next && *until >= since);
        format!(
            "owners: [{}], said: [{}], runs: [{}], faults: [{}], not seen: [{}]",
            list(owners),
            list(said),
            list(runs),
            list(faults),
            list(blind.map(|span| self.span(span)))
        )
    }

    fn span(&self, (from_us, until_us): (i64, i64)) -> String {
        format!("from {} to {}", self.relative(from_us), self.relative(until_us))
    }

    /// A time, relative to the fire.
    fn relative(&self, at_us: i64) -> String {
        match at_us.saturating_sub(self.at_us()) / 1_000 {
            ms if ms.abs() > 3_600_000 => "ever".to_owned(),
            ms => format!("{ms:+} ms"),
        }
    }
}

fn list(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join(", ")
}
