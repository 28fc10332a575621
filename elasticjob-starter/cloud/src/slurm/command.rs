//! The commands of Slurm: how they are run, and what their failures mean.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use tokio::process::Command;

use crate::files::INHERITED;

/// How long a command may take. Slurm's own commands give up a controller that is away sooner.
pub(super) const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// The words about a command that took longer.
const UNANSWERED: &str = "has not answered for";

/// Where the commands are, and with which settings they are run.
#[derive(Debug, Clone, Default)]
pub(super) struct Commands {
    /// The folder of the commands; those on `PATH` where there is none.
    pub(super) folder: Option<PathBuf>,
    /// The settings of the cluster; those that Slurm finds where there are none.
    pub(super) conf: Option<PathBuf>,
}

/// Why a command did nothing, or may have done nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    /// Slurm refuses it, and would refuse it again.
    Refused(String),
    /// The controller was not reached, or takes nothing now: nothing was done.
    NotReached(String),
    /// The answer is missing: it may have been done.
    Unknown(String),
}

impl Failed {
    /// The cause, for operators.
    pub(super) fn why(&self) -> &str {
        let (Self::Refused(why) | Self::NotReached(why) | Self::Unknown(why)) = self;
        why
    }

    /// Whether no controller answered, or none in time.
    pub(super) fn is_away(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            Self::NotReached(why) | Self::Unknown(why) => {
                AWAY.iter().chain([&UNANSWERED, &"timed out"]).any(|text| why.contains(text))
            }
        }
    }

    /// The same of a question that has had no answer since this time.
    pub(super) fn since(self, time: DateTime<Utc>) -> Self {
        let time = time.to_rfc3339_opts(SecondsFormat::Secs, true);
        let told = |why: String| format!("Slurm has not reported its jobs since {time}: {why}");
        match self {
            Self::Refused(why) => Self::Refused(told(why)),
            Self::NotReached(why) => Self::NotReached(told(why)),
            Self::Unknown(why) => Self::Unknown(told(why)),
        }
    }
}

/// The words of Slurm where no controller answers: one may later.
const AWAY: [&str; 3] =
    ["Unable to contact slurm controller", "Connection refused", "Slurm backup controller in standby mode"];

/// What Slurm says where the request did not arrive, or where it takes no job now and may take one later.
const NOT_NOW: [&str; 6] = [
    "Slurm temporarily unable to accept job",
    "Resource temporarily unavailable",
    "submit limit",
    "Unable to process configuration file",
    "Could not establish a configuration source",
    "Invalid authentication credential",
];

/// What Slurm says before the text of a refusal of its controller, whatever the text is: plug-ins of sites have their own.
const REFUSED: &str = "batch job submission failed: ";

/// What stands there where the network, or the time that the answer took, is the reason.
const ON_THE_WAY: [&str; 9] = [
    "connect",
    "header lengths",
    "host",
    "receive failure",
    "send failure",
    "socket",
    "temporarily",
    "timed out",
    "zero bytes",
];

/// What Slurm says where it refuses the request, and would refuse it again. All else but a refusal of the controller is tried
/// again: the network has many texts, and to repeat a request is harmless.
const FINAL: [&str; 30] = [
    // The job.
    "access/permission denied",
    "batch script contains dos line breaks",
    "count specification invalid",
    "invalid account",
    "invalid cluster",
    "invalid constraint",
    "invalid cpu count",
    "invalid feature",
    "invalid generic resource",
    "invalid job array specification",
    "invalid node name",
    "invalid numeric value",
    "invalid partition",
    "invalid qos",
    "invalid reservation",
    "invalid time limit",
    "invalid trackable resource",
    "more processors requested than permitted",
    "not permitted to use this partition",
    "nodes not in this partition",
    "per node can not be satisfied",
    "requested node configuration is not available",
    "requested reservation is invalid",
    "requested time limit is invalid",
    "specification can not be satisfied",
    // The command.
    "invalid option",
    "unrecognized option",
    // What is to be ended has ended.
    "invalid job id",
    "job/step already completing or completed",
    "job has already finished",
];

impl Commands {
    /// The file with the settings of the cluster, where one is named.
    pub(super) fn settings(&self) -> Option<PathBuf> {
        self.conf.clone().or_else(|| std::env::var_os("SLURM_CONF").map(PathBuf::from))
    }

    /// Runs a command and returns its standard output.
    pub(super) async fn run<S: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, Failed> {
        let output = self.output(program, arguments).await?;
        if output.status.success() {
            return String::from_utf8(output.stdout).map_err(|_| Failed::Unknown(format!("{program} wrote no text")));
        }
        Err(failure(program, output.status.code(), &String::from_utf8_lossy(&output.stderr)))
    }

    /// Cancels jobs, or sends them a signal by these options, all with one `scancel`. Says of each job whether it was done, in their
    /// order: one that fails does not speak for the others.
    pub(super) async fn cancel(&self, options: &[&str], ids: &[String]) -> Vec<Result<(), Failed>> {
        match self.output("scancel", options.iter().copied().chain(ids.iter().map(String::as_str))).await {
            Err(failed) => vec![Err(failed); ids.len()],
            Ok(output) if output.status.success() => vec![Ok(()); ids.len()],
            Ok(output) => of_each(ids, output.status.code(), &String::from_utf8_lossy(&output.stderr)),
        }
    }

    async fn output<S: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Output, Failed> {
        let path = self.folder.as_ref().map_or_else(|| PathBuf::from(program), |folder| folder.join(program));
        let mut command = Command::new(&path);
        command.args(arguments).env_clear();
        // What a job inherits are these variables alone: others may be secrets of the scheduler. Options of Slurm's
        // commands in the environment (SBATCH_...) would change what is submitted.
        let names = INHERITED.iter().chain(&["PATH", "SLURM_CONF"]);
        command.envs(names.filter_map(|name| Some((*name, std::env::var_os(name)?))));
        command.env("LC_ALL", "C.UTF-8").env("SLURM_TIME_FORMAT", "%s");
        command.envs(self.conf.iter().map(|conf| ("SLURM_CONF", conf)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        match tokio::time::timeout(COMMAND_LIMIT, command.output()).await {
            Err(_) => Err(Failed::Unknown(format!("{program} {UNANSWERED} {} s", COMMAND_LIMIT.as_secs()))),
            Ok(Err(error)) => Err(Failed::NotReached(format!("{} does not start: {error}", path.display()))),
            Ok(Ok(output)) => Ok(output),
        }
    }
}

/// What became of each job of a `scancel` that failed. It goes on with the others, and its errors name the jobs that they are of.
fn of_each(ids: &[String], code: Option<i32>, said: &str) -> Vec<Result<(), Failed>> {
    // One that waits again is named as `7_[1]`.
    let names = |line: &str, id: &str| {
        line.replace("_[", "_").split(|c: char| !c.is_ascii_digit() && c != '_').any(|word| word == id)
    };
    let lines = said.lines().filter(|line| !line.trim().is_empty());
    let (of_some, of_all): (Vec<&str>, Vec<&str>) = lines.partition(|line| ids.iter().any(|id| names(line, id)));
    let of = |id: &String| {
        let own: Vec<&str> = of_some.iter().copied().filter(|line| names(line, id)).collect();
        match own.is_empty() {
            false => Err(failure("scancel", code, &own.join("\n"))),
            // It says nothing of those that have ended meanwhile, and fails all the same.
            true if code.is_some() && of_all.is_empty() => Ok(()),
            true => Err(failure("scancel", code, &of_all.join("\n"))),
        }
    };
    ids.iter().map(of).collect()
}

/// What a command that failed came to, by what it wrote to its standard error.
fn failure(program: &str, code: Option<i32>, said: &str) -> Failed {
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let why =
        lines.map(|line| line.split_once("error: ").map_or(line, |(_, error)| error)).collect::<Vec<_>>().join("; ");
    let lower = said.to_lowercase();
    match code {
        None => Failed::Unknown(format!("{program} was killed: {why}")),
        // Asked first: the same answer may have the text of a refusal besides.
        Some(_) if AWAY.iter().chain(&NOT_NOW).any(|text| said.contains(text)) => {
            Failed::NotReached(format!("{program}: {why}"))
        }
        Some(_) if is_refusal_of_controller(&lower) => Failed::Refused(format!("{program}: {why}")),
        Some(_) if FINAL.iter().any(|text| lower.contains(text)) => Failed::Refused(format!("{program}: {why}")),
        Some(_) => Failed::Unknown(format!("{program}: {why}")),
    }
}

/// Whether the controller has answered, and takes no such job.
fn is_refusal_of_controller(lower: &str) -> bool {
    let reason = lower.split_once(REFUSED).map(|(_, reason)| reason);
    reason.is_some_and(|reason| !ON_THE_WAY.iter().any(|text| reason.contains(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_whether_the_request_may_have_been_done() {
        let of = |said: &str| failure("sbatch", Some(1), said);
        let refused = "sbatch: error: invalid partition specified: nope\n\
                       sbatch: error: Batch job submission failed: Invalid partition name specified\n";
        let why =
            "sbatch: invalid partition specified: nope; Batch job submission failed: Invalid partition name specified";
        assert_eq!(of(refused), Failed::Refused(why.to_owned()));
        let away = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)";
        assert!(matches!(of(away), Failed::NotReached(_)) && of(away).is_away());
        let limit = "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates \
                     accounting/QOS policy (job submit limit, user's size and/or time limits)";
        assert!(matches!(of(limit), Failed::NotReached(_)));
        let lost = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation";
        assert!(matches!(of(lost), Failed::Unknown(_)) && of(lost).is_away());
        assert!(!of(refused).is_away() && !of(limit).is_away());
        assert!(matches!(failure("sbatch", None, ""), Failed::Unknown(_)));
    }

    #[test]
    fn what_went_wrong_on_the_way_is_tried_again_and_what_the_controller_refuses_is_not() {
        let of =
            |said: &str| failure("sbatch", Some(1), &format!("sbatch: error: Batch job submission failed: {said}"));
        for said in [
            "Message receive failure",
            "Message send failure",
            "Connection timed out",
            "No route to host",
            "Unknown host",
            "Header lengths are longer than data received",
            "Zero Bytes were transmitted or received",
        ] {
            assert!(matches!(of(said), Failed::Unknown(_)), "{said}: {:?}", of(said));
        }
        for said in [
            "Unspecified error",
            "a text of a plug-in of the site",
            "Invalid account or account/partition combination specified",
            "Invalid qos specification",
            "Invalid feature specification",
            "Requested node configuration is not available",
            "Requested time limit is invalid (missing or exceeds some limit)",
            "Memory specification can not be satisfied",
            "User's group not permitted to use this partition",
            "Access/permission denied",
        ] {
            assert!(matches!(of(said), Failed::Refused(_)), "{said}: {:?}", of(said));
        }
        let unknown = failure("squeue", Some(1), "slurm_load_jobs error: a text of a version that is not written yet");
        assert!(matches!(unknown, Failed::Unknown(_)), "{unknown:?}");
        let gone = "scancel: error: Kill job error on job id 7: Invalid job id specified";
        assert!(matches!(failure("scancel", Some(1), gone), Failed::Refused(_)));
    }

    #[test]
    fn a_request_for_several_jobs_is_answered_for_each() {
        let ids = ["7_1", "7_11", "17_1"].map(str::to_owned);
        let of = |code, said: &str| of_each(&ids, code, said);
        let one = of(Some(1), "scancel: error: Kill job error on job id 7_1: a text of the site\n");
        let why = "scancel: Kill job error on job id 7_1: a text of the site".to_owned();
        assert_eq!(one, [Err(Failed::Unknown(why)), Ok(()), Ok(())]);
        let two = "scancel: error: Kill job error on job id 7_11: Invalid job id specified\n\
                   scancel: error: Kill job error on job id 17_1: Socket timed out on send/recv operation\n";
        let two = of(Some(1), two);
        assert!(matches!(&two[..], [Ok(()), Err(Failed::Refused(_)), Err(Failed::Unknown(_))]), "{two:?}");
        let requeued = of(
            Some(229),
            "scancel: error: Kill job error on job id 7_[1]: Job can not be altered now, try again later",
        );
        assert!(matches!(&requeued[..], [Err(Failed::Unknown(_)), Ok(()), Ok(())]), "{requeued:?}");
        let away = of(Some(1), "scancel: error: Unable to contact slurm controller (connect failure)");
        assert!(away.iter().all(|answer| matches!(answer, Err(Failed::NotReached(_)))), "{away:?}");
        assert_eq!(of(Some(1), ""), [Ok(()), Ok(()), Ok(())]);
        // It was killed: nothing says how far it came.
        let killed = of(None, "scancel: error: Kill job error on job id 7_1: a text of the site");
        assert!(killed.iter().all(|answer| matches!(answer, Err(Failed::Unknown(_)))), "{killed:?}");
    }

    #[tokio::test]
    async fn a_command_that_is_not_there_is_named() {
        let commands = Commands { folder: Some("/no/such/folder".into()), conf: None };
        let failed = commands.run("squeue", ["--me"]).await.unwrap_err();
        assert!(matches!(&failed, Failed::NotReached(why) if why.contains("/no/such/folder/squeue")), "{failed:?}");
    }
}
