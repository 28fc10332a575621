//! Asks Slurm about all carried jobs at once, for all callers together.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use elasticjob::log::{info, warn};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::command::{Commands, Failed};
use super::queue::{self, Row};

/// The shortest pause between two questions. The controller has the jobs of other users to see to.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause is so many times as long as the answer took, so that a busy controller is asked less.
const RATIO: u32 = 10;

/// The pause while Slurm does not answer.
const ASK_AGAIN: Duration = Duration::from_secs(3);

/// What Slurm had at a time.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// When it was asked.
    pub(super) asked: Instant,
    /// The rows by name and index.
    rows: HashMap<String, BTreeMap<u32, Vec<Row>>>,
}

impl Snapshot {
    fn of(asked: Instant, all: Vec<Row>) -> Self {
        let mut rows: HashMap<String, BTreeMap<u32, Vec<Row>>> = HashMap::new();
        for row in all {
            rows.entry(row.name.clone()).or_default().entry(row.index).or_default().push(row);
        }
        Self { asked, rows }
    }

    /// The rows of an index of all arrays of a name.
    pub(super) fn rows(&self, name: &str, index: u32) -> &[Row] {
        self.rows.get(name).and_then(|rows| rows.get(&index)).map_or(&[], Vec::as_slice)
    }

    /// All rows whose names begin so.
    pub(super) fn beginning(&self, prefix: &str) -> impl Iterator<Item = &Row> {
        let named = self.rows.iter().filter(move |(name, _)| name.starts_with(prefix));
        named.flat_map(|(_, rows)| rows.values().flatten())
    }
}

type Answer = Result<Arc<Snapshot>, Failed>;

/// Asks Slurm.
#[derive(Debug)]
pub(super) struct Mirror {
    commands: Commands,
    wanted: Notify,
    /// The last answer, and when it was asked for.
    latest: watch::Sender<Option<(Instant, Answer)>>,
}

impl Mirror {
    pub(super) fn new(commands: Commands) -> Self {
        Self { commands, wanted: Notify::new(), latest: watch::Sender::new(None) }
    }

    /// What Slurm has now or later. Callers that ask at the same time share an answer. While Slurm does not answer, callers hear of it at
    /// once: its commands take long to find that out, and a page that asks for many launches would wait as often.
    pub(super) async fn now(&self) -> Answer {
        let since = Instant::now();
        let mut answers = self.latest.subscribe();
        if let Some((_, Err(failed))) = &*answers.borrow_and_update() {
            return Err(failed.clone());
        }
        self.wanted.notify_one();
        // A question of before that has no answer now has told enough.
        let is_fresh = |latest: &Option<(Instant, Answer)>| {
            latest.as_ref().is_some_and(|(asked, answer)| *asked >= since || answer.is_err())
        };
        match answers.wait_for(is_fresh).await.ok().and_then(|latest| latest.clone()) {
            Some((_, answer)) => answer,
            // The sender lives as long as this does.
            None => std::future::pending().await,
        }
    }

    /// Has Slurm asked soon.
    pub(super) fn wake(&self) {
        self.wanted.notify_one();
    }

    /// Asks Slurm whenever a caller wants to know, and again and again as long as `is_followed` or it does not answer. Each snapshot goes
    /// to `publish`.
    pub(super) async fn keep<F: Future<Output = ()>>(
        &self,
        is_followed: impl Fn() -> bool,
        publish: impl Fn(Arc<Snapshot>) -> F,
    ) {
        let (mut pause, mut away) = (PAUSE, None);
        loop {
            tokio::select! {
                () = self.wanted.notified() => {}
                () = tokio::time::sleep(pause), if away.is_some() || is_followed() => {}
            }
            let asked = Instant::now();
            let answer = match queue::rows(&self.commands).await {
                Ok(rows) => {
                    pause = PAUSE.max(asked.elapsed() * RATIO);
                    if away.take().is_some() {
                        info!("Slurm answers again");
                    }
                    let snapshot = Arc::new(Snapshot::of(asked, rows));
                    publish(snapshot.clone()).await;
                    Ok(snapshot)
                }
                Err(failed) => {
                    pause = ASK_AGAIN;
                    if away.is_none() {
                        warn!("Slurm did not report the state of its jobs, and is asked again: {}", failed.why());
                    }
                    Err(failed.since(*away.get_or_insert_with(Utc::now)))
                }
            };
            self.latest.send_replace(Some((asked, answer)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::scratch::Scratch;

    /// A mirror whose `squeue` is this script.
    fn mirror(scratch: &Scratch, script: &str) -> Arc<Mirror> {
        let file = scratch.path().join("squeue");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        Arc::new(Mirror::new(Commands { folder: Some(scratch.path().to_path_buf()), conf: None }))
    }

    fn kept(mirror: &Arc<Mirror>) -> tokio::task::JoinHandle<()> {
        let mirror = mirror.clone();
        tokio::spawn(async move { mirror.keep(|| false, async |_| ()).await })
    }

    #[tokio::test]
    async fn those_who_ask_at_the_same_time_share_an_answer() {
        let scratch = Scratch::new();
        let asked = scratch.path().join("asked");
        let script = format!("echo >>{}; echo '7|0|RUNNING|n1|1|0:01|None|ej-a'", asked.display());
        let mirror = mirror(&scratch, &script);
        let task = kept(&mirror);
        let all = futures_util::future::join_all((0..50).map(|_| mirror.now())).await;
        assert!(all.iter().all(|answer| answer.as_ref().unwrap().rows("ej-a", 0).len() == 1));
        let times = std::fs::read_to_string(asked).unwrap().lines().count();
        assert!(times <= 2, "asked {times} times");
        task.abort();
    }

    #[tokio::test]
    async fn while_slurm_does_not_answer_callers_hear_so_without_another_question_until_it_does() {
        let scratch = Scratch::new();
        let (asked, away) = (scratch.path().join("asked"), scratch.path().join("away"));
        std::fs::write(&away, "").unwrap();
        let script = format!(
            "echo >>{}; [ ! -e {} ] || {{ echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1; }}",
            asked.display(),
            away.display()
        );
        let mirror = mirror(&scratch, &script);
        let task = kept(&mirror);
        let first = mirror.now().await.unwrap_err();
        assert!(
            matches!(&first, Failed::NotReached(why) if why.contains("has not reported its jobs since 2")),
            "{first:?}"
        );
        for _ in 0..50 {
            assert_eq!(mirror.now().await.unwrap_err(), first);
        }
        let times = std::fs::read_to_string(&asked).unwrap().lines().count();
        assert!(times < 10, "asked {times} times");
        std::fs::remove_file(&away).unwrap();
        // No launch is followed and no caller asks, so it finds out by its own questions.
        let mut answers = mirror.latest.subscribe();
        let answered = answers.wait_for(|latest| latest.as_ref().is_some_and(|(_, answer)| answer.is_ok()));
        tokio::time::timeout(Duration::from_secs(60), answered).await.unwrap().unwrap();
        assert!(mirror.now().await.is_ok());
        task.abort();
    }

    #[tokio::test]
    async fn an_answer_is_never_older_than_the_question() {
        let scratch = Scratch::new();
        let state = scratch.path().join("state");
        std::fs::write(&state, "PENDING").unwrap();
        let mirror = mirror(&scratch, &format!("echo \"7|0|$(cat {})|n1|1|0:01|None|ej-a\"", state.display()));
        let task = kept(&mirror);
        for expected in ["PENDING", "RUNNING", "COMPLETED"] {
            std::fs::write(&state, expected).unwrap();
            let snapshot = mirror.now().await.unwrap();
            let state = format!("{:?}", snapshot.rows("ej-a", 0)[0].state).to_uppercase();
            assert!(state.contains(expected), "{state} is not {expected}");
        }
        std::fs::write(&state, "DANCING").unwrap();
        assert!(mirror.now().await.is_err());
        task.abort();
    }
}
