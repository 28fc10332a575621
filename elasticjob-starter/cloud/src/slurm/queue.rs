//! Reads this user's jobs from `squeue`.

use chrono::{DateTime, SecondsFormat, Utc};

use super::command::{Commands, Failed};

/// How the rows are asked for. The name is the last field: those of other jobs may have any character.
const FORMAT: &str = "%F|%K|%T|%N|%S|%M|%r|%j";

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
    /// For how many seconds since its begin it was halted, or a little less: Slurm does not count them as used. Times of the controller
    /// alone make it, so that a clock of this host that differs does not count.
    /// 0 where its processes do not run.
    pub(super) halted: i64,
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

    /// Whether it has no node so far that it may run on.
    pub(super) fn waits(&self) -> bool {
        matches!(self.state, JobState::Pending | JobState::Starting)
    }

    /// Reads a line of an answer to a question of this time, in seconds since 1970. `None` for jobs that are not carried.
    fn parse(line: &str, asked: i64) -> Result<Option<Self>, String> {
        let wrong = || format!("squeue wrote '{line}', which is not of the form {FORMAT}");
        let mut fields = line.splitn(8, '|');
        let mut next = || fields.next().ok_or_else(wrong);
        let (array, index, state, node) = (next()?, next()?, next()?, next()?);
        let (since, used, reason, name) = (next()?, next()?, next()?, next()?);
        // A job that is no array is of the user, whatever its name.
        if !name.starts_with(OURS) || index == "N/A" {
            return Ok(None);
        }
        let since = match since {
            "N/A" | "" => None,
            seconds => Some(seconds.parse().map_err(|_| wrong())?),
        };
        let passed = |since: i64, used: i64| asked.saturating_sub(since).saturating_sub(used).max(0);
        // In other states Slurm does not count on, or has not begun to.
        let counts = since.zip(seconds(used)).filter(|_| state == "RUNNING");
        let row = Self {
            halted: counts.map_or(0, |(since, used)| passed(since, used)),
            array: array.parse().map_err(|_| wrong())?,
            index: index.parse().map_err(|_| wrong())?,
            state: JobState::parse(state).ok_or_else(wrong)?,
            name: name.to_owned(),
            node: node.to_owned(),
            since,
            reason: reason.to_owned(),
        };
        Ok(Some(row))
    }
}

/// All rows of carried jobs. Those of jobs that have ended are there as long as Slurm remembers them (`MinJobAge`).
pub(super) async fn rows(commands: &Commands) -> Result<Vec<Row>, Failed> {
    // Before the command: what it answers is of this time or later.
    let asked = Utc::now().timestamp();
    let arguments = ["--me", "--noheader", "--array", "--states=all", "--format", FORMAT];
    let text = commands.run("squeue", arguments).await?;
    parse(&text, asked).map_err(Failed::NotReached)
}

fn parse(text: &str, asked: i64) -> Result<Vec<Row>, String> {
    text.lines().filter_map(|line| Row::parse(line, asked).transpose()).collect()
}

/// A time as Slurm writes it, `[[DAYS-]HOURS:]MINUTES:SECONDS`, in seconds. `None` of another form: it says nothing then.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let (days, time) = text.split_once('-').unwrap_or(("0", text));
    let parts = time.split(':').map(|part| part.parse::<u32>().ok().map(i64::from));
    let seconds = parts.collect::<Option<Vec<i64>>>()?;
    let is_time = matches!(seconds.len(), 2 | 3);
    is_time
        .then_some(i64::from(days.parse::<u32>().ok()?) * 86_400 + seconds.iter().fold(0, |sum, part| sum * 60 + part))
}

/// What a job waits for, in words where the name of the reason has none. It is expected to begin at `since`, in seconds since 1970, where
/// Slurm knows that.
pub(super) fn waits_for(reason: &str, since: Option<i64>) -> String {
    let words = match reason {
        "None" => "Slurm has not looked at it yet",
        "Resources" => "no node has the CPUs and the memory free",
        "Priority" => "jobs of a higher priority come first",
        "BeginTime" => {
            let when = since.and_then(|since| DateTime::<Utc>::from_timestamp(since, 0));
            let when = when.map(|when| format!(" at {}", when.to_rfc3339_opts(SecondsFormat::Secs, true)));
            let when = when.unwrap_or_default();
            return format!("Slurm starts it again{when}, as it was taken off its node (BeginTime)");
        }
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
        let text = "7|3|RUNNING|n1|1795577608|10:00|None|ej-a-0123\n8|N/A|PENDING||N/A|0:00|Priority|my|own\n\
                    9|0|PENDING||N/A|0:00|ReqNodeNotAvail, UnavailableNodes:n[1-2]|ej-b\n10|2|OUT_OF_MEMORY|n2|1795577608|0:07|OutOfMemory|ej-c\n";
        let rows = parse(text, 1_795_577_608 + 660).unwrap();
        assert_eq!(rows.iter().map(Row::id).collect::<Vec<_>>(), ["7_3", "9_0", "10_2"]);
        let expected = Row {
            array: 7,
            index: 3,
            name: "ej-a-0123".to_owned(),
            state: JobState::Running,
            node: "n1".to_owned(),
            since: Some(1_795_577_608),
            halted: 60,
            reason: "None".to_owned(),
        };
        assert_eq!(rows[0], expected);
        assert_eq!((rows[1].since, rows[1].halted), (None, 0));
        assert_eq!(rows[2].state, JobState::Ended(End::OutOfMemory));
    }

    #[test]
    fn a_row_of_another_form_is_an_error_and_never_a_job_that_is_gone() {
        for wrong in [
            "7|3|RUNNING|n1|1795577608|0:01|ej-a",
            "7|3|DANCING|n1|1|0:01|None|ej-a",
            "7|[0-3]|PENDING||N/A|0:00|None|ej-a",
        ] {
            assert!(parse(wrong, 0).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }

    #[test]
    fn a_time_that_was_used_is_read_in_each_form_of_slurm() {
        let read = ["0:05", "10:00", "1:00:01", "2-00:00:03", "INVALID", "", "5", "1:2:3:4"].map(seconds);
        assert_eq!(read, [Some(5), Some(600), Some(3_601), Some(172_803), None, None, None, None]);
    }

    #[test]
    fn a_job_was_halted_for_what_slurm_does_not_count_and_never_for_less_than_nothing() {
        let of_state =
            |state: &str, used: &str| parse(&format!("7|3|{state}|n1|1000|{used}|None|ej-a"), 1_600).unwrap()[0].halted;
        let of = |used: &str| of_state("RUNNING", used);
        // The answer may be of a time after the question.
        assert_eq!([of("10:00"), of("10:02"), of("4:00"), of("INVALID")], [0, 0, 360, 0]);
        assert_eq!(["COMPLETING", "PENDING", "SUSPENDED", "COMPLETED"].map(|state| of_state(state, "4:00")), [0; 4]);
    }

    #[test]
    fn a_reason_is_told_in_words_and_as_slurm_names_it() {
        let told = |reason| waits_for(reason, Some(1_795_950_585));
        assert!(told("Resources").ends_with("no node has the CPUs and the memory free (Resources)"));
        assert!(told("QOSMaxCpuPerUserLimit").contains("limit (QOSMaxCpuPerUserLimit)"));
        assert_eq!(told("Reservation"), "Slurm lets it wait: Reservation");
        let again = "Slurm starts it again at 2026-11-29T11:09:45Z, as it was taken off its node (BeginTime)";
        assert_eq!(told("BeginTime"), again);
        assert_eq!(waits_for("BeginTime", None), again.replace(" at 2026-11-29T11:09:45Z", ""));
    }
}
