//! The actions of operators, and how they are drawn.

use super::happening::Happening;
use super::host::{EPOCH, Incoming, Program};
use super::shape::DEFAULT_TIME_DIFF;
use super::world::{OPERATOR, World};
use crate::config::{JobConfiguration, wire};
use crate::engine::Event;
use crate::fire::{CancelRequest, FireRecord, TraceParent};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::job_status::Activity;
use crate::registry::layout::{ItemNode, JobPath, ServerStatus};
use crate::registry::{CreateMode, Op, SessionId, Transaction, WatchEvent};

impl World {
    pub(super) fn configuration(&self, job: &JobName, total: u32) -> JobConfiguration {
        let after = self.runs_after_first(job).cloned();
        let builder = JobConfiguration::builder(job.as_str(), total);
        let builder = match &after {
            Some(after) => builder.depends_on([after.to_string()]),
            None => builder.cron(format!("0/{} * * * * ?", self.period)),
        };
        let builder = builder
            .monitor_execution(self.shape.monitored || after.is_some())
            .failover(self.shape.failover)
            .misfire(self.shape.misfire)
            .static_sharding(self.shape.static_sharding)
            .job_sharding_strategy_type(self.shape.strategy)
            // Java peers leave more behind that is only found by looking at everything again.
            .reconcile_interval_minutes(if self.shape.unheard || self.is_mixed() { 1 } else { 10 });
        let builder = match self.shape.max_time_diff {
            Some(DEFAULT_TIME_DIFF) => builder,
            limit => builder.max_time_diff_seconds(limit.map_or(-1, u32::cast_signed)),
        };
        let named = self.shape.listeners.named().fold(builder, |builder, name| builder.job_listener_type(name));
        named.build().expect("a valid configuration")
    }

    /// An operator writes the configuration in force, with another total count.
    pub(super) fn configure(&mut self, total: u32) {
        self.incident();
        self.total = total;
        let (now, period, shape) = (self.now, self.period, self.shape.clone());
        self.each_invariants(|invariants| invariants.configured(now, total, period, &shape));
        for job in self.jobs() {
            let yaml = wire::to_yaml(&self.configuration(&job, total));
            let root = JobPath::Root;
            if self.tree.get(&root.absolute(&job)).ok().flatten().is_none() {
                let mut transaction = Transaction::new();
                transaction.create(root.absolute(&job), "", CreateMode::Persistent);
                transaction.create(JobPath::Config.absolute(&job), "", CreateMode::Persistent);
                self.operate(&transaction);
            }
            let mut transaction = Transaction::new();
            transaction.set(JobPath::Config.absolute(&job), yaml.as_str(), None);
            self.operate(&transaction);
        }
    }

    /// An operator writes what cannot be used: nothing may change.
    pub(super) fn misconfigure(&mut self) {
        self.invariants.misconfigured();
        let bad = self.rng.pick(&[
            "cron: nonsense\njobName: job\nshardingTotalCount: 3\n",
            "",
            "- x",
            "jobName: job\nshardingTotalCount: 0\n",
        ]);
        self.operator_sets(&JobPath::Config, bad);
    }

    pub(super) fn disable_item(&mut self, item: ShardingItem) {
        let mut transaction = Transaction::new();
        let path = JobPath::Item(item, ItemNode::Disabled);
        transaction.create(path.absolute(&self.job), "", CreateMode::Persistent);
        self.operate(&transaction);
    }

    pub(super) fn enable_item(&mut self, item: ShardingItem) {
        self.incident();
        let mut transaction = Transaction::new();
        transaction.delete(JobPath::Item(item, ItemNode::Disabled).absolute(&self.job), None);
        self.operate(&transaction);
    }

    /// An operator cancels a run that goes on, by its record.
    pub(super) fn cancel_run(&mut self) {
        let record = |world: &Self, item| {
            let node = world.tree.get(&JobPath::fire(item).absolute(&world.job)).ok().flatten()?;
            Some((item, FireRecord::parse(&node.data), node.stat.version))
        };
        let mut running: Vec<_> = (0..self.total)
            .filter_map(|item| record(self, item))
            .filter_map(|(item, record, version)| {
                let asked = record.cancel(CancelRequest::new("operator", "drawn"))?;
                Some((item, record.last_fire()?, record.running()?.attempt.clone(), asked, version))
            })
            .collect();
        if running.is_empty() {
            return;
        }
        let drawn = self.rng.below(running.len() as u64) as usize;
        let (item, fire, attempt, asked, version) = running.swap_remove(drawn);
        let mut transaction = Transaction::new();
        transaction.set(JobPath::fire(item).absolute(&self.job), asked.to_bytes(), Some(version));
        if self.operate(&transaction) {
            self.count("run_cancelled");
            self.invariants.cancelled(self.now, item, fire, attempt);
        }
    }

    /// An operator deletes the node of the leader, whose session goes on.
    pub(super) fn delete_leader(&mut self) {
        self.incident();
        let mut transaction = Transaction::new();
        transaction.delete(JobPath::LeaderInstance.absolute(&self.job), None);
        self.operate(&transaction);
    }

    /// An operator deletes the node of an instance, which shall leave.
    pub(super) fn remove_instance(&mut self, host: usize) {
        let Some(process) = &self.hosts[host].process else { return };
        let (Some(session), life) = (process.session, process.life) else { return };
        let mut nonce = None;
        let (instance, registered) = match &process.program {
            Program::Engine(engine) => {
                nonce = Some(engine.identity().nonce);
                let status = engine.status();
                // One that does not know yet that it is in the group registers as if nothing had been there.
                let unregistered = [Activity::Joining, Activity::AwaitingRegistry, Activity::Rejoining];
                (status.instance, !unregistered.contains(&status.activity))
            }
            Program::Fallen(fallen) => (fallen.instance().clone(), false),
            // Java may overlook it: while it is paused, or when it makes the node again at that moment.
            Program::Java(java) => (java.id().clone(), false),
        };
        let instance = JobPath::Instance(instance);
        self.incident();
        let mut transaction = Transaction::new();
        transaction.delete(instance.absolute(&self.job), None);
        if self.operate(&transaction) && registered {
            // Time to see it over a cut, to let runs end, and to be cut off.
            let at = self.now + 45_000 + 2 * self.session_timeout;
            self.at(at, Happening::CheckRemoved { host, life, session, nonce });
        }
    }

    pub(super) fn check_removed(
        &mut self,
        host: usize,
        life: u64,
        session: SessionId,
        nonce: Option<u32>,
    ) -> Result<(), String> {
        let Some(process) = self.live(host, life) else { return Ok(()) };
        // In another session it is another registration, and so it is of an engine whose predecessor had not heard of it.
        let was_heard = process.heard_of_removal;
        let is_registration = process.program.engine().is_some_and(|engine| Some(engine.identity().nonce) == nonce);
        let same = process.session == Some(session)
            && process.connection.is_some()
            && !process.is_frozen()
            && (was_heard || is_registration);
        let leaving = process.program.engine().is_none_or(|engine| engine.status().activity == Activity::Leaving);
        if same && !leaving {
            return Err(format!("host {host} was removed by an operator and is still there"));
        }
        Ok(())
    }

    pub(super) fn operator_sets(&mut self, path: &JobPath, data: &str) {
        let mut transaction = Transaction::new();
        transaction.set(path.absolute(&self.job), data, None);
        self.operate(&transaction);
    }

    /// An operator damages the assignment, and no watch tells of it.
    pub(super) fn damage_unheard(&mut self) {
        // Until the leader reconciles, which it does once a minute then.
        for later in [0, 30_000, 60_000] {
            self.incident_in(later);
        }
        self.invariants.damaged(self.now);
        let item = self.rng.below(u64::from(self.total)) as u32;
        let mut transaction = Transaction::new();
        transaction.delete(JobPath::owner_of(item).absolute(&self.job), None);
        if self.tree.commit(OPERATOR, &transaction, EPOCH + self.now as i64).is_ok() {
            self.log(|_| format!("operator, unheard: deletes the owner of item {item}"));
        }
    }

    /// An operator makes nodes by hand below nodes of the job, which the group has to delete one day.
    pub(super) fn make_foreign_nodes(&mut self) {
        let item = self.rng.below(u64::from(self.total) + 3) as u32;
        let gone = InstanceId::of_process(&format!("10.0.9.{}", self.rng.below(3)), 1);
        let nodes = [
            JobPath::Server(gone.server_ip().into()),
            JobPath::Trigger(gone),
            JobPath::Item(item, ItemNode::Misfire),
            JobPath::Item(item, ItemNode::Failovering),
            JobPath::Item(item, ItemNode::Instance),
            JobPath::fire(item),
            JobPath::Item(item, ItemNode::Other(Box::new("note".into()))),
            JobPath::running(item),
            JobPath::FailoverItem(item),
            JobPath::Necessary,
        ];
        let above = &nodes[self.rng.below(nodes.len() as u64) as usize];
        let absolute = above.absolute(&self.job);
        if matches!(above, JobPath::Server(_) | JobPath::Trigger(_) | JobPath::Item(_, ItemNode::Other(_))) {
            let mut transaction = Transaction::new();
            transaction.create(&absolute, ServerStatus::Enabled.as_str(), CreateMode::Persistent);
            self.operate(&transaction);
        }
        for below in ["by-hand", "by-hand/deeper"] {
            let mut transaction = Transaction::new();
            transaction.create(format!("{absolute}/{below}"), "", CreateMode::Persistent);
            // An ephemeral node, and one that is not there, has no children.
            if self.operate(&transaction) {
                self.incident();
            }
        }
    }

    /// An operator copies nodes of instances here from another place, where they were ephemeral.
    pub(super) fn copy_ephemeral_nodes(&mut self) {
        let host = self.rng.below(self.hosts.len() as u64) as usize;
        let instance = InstanceId::of_process(&self.hosts[host].ip, 9);
        let nodes = [
            JobPath::Instance(instance),
            JobPath::Candidate("_c_copied-latch-0000000000".into()),
            JobPath::Session(SessionId(0x0dd)),
        ];
        self.incident();
        for node in nodes {
            let mut transaction = Transaction::new();
            transaction.create(node.absolute(&self.job), "", CreateMode::Persistent);
            self.operate(&transaction);
        }
    }

    /// Whether it was applied.
    pub(super) fn operate(&mut self, transaction: &Transaction) -> bool {
        let Ok((_, events)) = self.tree.commit(OPERATOR, transaction, EPOCH + self.now as i64) else { return false };
        self.log(|_| format!("operator: {}", transaction.ops().iter().map(describe).collect::<Vec<_>>().join(", ")));
        self.publish(&events);
        true
    }

    /// Sometimes a host triggers the job while another one joins, to which items may move meanwhile.
    pub(super) fn trigger_beside_a_joiner(&mut self, events: &[WatchEvent]) {
        let joins = |event: &WatchEvent| match event {
            WatchEvent::Created(path) => matches!(JobPath::parse(&self.job, path), Some(JobPath::Instance(_))),
            _ => false,
        };
        if self.now < self.faults_until && events.iter().any(joins) && self.rng.one_in(4) {
            self.count("triggered_beside_a_joiner");
            let host = self.rng.below(self.machines() as u64) as usize;
            let at = self.now + self.rng.below(2 * self.latency + 2);
            self.at(at, Happening::Trigger { host });
        }
    }

    pub(super) fn trigger(&mut self, host: usize) {
        let id = self.next_serial();
        if let Some(process) = &self.hosts[host].process {
            let life = process.life;
            // Of every other caller a trace context is known, which runs and takeovers have to keep.
            let trace_parent = id.is_multiple_of(2).then(|| TraceParent::new(u128::from(id) + 1, id + 1, 1)).flatten();
            self.receive(host, life, Incoming::Event(Event::Trigger(id, trace_parent)));
        }
    }
}

pub(super) fn describe(op: &Op) -> String {
    let text = |data: &[u8]| String::from_utf8_lossy(data).replace('\n', "\\n");
    match op {
        Op::Check { path, .. } => format!("check {path}"),
        Op::Create { path, data, .. } => format!("create {path}={}", text(data)),
        Op::Set { path, data, version } => format!("set {path}@{version:?}={}", text(data)),
        Op::Delete { path, .. } => format!("delete {path}"),
    }
}
