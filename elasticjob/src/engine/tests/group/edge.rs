//! Performs the actions of the engines on the tree, and tells the engines what happened there.

use super::{Group, Lost, job};
use crate::engine::{Action, Event};
use crate::registry::mirror::Watched;
use crate::registry::tree::TreeError;
use crate::registry::{CommitError, CreateMode, Op, TRANSACTION_LIMIT, Transaction, WatchEvent};

impl Group {
    pub(in crate::engine::tests) fn publish(&mut self, events: &[WatchEvent]) {
        for host in 0..self.hosts.len() {
            if self.hosts[host].connected {
                let watches = &self.hosts[host].watches;
                let is_told = |event: &&WatchEvent| {
                    Watched::telling(&job(), event).iter().any(|watched| watches.contains(watched))
                };
                let told = events.iter().filter(is_told);
                let told: Vec<_> = told.map(|event| (host, Event::Watch(event.clone()))).collect();
                self.hosts[host].told += told.len();
                self.events.extend(told);
            }
        }
    }

    /// The answer to a transaction, which proves the session.
    pub(super) fn answer(&mut self, host: usize, event: Event) {
        let (session, at) = (self.hosts[host].session, self.now());
        self.events.push_back((host, Event::Proven { session, at }));
        self.events.push_back((host, event));
    }

    pub(super) fn perform(&mut self, host: usize, action: Action) {
        let state = &mut self.hosts[host];
        match action {
            Action::List { generation, paths } => {
                for path in paths {
                    let children = Ok(self.tree.children(&path.absolute(&job())).unwrap());
                    self.events.push_back((host, Event::Listed { generation, path, children }));
                }
            }
            Action::Read { generation, paths } => {
                for path in paths {
                    self.hosts[host].reads += 1;
                    let node = Ok(self.tree.get(&path.absolute(&job())).unwrap());
                    self.events.push_back((host, Event::Read { generation, path, node }));
                }
            }
            Action::Watch(changes) => {
                state.watches_changed += 1;
                for watched in changes.add {
                    state.watches.insert(watched.clone());
                    self.events.push_back((host, Event::placed(&watched)));
                }
                self.hosts[host].watches.retain(|watched| !changes.drop.contains(watched));
            }
            Action::Commit(transaction) => self.commit(host, &transaction),
            Action::Prove if state.connected => {
                let proof = (state.session, self.now());
                self.events.push_back((host, Event::ProofAnswered(Some(proof))));
            }
            Action::Prove => state.asks_for_proof = true,
            Action::Start(start) => state.started.push(start),
            Action::AskToStop(items) => state.asked_to_stop.extend(items),
            Action::Cancel { items, .. } => state.cancelled.extend(items),
            Action::FollowJobs(jobs) => state.following = jobs,
            Action::CancelOnRequest { item, .. } => state.cancelled.push(item),
            Action::Abort(items) => state.aborted.extend(items),
            Action::CallListeners(call) => state.calls.push(call),
            Action::CancelListeners(round) => state.calls_cancelled.push(round),
            Action::AbortListeners(round) => state.calls_aborted.push(round),
            Action::AnswerTrigger(_, answer) => state.answers.push(answer),
            Action::Abandon(_) | Action::AnswerStart(_) => {}
            Action::Tell(notice) => state.notices.push(notice),
            Action::Stopped => state.stopped = true,
        }
    }

    fn commit(&mut self, host: usize, transaction: &Transaction) {
        let weight = transaction.ops().iter().map(|op| op.weight() + self.namespace_bytes).sum::<usize>();
        assert!(weight < TRANSACTION_LIMIT, "a server would drop the connection");
        let server_time = self.server_time();
        let state = &mut self.hosts[host];
        let lost = match state.answered_before.checked_sub(1) {
            Some(left) => {
                state.answered_before = left;
                Lost::No
            }
            None => std::mem::replace(&mut state.lost, Lost::No),
        };
        let why = "the connection was lost".into();
        if !state.connected {
            self.events.push_back((host, Event::Committed(Err(CommitError::NotReached { why }))));
            return;
        }
        if lost != Lost::BeforeItArrived {
            state.commits.push(transaction.ops().iter().map(describe).collect::<Vec<_>>().join("; "));
            let answer = self.tree.commit(state.session, transaction, server_time);
            let answer = answer.map(|(committed, events)| {
                self.publish(&events);
                committed
            });
            if let Err(TreeError::Refused { .. }) = answer {
                self.hosts[host].commits.pop();
            }
            if lost == Lost::No {
                self.answer(host, Event::Committed(answer.map_err(CommitError::from)));
                return;
            }
        }
        self.events.push_back((host, Event::Committed(Err(CommitError::Unknown { why }))));
    }
}

/// `+` creates (`~` ephemeral, `#` sequential), `=` sets, `-` deletes, `?` checks.
fn describe(op: &Op) -> String {
    let short = |path: &str| path.strip_prefix("/job/").unwrap_or("/").to_owned();
    let text =
        |data: &[u8]| if data.is_empty() { String::new() } else { format!(" {}", String::from_utf8_lossy(data)) };
    match op {
        Op::Check { path, .. } => format!("?{}", short(path)),
        Op::Create { path, data, mode } => {
            let sign = match mode {
                CreateMode::Persistent => "+",
                CreateMode::Ephemeral => "+~",
                CreateMode::EphemeralSequential => "+#",
            };
            format!("{sign}{}{}", short(path), text(data))
        }
        Op::Set { path, data, .. } => format!("={}{}", short(path), text(data)),
        Op::Delete { path, .. } => format!("-{}", short(path)),
    }
}
