//! The clocks of the hosts: set by operators, of different speed, and stopped with their machines.
//!
//! The wall clock and the one that never steps are of one speed, as one oscillator drives both. A machine that is suspended
//! stops the second one alone: when it goes on, its wall clock is right. A machine whose clocks were both wrong could not
//! know how long it was away, so none is suspended within a time-out after its wall clock was set.

use std::time::Duration;

use super::host::{EPOCH, Host, Millis};
use super::world::World;
use crate::clock::Now;

/// How fast a right clock is: thousandths.
const RIGHT: u64 = 1_000;
/// How far the speed of a clock may be off, in thousandths: half of what the margin of a session covers. The other half is
/// for the way of a cancellation.
const DRIFT: u64 = 50;
/// How often a wall clock of another speed is moved, as [`Host::clock_offset`] tells how far off it is.
pub(super) const STEP: Millis = 100;

/// A clock that is further off than this is so for long, not by a step of some seconds.
pub const FAR_OFF: i64 = 20_000;

/// The clock of a host that never steps.
#[derive(Debug)]
pub struct MonoClock {
    /// What it showed, in microseconds, when it was stopped or its speed changed last.
    shown: u64,
    since: Millis,
    speed: u64,
    runs: bool,
    /// When its speed is right again.
    wrong_until: Millis,
    /// How much it went too far or not far enough in all, in milliseconds.
    drifted: u64,
    /// When the wall clock beside it was set last.
    wall_set_at: Millis,
}

impl MonoClock {
    /// A right one.
    pub(super) fn new() -> Self {
        Self { shown: 0, since: 0, speed: RIGHT, runs: true, wrong_until: 0, drifted: 0, wall_set_at: 0 }
    }

    fn micros(&self, at: Millis) -> u64 {
        // A thousandth of a millisecond is a microsecond.
        self.shown + if self.runs { at.saturating_sub(self.since) * self.speed } else { 0 }
    }

    fn change(&mut self, at: Millis, speed: u64, runs: bool) {
        (self.shown, self.since, self.speed, self.runs) = (self.micros(at), at, speed, runs);
    }

    /// By how many milliseconds what is carried on by it may be wrong.
    pub fn drifted(&self) -> u64 {
        self.drifted
    }

    /// It stands still with its machine.
    fn stop(&mut self, at: Millis) {
        self.change(at, self.speed, false);
    }

    /// Its machine goes on.
    fn go_on(&mut self, at: Millis) {
        self.change(at, self.speed, true);
    }
}

impl Host {
    /// The time as its clocks show it.
    pub fn now(&self, at: Millis) -> Now {
        Now { wall: EPOCH + at as i64 + self.clock_offset, mono: Duration::from_micros(self.mono.micros(at)) }
    }

    /// The simulated time at which the wall clock of this host shows `wall`.
    pub fn when(&self, wall: i64) -> Millis {
        (wall - EPOCH - self.clock_offset).max(0) as Millis
    }

    /// The simulated time at which its clock that never steps shows `mono`.
    pub fn when_mono(&self, mono: Duration) -> Millis {
        let left = (mono.as_micros() as u64).saturating_sub(self.mono.shown);
        self.mono.since + left.div_ceil(self.mono.speed)
    }
}

impl World {
    /// An administrator sets the wall clock of a host, unless its machine is suspended.
    pub(super) fn set_clock(&mut self, host: usize, offset: i64) {
        let now = self.now;
        if self.hosts[host].mono.runs {
            self.incident();
            for host in self.of_process(host) {
                self.hosts[host].clock_offset = offset;
                self.hosts[host].mono.wall_set_at = now;
                self.wake_soon(host);
            }
        }
    }

    /// Whether the group copes with a host whose clock is minutes off: it does not where nobody compares the clocks.
    pub(super) fn may_be_far_off(&self, host: usize) -> bool {
        self.shape.max_time_diff.is_some() && !self.hosts[host].java
    }

    /// Stops the clock of a machine that never steps, where its other one tells afterwards how long it was stopped. All
    /// jobs of a process share them.
    pub(super) fn stop_clock(&mut self, host: usize) {
        let (now, timeout) = (self.now, self.session_timeout);
        let Host { clock_offset, mono, java, .. } = &self.hosts[host];
        let is_right = mono.speed == RIGHT && clock_offset.abs() < 100 && now > mono.wall_set_at + timeout;
        if is_right && !*java {
            self.of_process(host).for_each(|host| self.hosts[host].mono.stop(now));
        }
    }

    /// The clocks of a machine go on with it.
    pub(super) fn start_clock(&mut self, host: usize) {
        let now = self.now;
        self.of_process(host).for_each(|host| self.hosts[host].mono.go_on(now));
    }

    /// The clocks of a host go too fast or too slow for a while.
    pub(super) fn drift(&mut self, host: usize) {
        let Host { java, mono, .. } = &self.hosts[host];
        if *java || !mono.runs || mono.speed != RIGHT {
            return;
        }
        let speed = self.rng.pick(&[RIGHT - DRIFT, RIGHT + DRIFT]);
        let until = self.now + self.rng.between(2_000, 20_000);
        self.drift_at(host, speed, until);
    }

    /// The clocks of a host go too slow for a while, if they are right.
    pub(super) fn slow_down(&mut self, host: usize) {
        let Host { java, mono, .. } = &self.hosts[host];
        if !*java && mono.runs && mono.speed == RIGHT {
            self.drift_at(host, RIGHT - DRIFT, self.now + 20_000);
        }
    }

    fn drift_at(&mut self, host: usize, speed: u64, until: Millis) {
        let now = self.now;
        for host in self.of_process(host) {
            let mono = &mut self.hosts[host].mono;
            mono.change(now, speed, mono.runs);
            mono.wrong_until = until;
            // Until its wall clock is moved first, and after it was moved last.
            mono.drifted += 2 * STEP * DRIFT / RIGHT;
        }
        self.incident();
    }

    /// Moves the wall clocks that are of another speed, and sets those that are right again.
    pub(super) fn keep_drifting(&mut self) -> Result<(), String> {
        let now = self.now;
        for host in 0..self.hosts.len() {
            // Its fires come by another time than those of the others, and are skipped.
            if self.hosts[host].clock_offset.abs() > FAR_OFF {
                self.incident();
            }
            let mono = &self.hosts[host].mono;
            if mono.speed == RIGHT {
                continue;
            }
            let moved = STEP as i64 * (mono.speed as i64 - RIGHT as i64) / RIGHT as i64;
            self.hosts[host].clock_offset += moved;
            self.hosts[host].mono.drifted += moved.unsigned_abs();
            if now >= self.hosts[host].mono.wrong_until {
                self.set_right(host);
                self.incident();
            }
            for host in self.of_process(host) {
                self.arm_anew(host)?;
            }
        }
        Ok(())
    }

    /// The clocks of a machine are right from now on.
    pub(super) fn set_right(&mut self, host: usize) {
        let (now, offset) = (self.now, self.rng.below(40) as i64);
        for host in self.of_process(host) {
            let Host { clock_offset, mono, .. } = &mut self.hosts[host];
            mono.change(now, RIGHT, mono.runs);
            mono.wall_set_at = now;
            *clock_offset = offset;
        }
    }

    /// What an engine waits for comes at another time than it looked like before.
    fn arm_anew(&mut self, host: usize) -> Result<(), String> {
        let at = self.hosts[host].now(self.now);
        let Some(process) = self.hosts[host].process.as_mut().filter(|process| !process.is_frozen()) else {
            return Ok(());
        };
        let life = process.life;
        let Some(timeout) = process.program.engine().map(|engine| engine.poll_timeout()) else { return Ok(()) };
        let has_come =
            timeout.wall.is_some_and(|wall| wall <= at.wall) || timeout.mono.is_some_and(|mono| mono <= at.mono);
        if has_come {
            self.wake_soon(host);
            return Ok(());
        }
        self.arm(host, life)
    }
}
