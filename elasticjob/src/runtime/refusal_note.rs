//! Tells operators in the registry center that this instance refuses the configuration there.
//!
//! The runtime writes the note, and not a rule of the engine: nothing is decided by it, so it needs no guard, must not hold up a
//! transaction of the job, and may come late. It costs requests only while a configuration is refused.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::engine::Refused;
use crate::ident::{InstanceId, JobName};
use crate::job_status::ConfigurationRefusal;
use crate::registry::layout::JobPath;
use crate::registry::note::put_note;
use crate::registry::{RegistryCenter, SessionId, SessionState};
use crate::runtime::environment::JobEnvironment;
use crate::secret::mask_inside;

/// The most characters of a reason in a note.
const MOST: usize = 2_000;

/// The pause after a write that failed; it doubles with each one.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A note, and the session in which it stands.
type Noted = (SessionId, ConfigurationRefusal);

/// The note of one job. Dropping it deletes the note.
pub(super) struct RefusalNote {
    refused: Refused,
    wanted: watch::Sender<Option<Noted>>,
}

impl RefusalNote {
    /// Notes this from now on.
    pub(super) fn new(
        environment: &JobEnvironment,
        registry: &Arc<dyn RegistryCenter>,
        job: &JobName,
        instance: &InstanceId,
        refused: Refused,
    ) -> Self {
        let (wanted, receiver) = watch::channel(Some(noted(environment, instance, &refused)));
        environment.system().spawn(keep(registry.clone(), job.clone(), receiver));
        Self { refused, wanted }
    }

    /// Notes this in place of what was noted, where it differs.
    pub(super) fn renew(&mut self, environment: &JobEnvironment, instance: &InstanceId, refused: Refused) {
        if self.refused != refused {
            self.wanted.send_replace(Some(noted(environment, instance, &refused)));
            self.refused = refused;
        }
    }
}

impl Drop for RefusalNote {
    fn drop(&mut self) {
        self.wanted.send_replace(None);
    }
}

fn noted(environment: &JobEnvironment, instance: &InstanceId, refused: &Refused) -> Noted {
    let Refused { session, version, why, joined } = refused;
    let why = mask_inside(why).chars().take(MOST).collect();
    (*session, ConfigurationRefusal::new(instance.clone(), *version, *joined, why, environment.now().wall))
}

/// Keeps the node as it is wanted, until no note is wanted any more and none is there.
async fn keep(registry: Arc<dyn RegistryCenter>, job: JobName, mut wanted: watch::Receiver<Option<Noted>>) {
    let mut last = None;
    let mut pause = PAUSE;
    loop {
        let want = wanted.borrow_and_update().clone();
        last = want.as_ref().map(|(session, _)| *session).or(last);
        let Some(session) = last else { return };
        match put(&*registry, &job, session, want.as_ref().map(|(_, note)| note)).await {
            true if want.is_none() => return,
            true => {
                pause = PAUSE;
                // The sender says `None` before it is gone.
                if wanted.changed().await.is_err() {
                    return;
                }
            }
            // A session that has ended took the note with it.
            false if is_closed(&*registry) => return,
            false => {
                // What is wanted meanwhile is written at once.
                let _ = timeout(pause, changed(&mut wanted)).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Whether the node is as it is wanted.
async fn put(
    registry: &dyn RegistryCenter,
    job: &JobName,
    session: SessionId,
    note: Option<&ConfigurationRefusal>,
) -> bool {
    if note.is_some() {
        match registry.get(&JobPath::Root.absolute(job)).await {
            Ok(Some(_)) => {}
            // The job was removed: a note would make it again.
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
    let data = note.map(|note| serde_json::to_string(note).expect("texts and numbers have a JSON form"));
    put_note(registry, job, &JobPath::Refusal(session), data).await.is_ok()
}

fn is_closed(registry: &dyn RegistryCenter) -> bool {
    *registry.session().borrow() == SessionState::Closed
}

/// Completes with the next change; never when there is no sender any more.
async fn changed(wanted: &mut watch::Receiver<Option<Noted>>) {
    if wanted.changed().await.is_err() {
        std::future::pending().await
    }
}
