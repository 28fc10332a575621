//! A model of Slurm on this host: its commands are scripts that run the keeper as a process group for each index of an array.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::super::{SlurmCarrier, SlurmOptions};
use crate::model::App;
use crate::scratch::Scratch;

/// While there is a file `away`, no controller answers.
const SCONTROL: &str = r#"
echo >>"$MODEL/questions"
[ ! -e "$MODEL/away" ] || { echo 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)' >&2; exit 1; }
echo 'ClusterName = model'; echo 'MaxArraySize = 1001'; echo 'SLURM_VERSION = 22.05.8'
"#;

const SINFO: &str = "echo 'main|64|64000|infinite'";

/// A process is known by its id and by when it began: ids are used again, also for process groups of other tests.
const PROCESSES: &str = r#"
began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
is_another() { now=$(began "$1"); [ -n "$now" ] && [ "$now" != "$2" ]; }
# Of a process that has ended, this is for what it left.
signal_group() { is_another "$2" "$3" || kill "-$1" "-$2"; }
"#;

/// Each index of the array is a session of its own. The index, the pid and when it began go into the list of jobs, before its keeper
/// begins: what runs is in the answers of `squeue`.
const SBATCH: &str = r#"
for argument; do
    case $argument in
        --job-name=*) name=${argument#*=} ;;
        --array=*) array=${argument#*=} ;;
    esac
    keeper=$kind kind=$folder folder=$argument
done
id=$(($(cat "$MODEL/last" 2>/dev/null || echo 0) + 1))
echo $id >"$MODEL/last"
for part in $(echo "$array" | tr , ' '); do
    for index in $(seq "${part%-*}" "${part#*-}"); do
        export SLURM_ARRAY_JOB_ID=$id SLURM_ARRAY_TASK_ID=$index SLURM_JOB_ID=$((id * 1000 + index))
        listed='until grep -q "^$1|$2|" "$3" 2>/dev/null; do sleep 0.01; done; shift 3; exec sh "$@"'
        setsid sh -c "$listed" sh $id $index "$MODEL/jobs" "$keeper" "$kind" "$folder" </dev/null >/dev/null 2>&1 &
        echo "$id|$index|$!|$name|$(began $!)" >>"$MODEL/jobs"
    done
done
echo $id
"#;

/// A job whose keeper has ended is over, and what it left is killed. An ended process may stay as a zombie.
const SQUEUE: &str = r#"
[ -e "$MODEL/jobs" ] || exit 0
while IFS='|' read -r id index pid name time; do
    case $(is_another "$pid" "$time" || sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null) in
        ''|Z) state=COMPLETED; signal_group KILL "$pid" "$time" 2>/dev/null ;;
        *) state=RUNNING ;;
    esac
    echo "$id|$index|$state|n1|1|0:00|None|$name"
done <"$MODEL/jobs"
"#;

/// `lost` has what goes wrong with the answers: `before` the request arrives, or after it has. `failing` has the id of a job for which it
/// does nothing.
const SCANCEL: &str = r#"
echo "$*" >>"$MODEL/cancels"
lost=$(cat "$MODEL/lost" 2>/dev/null)
failing=$(cat "$MODEL/failing" 2>/dev/null)
signal=KILL code=0
[ "$lost" = before ] || for argument; do
    case $argument in
        --signal=*) signal=${argument#*=} ;;
        "$failing") echo "scancel: error: Kill job error on job id $failing: a text of the site" >&2; code=1 ;;
        *_*)
            job=$(grep "^${argument%_*}|${argument#*_}|" "$MODEL/jobs")
            signal_group "$signal" "$(echo "$job" | cut -d'|' -f3)" "$(echo "$job" | cut -d'|' -f5)" ;;
    esac
done
[ -z "$lost" ] || { echo 'scancel: error: Socket timed out on send/recv operation' >&2; exit 1; }
exit $code
"#;

/// A cluster that ends with the test.
pub(super) struct Model {
    pub(super) scratch: Scratch,
}

impl Model {
    pub(super) fn new() -> Self {
        let scratch = Scratch::new();
        let commands = scratch.path().join("bin");
        fs::create_dir(&commands).unwrap();
        for (name, text) in
            [("scontrol", SCONTROL), ("sinfo", SINFO), ("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)]
        {
            let file = commands.join(name);
            let text = format!("#!/bin/sh\nMODEL={}\n{PROCESSES}\n{text}\n", scratch.path().display());
            // By a process of its own: what another test starts in this moment would have the file open for writing, too, and a
            // program that is open for writing cannot be run.
            let write = ["-c", "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"", "sh"];
            assert!(Command::new("/bin/sh").args(write).arg(&file).arg(text).status().unwrap().success());
        }
        Self { scratch }
    }

    /// The carrier of another scheduler.
    pub(super) async fn carrier(&self) -> SlurmCarrier {
        SlurmCarrier::connect(self.options()).await.unwrap()
    }

    pub(super) fn options(&self) -> SlurmOptions {
        let mut options = SlurmOptions::new(self.file("work"), "tests");
        options.commands = Some(self.file("bin"));
        options
    }

    /// An application whose program is this script; `$DIR` is the folder of the model.
    pub(super) fn app(&self, script: &str) -> App {
        let file = self.file("long.sh");
        fs::write(&file, format!("#!/bin/sh\nDIR={}\n{script}\n", self.scratch.path().display())).unwrap();
        let url = format!("file://{}", file.display());
        let app =
            json!({ "appName": "long", "appURL": url, "bootstrapScript": "./long.sh", "cpuCount": 0, "memoryMB": 1 });
        App::from_json(app).unwrap()
    }

    /// Runs a command of the model, as another scheduler or an operator does.
    pub(super) fn run(&self, command: &str, arguments: &[&str]) {
        let done = Command::new(self.file("bin").join(command)).args(arguments).output().unwrap();
        assert!(done.status.success(), "{command} {arguments:?}: {done:?}");
    }

    /// The jobs that were submitted: the array, the process id of the keeper, and the name.
    pub(super) fn jobs(&self) -> Vec<(u64, String, String)> {
        let jobs = fs::read_to_string(self.file("jobs")).unwrap_or_default();
        let job = |line: &str| {
            let fields: Vec<&str> = line.split('|').collect();
            (fields[0].parse().unwrap(), fields[2].to_owned(), fields[3].to_owned())
        };
        jobs.lines().map(job).collect()
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(super) fn lines(&self, name: &str) -> usize {
        fs::read_to_string(self.file(name)).unwrap_or_default().lines().count()
    }

    /// The answers of `scancel` get lost from now on, before its requests arrive or after; `None` lets them through.
    pub(super) fn lose(&self, when: Option<&str>) {
        match when {
            Some(when) => fs::write(self.file("lost"), when).unwrap(),
            None => fs::remove_file(self.file("lost")).unwrap(),
        }
    }
}

impl Drop for Model {
    /// No process outlives a test.
    fn drop(&mut self) {
        let kill = r#"while IFS='|' read -r id index pid name time; do signal_group KILL "$pid" "$time"; done"#;
        if let Ok(jobs) = File::open(self.file("jobs")) {
            let _ = Command::new("sh").arg("-c").arg(format!("{PROCESSES}{kill}")).stdin(jobs).output();
        }
    }
}
