//! The wish that what runs of a job ends with a change of its registration: `?running=stop`. It is a node beside the registration,
//! written in the same transaction. The number of that transaction says which runs are meant: those that began before. So every
//! scheduler can obey it, also twice and late, and stops none of the runs that begin after the change.
//!
//! An embedded registry center numbers its transactions from the beginning in every process. So its file keeps the time of a wish, and
//! what runs from an earlier process is stopped where its fire is not of a later time.

use elasticjob::fire::Fire;
use elasticjob::registry::{CreateMode, NodeData, RegistryCenter, RegistryError, Transaction, Zxid};

use super::nodes::Node;
use super::registrations::Registered;

/// What becomes of what runs when a registration is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Running {
    /// It goes on, and is adopted with the new settings.
    GoesOn,
    /// It is stopped, with the grace of its job.
    IsStopped,
}

/// A wish that what runs of a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    /// The transaction that wrote it.
    pub(super) at: Zxid,
    /// When it was written, in milliseconds since 1970, where that was in an earlier process of an embedded registry center.
    restored: Option<i64>,
}

impl Wish {
    fn of(node: &NodeData) -> Self {
        let restored = node.data.text().and_then(|time| time.parse().ok());
        Self { at: node.stat.mzxid, restored }
    }

    /// One that counts for everything that either counts for.
    fn or(self, other: Self) -> Self {
        // One that was written in this process counts for all that earlier ones left.
        let restored = self.restored.zip(other.restored).map(|(one, other)| one.max(other));
        Self { at: self.at.max(other.at), restored }
    }

    /// Whether it counts for a run without a note, of this fire.
    pub(super) fn is_for_unnoted(&self, fire: Fire) -> bool {
        self.restored.is_none_or(|time| fire.at() <= time)
    }
}

/// What the file of an embedded registry center keeps of the node of a wish: when it was written.
pub(super) fn kept(node: &NodeData) -> String {
    Wish::of(node).restored.unwrap_or(node.stat.mtime).to_string()
}

/// Adds to a change of a registration that what runs of it is stopped.
pub(super) async fn wish(
    registry: &dyn RegistryCenter,
    change: &mut Transaction,
    node: &Node,
) -> Result<(), RegistryError> {
    let path = node.path();
    match registry.get(&path).await? {
        Some(_) => change.set(path, "", None),
        None => change.create(path, "", CreateMode::Persistent),
    };
    Ok(())
}

/// The last wish for a job, by itself or with its application, as the registry center has it now.
pub(super) async fn wished(
    registry: &dyn RegistryCenter,
    registered: &Registered,
) -> Result<Option<Wish>, RegistryError> {
    let Registered { app, job } = registered;
    let of_app = registry.get(&Node::StoppedApp(app.app_name.clone()).path());
    let of_job = registry.get(&Node::StoppedJob(job.job_name.clone()).path());
    let (of_app, of_job) = (of_app.await?, of_job.await?);
    Ok(of_app.iter().chain(&of_job).map(Wish::of).reduce(Wish::or))
}
