//! Ends sessions as the leader of an ensemble does: by what it hears of their clients.
//!
//! A client speaks with each request, and with a ping when it said nothing for a while. A follower tells its leader twice a
//! tick whom it heard, so the leader may know of nothing that came in the last half tick. It counts the time-out from what it
//! heard last. What engines hear of the time-out is what the production back end makes of that.

use std::time::Duration;

use super::host::{Host, Millis, Process};
use super::world::World;
use crate::engine::Bug;
use crate::registry::{SessionId, lease};
use crate::testing::invariants::Observation;

/// How often the server looks for sessions that ended, and clients for whether they have to send a ping.
pub(super) const LOOK: Millis = 100;

impl World {
    /// How long a proof is good for in a session of this time-out.
    pub(super) fn held(&self, granted: Millis) -> Duration {
        let granted = Duration::from_millis(granted);
        if self.bug == Some(Bug::NoLease) { granted } else { lease::held(granted, Duration::ZERO) }
    }

    /// The time-out of the session of a process.
    fn granted(&self, process: &Process) -> Duration {
        let granted = process.session.map_or(self.session_timeout, |session| self.limits.of(session));
        Duration::from_millis(granted)
    }

    /// The server of a host heard of its client.
    pub(super) fn speak(&mut self, host: usize) {
        let now = self.now;
        let Some(heard_late) = self.hosts[host].process.as_ref().map(|process| self.heard_late(process)) else {
            return;
        };
        let Some(process) = self.hosts[host].process.as_mut() else { return };
        process.spoke.push_back(now);
        // What came before the last word that the leader knows of tells nothing more.
        while process.spoke.get(1).is_some_and(|next| *next + heard_late <= now) {
            process.spoke.pop_front();
        }
    }

    /// How late a leader hears of the clients of a follower.
    fn heard_late(&self, process: &Process) -> Millis {
        lease::heard_late(self.granted(process)).as_millis() as Millis
    }

    /// When the leader last heard of the client of a process, as it is connected to one server or the other.
    fn heard_of(&self, process: &Process) -> Option<Millis> {
        let late = if process.on_follower { self.heard_late(process) } else { 0 };
        process.spoke.iter().rev().find(|at| **at + late <= self.now).copied()
    }

    /// Clients that said nothing for too long say something.
    fn ping(&mut self) {
        let silence = |process: &Process| lease::silence(self.granted(process), Duration::ZERO).as_millis() as Millis;
        let is_silent = |host: &Host| {
            host.process.as_ref().is_some_and(|process| {
                let speaks = process.spoke.back().is_some_and(|last| last + silence(process) >= self.now + LOOK);
                !process.is_frozen() && process.connection.is_some() && !speaks
            })
        };
        let silent: Vec<usize> = (0..self.hosts.len()).filter(|host| is_silent(&self.hosts[*host])).collect();
        silent.into_iter().for_each(|host| self.speak(host));
    }

    /// The leader takes what its servers heard.
    fn hear(&mut self) {
        for host in 0..self.hosts.len() {
            let Some(process) = &self.hosts[host].process else { continue };
            let is_heard = process.connection.is_some() && !self.is_lagging(host);
            let session = process.session.filter(|session| is_heard && self.tree.session_timeout(*session).is_some());
            if let Some((session, at)) = session.zip(self.heard_of(process)) {
                let heard = self.heard.entry(session).or_insert(at);
                *heard = at.max(*heard);
            }
        }
    }

    /// For how long the leader has not heard of the client of a host.
    pub(super) fn unheard_for(&self, host: usize) -> Option<Millis> {
        let session = self.hosts[host].process.as_ref()?.session?;
        Some(self.now - self.heard.get(&session)?)
    }

    /// Whether the leader has heard nothing of a client for almost as long as that may be.
    pub(super) fn is_long_unheard(&self, host: usize) -> bool {
        let Some(granted) = self.hosts[host].process.as_ref().map(|process| self.granted(process)) else {
            return false;
        };
        let longest = (granted - lease::held(granted, Duration::ZERO)).as_millis() as Millis;
        self.unheard_for(host).is_some_and(|unheard| unheard * 20 >= longest * 19)
    }

    /// The leader ends the sessions of which it heard nothing for too long.
    pub(super) fn expire(&mut self) -> Result<(), String> {
        self.ping();
        self.hear();
        let now = self.now;
        let is_over = |(session, heard): &(&SessionId, &Millis)| now - **heard > self.limits.of(**session);
        let ended: Vec<SessionId> = self.heard.iter().filter(is_over).map(|(session, _)| *session).collect();
        ended.into_iter().try_for_each(|session| self.end_session(session))
    }

    pub(super) fn end_session(&mut self, session: SessionId) -> Result<(), String> {
        self.log(|_| format!("server ends session {session}"));
        self.heard.remove(&session);
        self.limits.forget(session);
        let events = self.tree.close_session(session);
        // Who left has taken everything along before; Java peers may have missed more than that by then.
        if !events.is_empty() || self.is_mixed() {
            self.incident();
        }
        self.publish(&events);
        self.observe(Observation::SessionEnded { session })
    }
}
