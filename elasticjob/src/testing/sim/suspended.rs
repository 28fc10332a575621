//! Machines that are suspended, and whose wall clock is set back when they go on: then no clock shows any more how long they
//! stood still, and only what the engine saw in between tells how old its proof is.

use super::happening::Happening;
use super::host::Millis;
use super::world::World;
use crate::testing::rng::Rng;

/// How often it happens in such a history.
const TIMES: usize = 4;

impl World {
    /// In one of four histories without Java instances. Drawn beside all else, so that the other histories stay what they are.
    pub(super) fn plan_suspensions(&mut self, seed: u64) {
        let mut rng = Rng::new(seed ^ 0x73_7573_7065_6e64);
        if self.is_mixed() || !rng.one_in(4) {
            return;
        }
        for _ in 0..TIMES {
            let at = rng.between(5_000, self.faults_until.max(5_001));
            let host = rng.below(self.machines() as u64) as usize;
            let duration = rng.between(self.session_timeout / 3, 2 * self.session_timeout);
            let set_back = rng.between(1, 400);
            self.at(at, Happening::Suspend { host, duration, set_back: Some(set_back) });
        }
    }

    /// Suspends the machine of a host. Where `set_back` is given, so many milliseconds after it goes on its wall clock is set
    /// back by the time that it stood still.
    pub(super) fn suspend_and_set_back(&mut self, host: usize, duration: Millis, set_back: Option<Millis>) {
        self.count("suspended");
        self.suspend(host, duration);
        if let Some(after) = set_back {
            self.count("set_back_when_it_went_on");
            self.at(self.now + duration + after, Happening::SetClock { host, offset: -(duration as i64) });
        }
    }
}
