//! Makes a submission: the arguments of `sbatch`, and the script of a program.

use std::collections::BTreeMap;
use std::path::Path;

use elasticjob::config::Message;

use super::cluster::{Cluster, NodeSize};
use super::command::{Commands, Failed};
use super::texts as of_slurm;
use crate::model::{App, CarriedJob, ExecutionType, Problem, needs_image};
use crate::slurm::SLURM;
use crate::texts;

/// An array that is submitted.
#[derive(Debug)]
pub(super) struct Submission<'a> {
    pub(super) name: &'a str,
    /// For operators who look at the queue.
    pub(super) comment: String,
    pub(super) app: &'a App,
    pub(super) job: &'a CarriedJob,
    pub(super) indexes: &'a [u32],
    /// How many items a process has.
    pub(super) items: usize,
    /// Whether Slurm starts it again when its node is lost.
    pub(super) is_requeued: bool,
    /// `item` or `daemon`.
    pub(super) kind: &'static str,
    /// The folder with the keeper, and with a folder for each index.
    pub(super) folder: &'a Path,
}

impl Submission<'_> {
    fn arguments(&self) -> Vec<String> {
        let folder = self.folder.display();
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--job-name={}", self.name),
            format!("--comment={}", self.comment),
            format!("--array={}", ranges(self.indexes)),
            "--ntasks=1".to_owned(),
            format!("--cpus-per-task={}", cpus(self.app, self.job, self.items)),
            format!("--mem={}M", megabytes(self.app, self.job, self.items)),
            if self.is_requeued { "--requeue".to_owned() } else { "--no-requeue".to_owned() },
            format!("--chdir={folder}"),
            // What Slurm itself has to say, apart from what the program says.
            format!("--output={folder}/%a/slurm"),
            "--open-mode=append".to_owned(),
        ];
        let slurm = &self.app.slurm;
        let minutes = slurm.time_limit_minutes.map(|minutes| minutes.to_string());
        let given = [
            ("partition", self.job.queue_name.as_ref().or(slurm.partition.as_ref())),
            ("account", slurm.account.as_ref()),
            ("qos", slurm.qos.as_ref()),
            ("constraint", slurm.constraint.as_ref()),
            ("time", minutes.as_ref()),
        ];
        arguments.extend(given.iter().filter_map(|(option, value)| Some(format!("--{option}={}", (*value)?))));
        arguments.extend([format!("{folder}/keeper.sh"), self.kind.to_owned(), folder.to_string()]);
        arguments
    }

    /// Submits it, and returns the id of the array.
    pub(super) async fn send(&self, commands: &Commands) -> Result<u64, Failed> {
        let answer = commands.run("sbatch", self.arguments()).await?;
        let id = answer.trim().split(';').next().and_then(|id| id.parse().ok());
        id.ok_or_else(|| Failed::Unknown(format!("sbatch wrote '{}', which is no id of a job", answer.trim())))
    }
}

/// The CPUs of a process. Slurm gives whole ones.
fn cpus(app: &App, job: &CarriedJob, items: usize) -> u64 {
    (job.cpus(app, items).ceil() as u64).max(1)
}

/// The memory of a process in MB.
pub(super) fn megabytes(app: &App, job: &CarriedJob, items: usize) -> u64 {
    (job.memory(app, items).ceil() as u64).max(1)
}

/// What the cluster cannot carry of a job.
pub(super) fn problems(cluster: &Cluster, app: &App, job: &CarriedJob) -> Vec<Problem> {
    let mut problems: Vec<Problem> = needs_image(app, SLURM).into_iter().collect();
    let mut wrong = |field: &str, why: Message| problems.push(Problem::new(field, why));
    if job.items_per_process > 1 {
        wrong("itemsPerProcess", texts::process_for_each_item(SLURM));
    }
    // An array has an index for each item, or for each process of a `DAEMON` job.
    let (field, indexes) = match job.job_execution_type {
        ExecutionType::Daemon if job.instances.is_some() => ("instances", job.daemon_instances()),
        ExecutionType::Daemon | ExecutionType::Transient => ("shardingTotalCount", job.sharding_total_count),
    };
    if indexes > cluster.max_array_size {
        wrong(field, of_slurm::array_too_large(cluster.max_array_size));
    }
    let partition = job.queue_name.as_ref().map(|name| ("queueName", name));
    let partition = partition.or(app.slurm.partition.as_ref().map(|name| ("slurm.partition", name)));
    let mut sizes: Vec<_> = cluster.nodes.iter().collect();
    if let Some((field, name)) = partition {
        sizes.retain(|size| size.partition == *name);
        if sizes.is_empty() {
            let mut known: Vec<&str> = cluster.nodes.iter().map(|size| size.partition.as_str()).collect();
            known.dedup();
            wrong(field, of_slurm::no_such_partition(name, known.join(", ")));
            return problems;
        }
    }
    if let Some(needs) = app.slurm.time_limit_minutes
        && let Some(most) = most_minutes(&sizes)
        && u64::from(needs) > most
    {
        wrong("slurm.timeLimitMinutes", of_slurm::time_limit_too_long(needs, most.to_string()));
    }
    let items = items_of_a_process(job);
    let (needs_cpus, needs_memory) = (cpus(app, job, items), megabytes(app, job, items));
    if sizes.iter().all(|size| size.cpus < needs_cpus) {
        let most = sizes.iter().map(|size| size.cpus).max().unwrap_or_default();
        wrong("cpuCount", of_slurm::too_many_cpus(needs_cpus.to_string(), most.to_string()));
    } else if sizes.iter().all(|size| size.cpus < needs_cpus || size.megabytes < needs_memory) {
        let most = sizes.iter().map(|size| size.megabytes).max().unwrap_or_default();
        wrong("memoryMB", of_slurm::too_much_memory(needs_memory.to_string(), most.to_string()));
    }
    problems
}

/// The minutes that the longest job may run; `None` without a limit.
fn most_minutes(sizes: &[&NodeSize]) -> Option<u64> {
    sizes.iter().map(|size| size.minutes).collect::<Option<Vec<u64>>>()?.into_iter().max()
}

fn items_of_a_process(job: &CarriedJob) -> usize {
    match job.job_execution_type {
        ExecutionType::Transient => 1,
        ExecutionType::Daemon => job.sharding_total_count.div_ceil(job.daemon_instances().max(1)) as usize,
    }
}

/// Ascending numbers as `sbatch --array` takes them: `0-2,5`.
fn ranges(indexes: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let texts = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(",")
}

/// The script that becomes the program: its environment, its folder and its command.
pub(super) fn script(
    environment: &BTreeMap<String, String>,
    package: &Path,
    command: &str,
    arguments: &[String],
) -> String {
    let package = quoted(&package.display().to_string());
    // The carrier sets these for its own commands, and sbatch hands them on to the job.
    let mut script = "unset SLURM_TIME_FORMAT LC_ALL\n".to_owned();
    for (name, value) in environment {
        script.push_str(&format!("export {name}={}\n", quoted(value)));
    }
    script.push_str(&format!("cd {package} || exit 126\nexport PATH={package}:\"$PATH\"\n"));
    let arguments = arguments.iter().map(|argument| format!(" {}", quoted(argument))).collect::<String>();
    // This shell, too, waits for the program: a trap ends a shell only when the command in front of it has ended. A program that is
    // stopped while it is being started is not started: these shells have taken the signal. The keeper names the note of its stop.
    let command = quoted(&format!("trap : TERM INT HUP QUIT; [ -e \"$1\" ] && exit 143; shift; {command} \"$@\""));
    script.push_str(&format!("exec /bin/sh -c {command} sh \"$1\"{arguments}\n"));
    script
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn app(slurm: Value) -> App {
        let app = json!({ "appName": "a", "appURL": "file:///a.sh", "bootstrapScript": "./a.sh", "cpuCount": 0.5,
                          "memoryMB": 16, "slurm": slurm });
        App::from_json(app).unwrap()
    }

    fn job(more: Value) -> CarriedJob {
        let mut job = json!({ "jobName": "j", "appName": "a", "jobExecutionType": "TRANSIENT", "cpuCount": 0.6,
                              "memoryMB": 64.5, "shardingTotalCount": 3 });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        CarriedJob::from_json(job).unwrap()
    }

    fn cluster() -> Cluster {
        let size = |partition: &str, cpus, megabytes, minutes| {
            let partition = partition.to_owned();
            NodeSize { partition, cpus, megabytes, minutes }
        };
        Cluster {
            name: "shop".to_owned(),
            max_array_size: 1_001,
            nodes: vec![
                size("main", 4, 2_000, Some(60)),
                size("big", 64, 500_000, None),
                size("big", 2, 900_000, None),
            ],
        }
    }

    #[test]
    fn an_array_asks_for_whole_cpus_and_what_the_application_is_set_to() {
        let app = app(json!({ "account": "shop", "partition": "main", "qos": "night", "timeLimitMinutes": 90 }));
        let job = job(json!({ "queueName": "big" }));
        let submission = Submission {
            name: "ej-j-1",
            comment: "j/scheduled@1".to_owned(),
            app: &app,
            job: &job,
            indexes: &[0, 1, 2, 5, 7, 8],
            items: 1,
            is_requeued: false,
            kind: "item",
            folder: Path::new("/srv/ej/ej-j-1"),
        };
        let arguments = submission.arguments().join(" ");
        assert_eq!(
            arguments,
            "--parsable --job-name=ej-j-1 --comment=j/scheduled@1 --array=0-2,5,7-8 --ntasks=1 --cpus-per-task=2 --mem=81M \
             --no-requeue --chdir=/srv/ej/ej-j-1 --output=/srv/ej/ej-j-1/%a/slurm --open-mode=append --partition=big \
             --account=shop --qos=night --time=90 /srv/ej/ej-j-1/keeper.sh item /srv/ej/ej-j-1"
        );
    }

    #[test]
    fn what_the_cluster_cannot_hold_is_told_by_field() {
        let of = |slurm: Value, more: Value| -> Vec<(String, String)> {
            let problems = problems(&cluster(), &app(slurm), &job(more));
            problems.into_iter().map(|problem| (problem.field, problem.reason.to_string())).collect()
        };
        assert_eq!(of(json!({}), json!({})), []);
        assert_eq!(of(json!({}), json!({ "memoryMB": 800_000 })), []);
        let wrong = of(json!({ "partition": "main" }), json!({ "memoryMB": 3_000, "shardingTotalCount": 1_002 }));
        assert_eq!(
            wrong.iter().map(|(field, _)| field.as_str()).collect::<Vec<_>>(),
            ["shardingTotalCount", "memoryMB"]
        );
        let limit = |partition: &str, minutes: u32| {
            of(json!({ "partition": partition, "timeLimitMinutes": minutes }), json!({}))
        };
        assert_eq!(
            (limit("main", 60), limit("big", 61), of(json!({ "timeLimitMinutes": 61 }), json!({}))),
            (vec![], vec![], vec![])
        );
        let why = "the time limit is 61 minutes, and the partitions that the job may use have 60 minutes at most";
        assert_eq!(limit("main", 61), [("slurm.timeLimitMinutes".to_owned(), why.to_owned())]);
        // No node has both.
        assert_eq!(of(json!({}), json!({ "cpuCount": 32, "memoryMB": 800_000 }))[0].0, "memoryMB");
        assert_eq!(of(json!({}), json!({ "cpuCount": 65 }))[0].0, "cpuCount");
        // An array of a DAEMON job has an index for each process.
        let daemon = |total: u32, instances: u32| {
            let resident = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "cpuCount": 0.001, "memoryMB": 1,
                                   "shardingTotalCount": total, "instances": instances });
            of(json!({}), resident).into_iter().map(|(field, _)| field).collect::<Vec<_>>()
        };
        assert_eq!((daemon(1, 1_002), daemon(1_002, 20)), (vec!["instances".to_owned()], vec![]));
        let unknown = of(json!({}), json!({ "queueName": "night" }));
        assert_eq!(unknown[0].1, "the cluster has no partition 'night'; it has main, big");
    }

    #[test]
    fn a_script_takes_any_text_as_it_is() {
        let environment = BTreeMap::from([("WORDS".to_owned(), "it's $HOME `x`\nand more".to_owned())]);
        let script = script(&environment, Path::new("/tmp"), "printf '%s|' \"$WORDS\"", &["{\"a\": 'b'}".to_owned()]);
        assert_eq!(ran(&script), "it's $HOME `x`\nand more|{\"a\": 'b'}|");
    }

    #[test]
    fn a_program_with_a_note_of_its_stop_is_not_started() {
        let arguments = ["two words".to_owned(), String::new(), "'".to_owned()];
        let script = script(&BTreeMap::new(), Path::new("/tmp"), "printf '<%s>'", &arguments);
        let ran = |note: &str| {
            let ran = std::process::Command::new("/bin/sh").args(["-c", &script, "run.sh", note]).output().unwrap();
            (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
        };
        assert_eq!(ran("/no/such/stop"), (Some(0), "<two words><><'>".to_owned()));
        assert_eq!(ran("/tmp"), (Some(143), String::new()));
    }

    /// The output of a script that runs as a job that sbatch has handed the environment of the carrier's commands on to.
    fn ran(script: &str) -> String {
        let mut command = std::process::Command::new("/bin/sh");
        command.arg("-c").arg(script).env("SLURM_TIME_FORMAT", "%s").env("LC_ALL", "C.UTF-8");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    #[test]
    fn what_the_commands_of_the_carrier_need_is_not_in_the_environment_of_a_program() {
        let told = |environment: &[(&str, &str)]| {
            let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let command = "printf '%s|%s' \"${SLURM_TIME_FORMAT-none}\" \"${LC_ALL-none}\"";
            ran(&script(&environment.collect(), Path::new("/tmp"), command, &[]))
        };
        assert_eq!(told(&[]), "none|none");
        assert_eq!(told(&[("LC_ALL", "de_DE.UTF-8")]), "none|de_DE.UTF-8");
    }
}
