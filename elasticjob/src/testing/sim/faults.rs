//! The faults of a simulated group, and how they are drawn.

use std::collections::BTreeMap;

use super::happening::Happening;
use super::world::World;
use crate::registry::layout::{JobPath, ServerStatus};
use crate::sharding::SINGLE_SHARDING_BALANCE;

/// The number of times that each fault happened.
#[derive(Debug, Clone, Default)]
pub struct FaultCounts(pub BTreeMap<&'static str, u64>);

impl FaultCounts {
    /// Adds one.
    pub fn count(&mut self, fault: &'static str) {
        *self.0.entry(fault).or_default() += 1;
    }

    /// Adds those of another history.
    pub fn add(&mut self, other: &Self) {
        for (fault, count) in &other.0 {
            *self.0.entry(fault).or_default() += count;
        }
    }
}

impl World {
    /// Lets one thing go wrong, or lets an operator do something.
    pub(super) fn inject(&mut self) -> Result<(), String> {
        let host = self.rng.below(self.machines() as u64) as usize;
        let running = self.hosts[host].process.is_some();
        let fault = self.rng.below(49);
        if self.is_spared(fault) {
            return Ok(());
        }
        match fault {
            0 | 1 if running => {
                let same_id = self.rng.one_in(2);
                let delay = self.rng.between(100, 2 * self.session_timeout);
                self.count(if same_id { "crash_same_id" } else { "crash_new_id" });
                self.crash(host, same_id, delay);
            }
            2..=5 if running => {
                self.count("connection_cut");
                let outage = self.rng.between(50, 2 * self.session_timeout);
                self.cut(host, outage);
            }
            6 | 7 if running => {
                self.count("freeze");
                let duration = self.rng.between(200, 3 * self.session_timeout);
                self.freeze(host, duration);
            }
            8 if running => {
                self.count("session_expired_by_server");
                self.expire_silently(host);
            }
            9 => {
                self.count("clock_step");
                let step = self.rng.between(1, 8_000) as i64;
                let offset = if self.rng.one_in(2) { step } else { -step };
                self.set_clock(host, offset);
            }
            10 => {
                self.count("total_changed");
                let total = self.rng.between(1, 7) as u32;
                self.configure(total);
            }
            11 | 12 if running => {
                self.count("graceful_leave");
                let delay = self.rng.between(100, 20_000);
                let host = self.one_job_of(host);
                self.leave(host);
                self.restart_later(host, false, delay);
            }
            13 | 14 => {
                self.count("manual_trigger");
                self.trigger(host);
            }
            15 => {
                let ip = self.hosts[host].ip.clone();
                let server = JobPath::Server(ip.as_str().into());
                self.count("server_disabled_or_enabled");
                let disabled = self.rng.one_in(2);
                let status = if disabled { ServerStatus::Disabled } else { ServerStatus::Enabled };
                self.operator_sets(&server, status.as_str());
                self.incident();
                if disabled && self.rng.one_in(2) {
                    self.count("server_disabled_for_a_moment");
                    let later = self.now + self.rng.between(200, 6_000);
                    self.at(later, Happening::EnableServer { host });
                }
            }
            16 | 17 => {
                self.count("answers_lost");
                self.lose_answers = self.rng.between(1, 4);
            }
            18 => {
                self.count("period_changed");
                if running && self.rng.one_in(2) {
                    // It hears of the change only after fires of the new schedule.
                    self.count("period_changed_in_a_cut");
                    let outage = self.rng.between(1_000, 2 * self.session_timeout);
                    self.cut(host, outage);
                }
                self.period = self.rng.pick(&[1, 2, 5, 10, 30]);
                let total = self.total;
                self.configure(total);
            }
            19 => {
                self.count("invalid_configuration");
                self.misconfigure();
            }
            20 => {
                self.count("item_disabled_or_enabled");
                let item = self.rng.below(u64::from(self.total)) as u32;
                if self.rng.one_in(2) {
                    self.disable_item(item);
                } else {
                    self.enable_item(item);
                }
            }
            21 if running => {
                self.count("instance_removed");
                self.remove_instance(host);
            }
            22 => {
                self.count("restart_storm");
                for host in 0..self.machines() {
                    let (same_id, delay) = (self.rng.one_in(2), self.rng.below(3_000));
                    if self.hosts[host].process.is_some() {
                        self.crash(host, same_id, delay);
                    }
                }
            }
            23 => {
                self.count("slow_network");
                self.latency = self.rng.between(2, 400);
            }
            24 if self.shape.monitored => {
                self.count("failover_switched");
                self.shape.failover = !self.shape.failover;
                let total = self.total;
                self.configure(total);
            }
            25 => {
                self.count("misfire_switched");
                self.shape.misfire = !self.shape.misfire;
                let total = self.total;
                self.configure(total);
            }
            26 if self.shape.unheard => {
                self.count("unheard_damage");
                self.damage_unheard();
            }
            27 if !self.shape.listeners.is_none() => {
                self.count("listeners_switched");
                self.switch_listeners();
            }
            // A turn of an item is only known where its runs are.
            28 if self.shape.strategy != SINGLE_SHARDING_BALANCE => {
                self.count("monitoring_switched");
                self.shape.monitored = !self.shape.monitored;
                self.shape.failover &= self.shape.monitored;
                let total = self.total;
                self.configure(total);
            }
            29 => {
                self.count("leader_deleted");
                self.delete_leader();
            }
            30..=32 if running => {
                let host = self.one_job_of(host);
                self.drop_engine(host)?;
            }
            33 if running => {
                let duration = self.rng.between(200, 3 * self.session_timeout);
                let set_back = self.rng.one_in(2).then(|| self.rng.between(1, 200));
                self.suspend_and_set_back(host, duration, set_back);
            }
            34..=36 => {
                self.count("clocks_of_another_speed");
                self.drift(host);
            }
            38 => {
                let longer_than_a_session = self.session_timeout + 2_000;
                self.ambush = Some(longer_than_a_session);
            }
            37 => {
                self.count("lagging_follower");
                let duration = self.rng.between(200, 2 * self.session_timeout);
                self.lag(duration);
            }
            // Java leaves such a transaction half done, and gives items to such an instance.
            39..=41 if !self.is_mixed() => {
                self.count("foreign_nodes");
                self.make_foreign_nodes();
            }
            42 if !self.is_mixed() => {
                self.count("nodes_without_session");
                self.copy_ephemeral_nodes();
            }
            43 if self.may_be_far_off(host) => {
                self.count("clock_far_off");
                let step = self.rng.between(120_000, 3_600_000) as i64;
                let offset = if self.rng.one_in(3) { -step } else { step };
                self.set_clock(host, offset);
            }
            44 => self.begin_ahead(),
            47 | 48 if !self.is_mixed() => self.cancel_run(),
            _ => {
                self.count("fast_network");
                self.latency = self.rng.between(1, 5);
            }
        }
        Ok(())
    }
}
