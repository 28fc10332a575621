//! The processes of a `DAEMON` job on a model of Slurm.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;

use super::super::daemons::{Keeping, in_order};
use super::model::Model;
use super::*;

/// A job whose program notes its process id.
struct Resident {
    model: Model,
    app: Arc<App>,
    job: Arc<CarriedJob>,
}

impl Resident {
    fn new() -> Self {
        let model = Model::new();
        let app = Arc::new(model.app("echo $$ >>$DIR/runs; exec sleep 600"));
        let job = json!({ "jobName": "resident", "appName": "long", "jobExecutionType": "DAEMON", "cpuCount": 0.1,
                          "memoryMB": 1, "shardingTotalCount": 2, "cron": "0 0 3 * * ?" });
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        Self { model, app, job }
    }

    fn daemon(&self, instances: u32) -> Daemon {
        Daemon { app: self.app.clone(), job: self.job.clone(), instances, registry_center: None }
    }

    /// A carrier that keeps one process.
    async fn kept(&self) -> SlurmCarrier {
        let carrier = self.model.carrier().await;
        carrier.keep(self.daemon(1)).await.unwrap();
        self.until_runs(1).await;
        carrier
    }

    async fn until_runs(&self, times: usize) {
        until(async || self.model.lines("runs") == times).await;
    }

    /// The process that began last.
    fn last(&self) -> String {
        fs::read_to_string(self.model.file("runs")).unwrap().lines().last().unwrap().to_owned()
    }

    fn name(&self) -> String {
        self.model.jobs()[0].2.clone()
    }

    /// Submits the process once more with this keeper, and returns the process id of that.
    fn submit_again(&self, keeper: &Path) -> String {
        let name = self.name();
        let folder = self.model.file("work").join("daemons").join(&name);
        let [job, keeper] = [format!("--job-name={name}"), keeper.display().to_string()];
        self.model.run("sbatch", &[&job, "--array=0", &keeper, "daemon", &folder.display().to_string()]);
        self.model.jobs().pop().unwrap().1
    }

    fn claims(&self) -> PathBuf {
        let daemons = self.model.file("work").join("daemons");
        let name = self.name();
        daemons.join(format!("{}-claims", name.rsplit_once('-').unwrap().0)).join("0")
    }

    fn keeper(&self) -> PathBuf {
        self.model.file("work").join("daemons").join(self.name()).join("keeper.sh")
    }
}

/// Whether a process is there. One that has ended may stay as a zombie.
fn is_there(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_arrays_of_a_process_the_second_runs_nothing() {
    let resident = Resident::new();
    let _carrier = resident.kept().await;
    let late = resident.submit_again(&resident.keeper());
    until(async || !is_there(&late)).await;
    assert_eq!(resident.model.lines("runs"), 1);
    assert!(is_there(&resident.last()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_second_array_of_a_process_leaves_the_first() {
    let resident = Resident::new();
    let _carrier = resident.kept().await;
    // It ends when it is asked, and not by itself.
    let lasting = resident.model.file("lasting.sh");
    fs::write(&lasting, "exec sleep 600\n").unwrap();
    let late = resident.submit_again(&lasting);
    until(async || !is_there(&late)).await;
    assert_eq!(resident.model.lines("cancels"), 1);
    // Its keeper has no note that it shall end: it starts the program again.
    assert!(Command::new("kill").args(["-KILL", &resident.last()]).status().unwrap().success());
    resident.until_runs(2).await;
    assert_eq!(resident.model.jobs().len(), 2, "another array was submitted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduler_that_looks_with_an_old_snapshot_submits_nothing_beside_a_process() {
    let resident = Resident::new();
    let frozen = resident.model.carrier().await;
    let old = frozen.shared.mirror.now().await.unwrap();
    let _carrier = resident.kept().await;
    let daemon = resident.daemon(1);
    let wanted = tokio::sync::watch::Sender::new(Arc::new(daemon.clone()));
    let mut keeping = Keeping::new(frozen.shared.clone(), wanted.subscribe(), Default::default());
    assert_eq!(keeping.look(&daemon, &old).await, Ok(false));
    assert_eq!(resident.model.jobs().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_a_daemon_whose_folder_takes_no_note_keeps_no_other_one_running() {
    let resident = Resident::new();
    let carrier = resident.model.carrier().await;
    carrier.keep(resident.daemon(2)).await.unwrap();
    resident.until_runs(2).await;
    fs::create_dir(resident.keeper().with_file_name("0/stop-1")).unwrap();
    carrier.keep(resident.daemon(0)).await.unwrap();
    until(async || {
        let kept = carrier.kept(&resident.job.job_name).await.unwrap();
        kept.iter().map(|process| process.index).collect::<Vec<_>>() == [0]
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_that_comes_with_an_old_number_runs_nothing() {
    let resident = Resident::new();
    let _carrier = resident.kept().await;
    for array in [1, 2] {
        // As an administrator does. The notes of the array that ends are not those of the next one.
        let place = resident.keeper().with_file_name("0");
        for note in ["stop", "asked", "ending"] {
            fs::write(place.join(format!("{note}-{array}")), "1").unwrap();
        }
        resident.model.run("scancel", &[&format!("{array}_0")]);
        resident.until_runs(array + 1).await;
        let notes = fs::read_dir(&place).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let old: Vec<_> = notes.filter(|name| name.contains('-') && !name.starts_with("uses-")).collect();
        assert_eq!(old, [""; 0]);
    }
    let claims = resident.claims();
    let texts = || [1, 2, 3].map(|number| fs::read_to_string(claims.join(format!("claim-{number}"))).ok());
    let holders = [None, Some("2".to_owned()), Some("3".to_owned())];
    assert_eq!(texts(), holders);
    let id = fs::read_to_string(claims.join("id")).unwrap();
    // The number of the holder, the ones before it, of which the first is free again, and one of a folder that is gone.
    for (next, arrays) in
        [(format!("3 {id}"), 4), (format!("2 {id}"), 5), ("4 gone".to_owned(), 6), (format!("1 {id}"), 7)]
    {
        fs::write(claims.join("next"), format!("{next}\n")).unwrap();
        let late = resident.submit_again(&resident.keeper());
        until(async || !is_there(&late)).await;
        assert_eq!(resident.model.lines("runs"), 3, "with {next}");
        assert_eq!((texts()[1..].to_vec(), resident.model.jobs().len()), (holders[1..].to_vec(), arrays));
    }
    assert!(is_there(&resident.last()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_that_slurm_starts_again_goes_on_with_its_claim() {
    let resident = Resident::new();
    let carrier = resident.kept().await;
    // Nothing submits another array.
    carrier.release(&resident.job.job_name);
    resident.model.run("scancel", &["1_0"]);
    until(async || !is_there(&resident.last())).await;
    let mut again = Command::new("sh");
    again.arg(resident.keeper()).arg("daemon").arg(resident.keeper().parent().unwrap());
    again.env("SLURM_ARRAY_JOB_ID", "1").env("SLURM_ARRAY_TASK_ID", "0").env("SLURM_JOB_ID", "1000");
    let mut again = again.spawn().unwrap();
    resident.until_runs(2).await;
    again.kill().unwrap();
    again.wait().unwrap();
    assert!(Command::new("kill").args(["-KILL", &resident.last()]).status().unwrap().success());
}

#[test]
fn of_several_arrays_of_a_process_the_holder_is_kept_or_else_one_that_runs() {
    let scratch = crate::scratch::Scratch::new();
    let row = |array, state| Row {
        state,
        array,
        index: 0,
        name: "ej-a-d-1".to_owned(),
        node: String::new(),
        since: None,
        halted: 0,
        reason: String::new(),
    };
    let rows = [row(5, JobState::Pending), row(9, JobState::Running), row(7, JobState::Running)];
    let order = || {
        let rows = in_order(rows.to_vec(), scratch.path(), "ej-a-d-");
        rows.iter().map(|row| row.array).collect::<Vec<_>>()
    };
    assert_eq!(order(), [7, 9, 5]);
    let claims = scratch.path().join("ej-a-d-claims/0");
    fs::create_dir_all(&claims).unwrap();
    fs::write(claims.join("claim-1"), "9").unwrap();
    assert_eq!(order(), [9, 7, 5]);
}
