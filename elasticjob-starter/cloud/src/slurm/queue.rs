//! Reads this user's jobs from `squeue`.

use super::command::{Commands, Failed};

/// How the rows are asked for. The name is the last field: those of other jobs may have any character.
const FORMAT: &str = "%F|%K|%T|%N|%S|%r|%j";

/// What the names of all carried jobs begin with.
const OURS: &str = "ej-";

/// A task of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// The id of the array.
    pub(super) array: u64,
    /// The index in it.
    pub(super) index: u32,
    pub(super) name: String,
    pub(super) state: JobState,
    /// Its node, where it has one.
    pub(super) node: String,
    /// When it began, or is expected to begin, in seconds since 1970.
    pub(super) since: Option<i64>,
    /// Why it waits, or how it failed.
    pub(super) reason: String,
}

/// Where a job of Slurm stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobState {
    Pending,
    /// It has a node that is being started or prepared for it.
    Starting,
    /// Its processes were halted: they go on when it is resumed.
    Suspended,
    /// It has a node: its processes run, or may still run.
    Running,
    Ended(End),
}

/// How a job of Slurm ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    Failed,
    OutOfMemory,
    Timeout,
    Deadline,
    Cancelled,
    /// Its node failed, or did not come up.
    NodeFailed,
    Preempted,
    Revoked,
}

impl JobState {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => Self::Pending,
            "CONFIGURING" | "POWER_UP_NODE" => Self::Starting,
            "SUSPENDED" | "STOPPED" => Self::Suspended,
            "RUNNING" | "COMPLETING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" | "LAUNCH_FAILED" | "EXPEDITING"
            | "UPDATE_DB" => Self::Running,
            "COMPLETED" => Self::Ended(End::Completed),
            "FAILED" => Self::Ended(End::Failed),
            "OUT_OF_MEMORY" => Self::Ended(End::OutOfMemory),
            "TIMEOUT" => Self::Ended(End::Timeout),
            "DEADLINE" => Self::Ended(End::Deadline),
            "CANCELLED" => Self::Ended(End::Cancelled),
            "NODE_FAIL" | "BOOT_FAIL" => Self::Ended(End::NodeFailed),
            "PREEMPTED" => Self::Ended(End::Preempted),
            "REVOKED" => Self::Ended(End::Revoked),
            _ => return None,
        })
    }
}

impl Row {
    /// How commands name it.
    pub(super) fn id(&self) -> String {
        format!("{}_{}", self.array, self.index)
    }

    /// Whether it has not ended.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self.state, JobState::Ended(_))
    }

    /// Reads a line. `None` for jobs that are not carried.
    fn parse(line: &str) -> Result<Option<Self>, String> {
        let wrong = || format!("squeue wrote '{line}', which is not of the form {FORMAT}");
        let mut fields = line.splitn(7, '|');
        let mut next = || fields.next().ok_or_else(wrong);
        let (array, index, state, node) = (next()?, next()?, next()?, next()?);
        let (since, reason, name) = (next()?, next()?, next()?);
        // A job that is no array is of the user, whatever its name.
        if !name.starts_with(OURS) || index == "N/A" {
            return Ok(None);
        }
        let row = Self {
            array: array.parse().map_err(|_| wrong())?,
            index: index.parse().map_err(|_| wrong())?,
            state: JobState::parse(state).ok_or_else(wrong)?,
            name: name.to_owned(),
            node: node.to_owned(),
            since: match since {
                "N/A" | "" => None,
                seconds => Some(seconds.parse().map_err(|_| wrong())?),
            },
            reason: reason.to_owned(),
        };
        Ok(Some(row))
    }
}

/// All rows of carried jobs. Those of jobs that have ended are there as long as Slurm remembers them (`MinJobAge`).
pub(super) async fn rows(commands: &Commands) -> Result<Vec<Row>, Failed> {
    let arguments = ["--me", "--noheader", "--array", "--states=all", "--format", FORMAT];
    let text = commands.run("squeue", arguments).await?;
    parse(&text).map_err(Failed::NotReached)
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    text.lines().filter_map(|line| Row::parse(line).transpose()).collect()
}

/// What a job waits for, in words where the name of the reason has none.
pub(super) fn waits_for(reason: &str) -> String {
    let words = match reason {
        "None" => "Slurm has not looked at it yet",
        "Resources" => "no node has the CPUs and the memory free",
        "Priority" => "jobs of a higher priority come first",
        "BeginTime" => "Slurm starts it again in about two minutes, as its node was lost",
        "JobHeldUser" | "JobHeldAdmin" => "it is held; scontrol release lets it go",
        "Dependency" => "it waits for another job",
        "Licenses" => "no license is free",
        "PartitionDown" | "PartitionInactive" => "its partition is down",
        "PartitionTimeLimit" => "its time limit is longer than that of the partition",
        "PartitionNodeLimit" => "it needs more nodes than the partition lets it have",
        "launch_failed_requeued_held" | "JobLaunchFailure" => {
            "its start failed, and it is held; scontrol release lets it go"
        }
        _ if reason.starts_with("ReqNodeNotAvail") => "the nodes that it could run on are down or reserved",
        _ if reason.starts_with("Assoc") || reason.starts_with("QOS") => "its account or QOS has reached a limit",
        _ => return format!("Slurm lets it wait: {reason}"),
    };
    format!("Slurm lets it wait: {words} ({reason})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_carried_jobs_are_read_and_others_left() {
        let text = "7|3|RUNNING|n1|1795577608|None|ej-a-0123\n8|N/A|PENDING||N/A|Priority|my|own\n\
                    9|0|PENDING||N/A|ReqNodeNotAvail, UnavailableNodes:n[1-2]|ej-b\n10|2|OUT_OF_MEMORY|n2|1795577608|OutOfMemory|ej-c\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows.iter().map(Row::id).collect::<Vec<_>>(), ["7_3", "9_0", "10_2"]);
        let expected = Row {
            array: 7,
            index: 3,
            name: "ej-a-0123".to_owned(),
            state: JobState::Running,
            node: "n1".to_owned(),
            since: Some(1_795_577_608),
            reason: "None".to_owned(),
        };
        assert_eq!(rows[0], expected);
        assert_eq!(rows[1].since, None);
        assert_eq!(rows[2].state, JobState::Ended(End::OutOfMemory));
    }

    #[test]
    fn a_row_of_another_form_is_an_error_and_never_a_job_that_is_gone() {
        for wrong in ["7|3|RUNNING|n1|1795577608|ej-a", "7|3|DANCING|n1|1|None|ej-a", "7|[0-3]|PENDING||N/A|None|ej-a"]
        {
            assert!(parse(wrong).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }

    #[test]
    fn a_reason_is_told_in_words_and_as_slurm_names_it() {
        assert!(waits_for("Resources").ends_with("no node has the CPUs and the memory free (Resources)"));
        assert!(waits_for("QOSMaxCpuPerUserLimit").contains("limit (QOSMaxCpuPerUserLimit)"));
        assert_eq!(waits_for("Reservation"), "Slurm lets it wait: Reservation");
    }
}
