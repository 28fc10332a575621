//! Starts tasks on the runtime of the program, those of many jobs together.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::yield_now;

/// A task that is not started yet.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts tasks on the runtime of the program. Cheap to clone.
///
/// A thread of the program that has nothing to do sleeps, and to wake it takes a call of the system, which costs as much as
/// the whole decision of a job. Where thousands of jobs begin at the same moment, each item would end before the next one
/// is started, and each would wake a thread. So the tasks of jobs that are ready at the same moment are started together.
/// None waits for longer than the jobs take that are ready, some dozens of them at a time.
#[derive(Debug, Clone)]
pub struct Launcher(Arc<Shared>);

struct Shared {
    waiting: Mutex<Vec<Task>>,
    /// Rings when there may be a task, or the last launcher is gone.
    bell: Arc<Notify>,
}

impl Launcher {
    /// Starts tasks on `runtime`. Its own task runs on `system`, as the drivers of jobs do.
    pub fn start(system: &Handle, runtime: Handle) -> Self {
        let bell = Arc::new(Notify::new());
        let shared = Arc::new(Shared { waiting: Mutex::default(), bell: bell.clone() });
        system.spawn(run(Arc::downgrade(&shared), bell, runtime));
        Self(shared)
    }

    /// Starts a task in a moment.
    pub fn launch(&self, task: Task) {
        self.0.waiting().push(task);
        self.0.bell.notify_one();
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Vec<Task>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launcher").field("waiting", &self.waiting().len()).finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.bell.notify_one();
    }
}

async fn run(shared: Weak<Shared>, bell: Arc<Notify>, runtime: Handle) {
    loop {
        bell.notified().await;
        // The runtime lets other tasks run before this one goes on: drivers that are ready add their tasks.
        yield_now().await;
        let Some(launcher) = shared.upgrade() else { return };
        let tasks = std::mem::take(&mut *launcher.waiting());
        drop(launcher);
        for task in tasks {
            runtime.spawn(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tokio::sync::mpsc::unbounded_channel;
    use tokio::time::timeout;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn each_task_is_started_once_in_its_order() {
        let launcher = Launcher::start(&Handle::current(), Handle::current());
        let (sender, mut started) = unbounded_channel();
        for number in 0..100 {
            let sender = sender.clone();
            launcher.launch(Box::pin(async move { sender.send(number).unwrap() }));
        }
        for number in 0..100 {
            assert_eq!(timeout(LONG, started.recv()).await.unwrap(), Some(number));
        }
        launcher.launch(Box::pin(async move { sender.send(100).unwrap() }));
        assert_eq!(timeout(LONG, started.recv()).await.unwrap(), Some(100));
        assert_eq!(timeout(LONG, started.recv()).await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_is_ready_at_the_same_moment_is_started_together() {
        let launcher = Launcher::start(&Handle::current(), Handle::current());
        let ready = Arc::new(AtomicUsize::new(0));
        let (sender, mut seen) = unbounded_channel();
        for _ in 0..20 {
            let (launcher, ready, sender) = (launcher.clone(), ready.clone(), sender.clone());
            tokio::spawn(async move {
                ready.fetch_add(1, Ordering::Relaxed);
                launcher.launch(Box::pin(async move { sender.send(ready.load(Ordering::Relaxed)).unwrap() }));
            });
        }
        for _ in 0..20 {
            assert_eq!(timeout(LONG, seen.recv()).await.unwrap(), Some(20), "how many were ready at the first start");
        }
    }

    #[tokio::test]
    async fn it_ends_with_the_last_launcher() {
        let (bell, held) = (Arc::new(Notify::new()), Arc::new(()));
        let shared = Arc::new(Shared { waiting: Mutex::default(), bell: bell.clone() });
        let (weak, still_held) = (Arc::downgrade(&shared), held.clone());
        let ends = tokio::spawn(async move {
            run(weak, bell, Handle::current()).await;
            drop(still_held);
        });
        let launcher = Launcher(shared);
        drop(launcher.clone());
        drop(launcher);
        timeout(LONG, ends).await.unwrap().unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
