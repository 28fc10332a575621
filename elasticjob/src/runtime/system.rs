//! The runtime of the library itself, beside the runtime of the program.

use std::io;

use tokio::runtime::{Builder, Handle, Runtime};

/// Name of its thread, as debuggers and `top -H` show it.
const THREAD_NAME: &str = "elasticjob-system";

/// Threads for calls that cannot be awaited, for example the look-up of a host name. They end when they are idle.
const MAX_BLOCKING_THREADS: usize = 4;

/// A small runtime with one thread. Registry connections, drivers and timers live on it, so that a job which blocks all
/// threads of the program's runtime costs neither the session nor the fires of other jobs.
///
/// Dropping it ends it, with all tasks on it. Asynchronous code may drop it too.
#[derive(Debug)]
pub struct SystemRuntime {
    /// Taken out only when dropped.
    runtime: Option<Runtime>,
    handle: Handle,
}

impl SystemRuntime {
    /// Starts the thread.
    ///
    /// # Errors
    /// The operating system gives no thread or no event queue.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(MAX_BLOCKING_THREADS)
            .thread_name(THREAD_NAME)
            .enable_all()
            .build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// The handle that spawns tasks on it.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for SystemRuntime {
    fn drop(&mut self) {
        // Dropping a tokio runtime waits for its threads, which panics inside another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn it_ticks_while_every_thread_of_the_user_is_blocked() {
        let system = SystemRuntime::start().unwrap();
        let user = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (unblock, blocked) = mpsc::channel::<()>();
        let (started, has_started) = mpsc::channel();
        user.spawn(async move {
            started.send(()).unwrap();
            let _ = blocked.recv_timeout(LONG);
        });
        has_started.recv_timeout(LONG).unwrap();

        let (ticked, has_ticked) = mpsc::channel();
        system.handle().spawn(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            ticked.send(std::thread::current().name().map(str::to_owned)).unwrap();
        });
        assert_eq!(has_ticked.recv_timeout(LONG).unwrap().as_deref(), Some(THREAD_NAME));
        unblock.send(()).unwrap();
    }

    #[tokio::test]
    async fn it_can_be_dropped_inside_another_runtime_and_takes_its_tasks_along() {
        let system = SystemRuntime::start().unwrap();
        let (held, dropped) = tokio::sync::oneshot::channel::<()>();
        system.handle().spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        drop(system);
        assert!(tokio::time::timeout(LONG, dropped).await.unwrap().is_err());
    }
}
