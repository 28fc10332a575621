//! Real processes that share jobs on a real ZooKeeper, faults chosen by a seed, and what the records of all show.

mod actor;
mod ensemble;
mod jobs;
mod operator;
mod plan;
mod report;
mod server;

use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use self::report::Report;

use self::actor::Actor;
use self::plan::Plan;
use self::server::Server;
use crate::records::now_us;
use crate::worker::Bug;

/// After how long without a sign of life the server ends a session. Any server grants that: it is twice a tick of 2 s.
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(4);

/// How long the group may take to run everything again after the last fault.
const CONVERGENCE: Duration = Duration::from_secs(60);

/// How long it goes on without faults at the end.
const CALM: Duration = Duration::from_secs(8);

/// What to play.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The program that takes the plan of a worker as its last argument, and the arguments before it.
    pub worker: (PathBuf, &'static [&'static str]),
    /// For how long faults are made.
    pub time: Duration,
    /// How many processes there are.
    pub instances: usize,
    /// How many of them are of the Java release.
    pub java: usize,
    /// Which faults are made when.
    pub seed: u64,
    /// What they share their jobs on.
    pub servers: Servers,
    /// What the workers do wrong.
    pub bug: Option<Bug>,
}

/// What a group shares its jobs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Servers {
    /// One server, which is started, stopped and frozen.
    One,
    /// An ensemble of three servers, which are killed, frozen, and cut off from each other.
    Ensemble,
    /// A server that is there, and is left alone.
    Given(String),
}

/// Plays it.
///
/// # Errors
/// When there is no server, or the group never comes to work in the first place.
pub async fn play(settings: Settings) -> Result<Report, String> {
    let server = Server::new(&settings).await?;
    let scope = server.scope();
    let mut actor = Actor::start(&settings, server).await?;
    let from_us = actor.converged(0, CONVERGENCE).await.ok_or("the group does not come to work")?;
    let deadline = Instant::now() + settings.time;
    for planned in Plan::new(settings.seed, settings.instances, scope) {
        tokio::time::sleep(planned.pause.min(deadline.saturating_duration_since(Instant::now()))).await;
        if Instant::now() >= deadline {
            break;
        }
        actor.perform(planned).await;
    }
    actor.heal().await;
    if actor.converged(now_us(), CONVERGENCE).await.is_none() {
        actor.complain(format!("the group does not come to work again within {CONVERGENCE:?} after the last fault"));
    }
    tokio::time::sleep(CALM).await;
    let until_us = now_us();
    actor.stop().await;
    Ok(Report::new(actor, from_us, until_us))
}
