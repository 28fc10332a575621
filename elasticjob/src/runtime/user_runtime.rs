//! Notices when the runtime of the program ends: from then on nothing that a job starts runs. A job that stayed in its group
//! would begin each fire in vain, and take its own runs over again and again.

use std::sync::{Arc, Weak};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::running_jobs::Members;
use crate::log::{apart, warn};

/// Lets the jobs of an environment leave when the runtime of the program has ended. Ends itself with the environment.
pub(super) fn watch(user: &Handle, system: &Handle, members: &Arc<Members>) {
    let (mut alive, ended) = oneshot::channel::<()>();
    // A runtime that ends drops its tasks, and with this one the sender. The receiver goes with the runtime of coordination.
    user.spawn(async move { alive.closed().await });
    system.spawn(leave(ended, Arc::downgrade(members)));
}

async fn leave(ended: oneshot::Receiver<()>, members: Weak<Members>) {
    // Nothing is ever sent.
    let _ = ended.await;
    let Some(members) = members.upgrade() else { return };
    let jobs = members.end();
    if jobs > 0 {
        apart(move || {
            warn!(
                jobs,
                "the tokio runtime of the program has ended, and no item can run any more: the jobs leave; shut them down before \
                 the runtime ends"
            );
        });
    }
}
