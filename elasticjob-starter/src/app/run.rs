//! Runs an application from its start to its end, with an ear for signals all the time.

use elasticjob::__private::log::{apart, info};
use elasticjob::runtime::ShutdownMode;

use super::signals::Signals;
use super::start::{prepare, start_jobs};
use super::{ElasticJobApp, ElasticJobAppBuilder, End};
use crate::AppError;

pub(super) async fn run<E: From<AppError>>(
    builder: ElasticJobAppBuilder,
    program: impl AsyncFnOnce(&ElasticJobApp) -> Result<(), E>,
) -> Result<(), E> {
    let mut signals = Signals::listen()?;
    // What is ready first counts: a carried run waits for nothing here, and what becomes of its items is said by itself.
    let mut app = tokio::select! {
        biased;
        app = prepare(builder) => app?,
        signal = signals.next() => {
            apart(move || info!("{signal} before a job was started: the program ends"));
            return Ok(());
        }
    };
    if let Some(run) = app.carried.take() {
        return Ok(run.run(app.grace, &mut signals).await?);
    }
    let end = tokio::select! {
        biased;
        started = start_jobs(&mut app) => match started {
            Ok(()) => None,
            Err(failed) => {
                app.leave(ShutdownMode::Now).await;
                return Err(failed.into());
            }
        },
        signal = signals.next() => Some(End::Signal(signal)),
    };
    let end = match end {
        Some(end) => end,
        None => app.ended(&mut signals, program(&app)).await,
    };
    app.leave_for(end, signals).await
}
