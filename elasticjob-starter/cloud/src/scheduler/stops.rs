//! The wish that what runs of a job ends with a change of its registration: `?running=stop`. It is a node beside the registration,
//! written in the same transaction. The number of that transaction says which runs are meant: those that began before. So every
//! scheduler can obey it, also twice and late, and stops none of the runs that begin after the change.

use elasticjob::registry::{CreateMode, RegistryCenter, RegistryError, Transaction, Zxid};

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
) -> Result<Option<Zxid>, RegistryError> {
    let Registered { app, job } = registered;
    let of_app = registry.get(&Node::StoppedApp(app.app_name.clone()).path());
    let of_job = registry.get(&Node::StoppedJob(job.job_name.clone()).path());
    let (of_app, of_job) = (of_app.await?, of_job.await?);
    Ok(of_app.into_iter().chain(of_job).map(|node| node.stat.mzxid).max())
}
