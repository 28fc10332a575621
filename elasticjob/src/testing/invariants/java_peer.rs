//! Checks the duties to Java peers, also while there are none: data that they can read, marks that are respected, and
//! an assignment whose last transaction ends their wait.

use std::collections::BTreeMap;

use super::{Observation, Scene};
use crate::ident::JobName;
use crate::registry::layout::{ItemNode, JobPath, ServerStatus, candidate_number, instance_yaml};
use crate::registry::{CreateMode, Op, SessionId, Transaction};
use crate::testing::sim::check_configuration;

#[derive(Debug)]
pub(super) struct JavaPeer {
    /// What is wrong with the transaction that the server is about to try, should it be applied.
    verdict: Result<(), String>,
    /// Servers of Java instances that have still to make their own nodes, and their sessions.
    servers: BTreeMap<Box<str>, SessionId>,
}

impl JavaPeer {
    pub(super) fn new() -> Self {
        Self { verdict: Ok(()), servers: BTreeMap::new() }
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committing { host: Some(host), transaction, .. } if !scene.is_java(*host) => {
                self.verdict = judge(scene, &self.servers, *host, transaction);
                Ok(())
            }
            Observation::Committed { host: Some(host), transaction, session, .. } if scene.is_java(*host) => {
                for op in transaction.ops() {
                    match (op, JobPath::parse(scene.job, op.path())) {
                        (Op::Create { .. } | Op::Set { .. }, Some(JobPath::Server(ip))) => {
                            self.servers.insert(ip, *session);
                        }
                        (Op::Create { .. }, Some(JobPath::Instance(id))) => {
                            self.servers.remove(id.server_ip());
                        }
                        _ => {}
                    }
                }
                Ok(())
            }
            Observation::Committed { host: Some(host), .. } if !scene.is_java(*host) => {
                std::mem::replace(&mut self.verdict, Ok(()))
            }
            _ => Ok(()),
        }
    }
}

fn judge(
    scene: &Scene<'_>,
    servers: &BTreeMap<Box<str>, SessionId>,
    host: usize,
    transaction: &Transaction,
) -> Result<(), String> {
    let deletes = |path: &JobPath| {
        let path = path.absolute(scene.job);
        transaction.ops().iter().any(|op| matches!(op, Op::Delete { path: deleted, .. } if *deleted == path))
    };
    let mut assigns = false;
    for op in transaction.ops() {
        let path = JobPath::parse(scene.job, op.path());
        if let (Op::Delete { .. }, Some(JobPath::Server(ip))) = (op, &path)
            && servers.get(ip).is_some_and(|session| scene.tree.session_timeout(*session).is_some())
        {
            return Err(format!(
                "host {host} deletes servers/{ip}: the Java instance that starts there never runs then"
            ));
        }
        assigns |= matches!(path, Some(JobPath::Item(_, ItemNode::Instance))) && !matches!(op, Op::Check { .. });
        let (Op::Create { data, .. } | Op::Set { data, .. }) = op else { continue };
        let Some(path) = path else { continue };
        let text = std::str::from_utf8(data).map_err(|_| format!("host {host} writes what is no text to {path}"))?;
        written(scene, &path, text, op, deletes(&path))
            .map_err(|why| format!("host {host} writes {path}={text}: {why}"))?;
    }
    // Of several transactions only the last one ends their wait; the others see to it that they go on waiting.
    let request = JobPath::Necessary.absolute(scene.job);
    let checks = |op: &Op| matches!(op, Op::Check { path, version: Some(_) } if *path == request);
    let goes_on = transaction.ops().iter().any(checks);
    if assigns && !goes_on && scene.text(&JobPath::Necessary).is_some() && !deletes(&JobPath::Necessary) {
        return Err(format!("host {host} assigns items and leaves Java peers waiting for the end of it"));
    }
    Ok(())
}

fn written(scene: &Scene<'_>, path: &JobPath, text: &str, op: &Op, deletes: bool) -> Result<(), String> {
    match path {
        JobPath::Processing => Err("peers would wait for the end of this session".to_owned()),
        JobPath::Config => check_configuration(scene.job, text),
        JobPath::Server(_) if ServerStatus::written(Some(text)).is_none() => {
            Err("anything but ENABLED costs them a second, and counts as disabled".to_owned())
        }
        // A node that is deleted at once is a guard: it makes sure that there is none.
        JobPath::Instance(_) if deletes => Ok(()),
        JobPath::Instance(id) if text != instance_yaml(id) || is_persistent(op) => {
            Err("they need an ephemeral node with id and server".to_owned())
        }
        JobPath::Candidate(name) if !candidate_number(name).is_empty() => {
            Err("they sort candidates by what follows `latch-`".to_owned())
        }
        // Marks of dead instances may be replaced. Another invariant looks at the marks of our own instances.
        JobPath::Item(_, ItemNode::Running) => match scene.text(path) {
            Some(other) if scene.java_ids.contains(&other) && is_online(scene, &other) => {
                Err(format!("{other} runs it"))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn is_persistent(op: &Op) -> bool {
    matches!(op, Op::Create { mode, .. } if *mode != CreateMode::Ephemeral)
}

fn is_online(scene: &Scene<'_>, id: &str) -> bool {
    id.parse().is_ok_and(|id| scene.text(&JobPath::Instance(id)).is_some())
}

/// The ids a transaction registers.
pub(super) fn registered(job: &JobName, transaction: &Transaction) -> impl Iterator<Item = String> {
    transaction.ops().iter().filter_map(|op| match (op, JobPath::parse(job, op.path())) {
        (Op::Create { .. }, Some(JobPath::Instance(id))) => Some(id.to_string()),
        _ => None,
    })
}
