//! Facts of the cluster: its version, its limits, and the sizes of its nodes.

use std::time::Duration;

use elasticjob::log::{info, warn};

use super::command::{Commands, Failed};
use super::queue::seconds;

/// The oldest version that the carrier works with.
const OLDEST: (u32, u32) = (22, 5);

/// The pause before a controller that is away is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// A cluster.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cluster {
    pub(super) name: String,
    /// The indexes of an array are below this.
    pub(super) max_array_size: u32,
    pub(super) nodes: Vec<NodeSize>,
}

/// A size of nodes of a partition, with the limit of the partition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeSize {
    pub(super) partition: String,
    pub(super) cpus: u64,
    pub(super) megabytes: u64,
    /// After how many minutes the partition ends a job; `None` for never.
    pub(super) minutes: Option<u64>,
}

impl Cluster {
    /// Asks for everything, and again as long as the controller is away.
    pub(super) async fn once_it_answers(commands: &Commands) -> Result<Self, Failed> {
        let mut was_away = false;
        loop {
            match Self::ask(commands).await {
                Err(failed) if failed.is_away() => {
                    if !std::mem::replace(&mut was_away, true) {
                        warn!("the controller of Slurm is away, and is asked again until it answers: {}", failed.why());
                    }
                    tokio::time::sleep(ASK_AGAIN).await;
                }
                answer => {
                    if was_away {
                        info!("Slurm answers again");
                    }
                    return answer;
                }
            }
        }
    }

    async fn ask(commands: &Commands) -> Result<Self, Failed> {
        let settings = commands.run("scontrol", ["show", "config"]).await?;
        let sizes = node_sizes(commands).await?;
        Self::read(&settings, sizes).map_err(Failed::Refused)
    }

    fn read(settings: &str, nodes: Vec<NodeSize>) -> Result<Self, String> {
        let setting = |name: &str| {
            let mut pairs = settings.lines().filter_map(|line| line.split_once('='));
            let found = pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
            found.ok_or_else(|| format!("`scontrol show config` does not say {name}"))
        };
        let version = setting("SLURM_VERSION")?;
        if number_of(version).is_none_or(|version| version < OLDEST) {
            let (year, month) = OLDEST;
            return Err(format!("Slurm is {version}, and the oldest version that can be used is {year}.{month:02}"));
        }
        let size = setting("MaxArraySize")?;
        Ok(Self {
            name: setting("ClusterName")?.to_owned(),
            max_array_size: size.parse().map_err(|_| format!("MaxArraySize is '{size}', which is no number"))?,
            nodes,
        })
    }
}

/// The sizes of the nodes that the partitions have now.
pub(super) async fn node_sizes(commands: &Commands) -> Result<Vec<NodeSize>, Failed> {
    let text = commands.run("sinfo", ["--noheader", "--exact", "--format", "%R|%c|%m|%l"]).await?;
    text.lines().map(|line| size_of(line).map_err(Failed::NotReached)).collect()
}

fn size_of(line: &str) -> Result<NodeSize, String> {
    let read = || {
        let mut fields = line.split('|');
        let (partition, cpus, megabytes, limit) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        // `+` stands for "or more".
        let number = |text: &str| text.trim().trim_end_matches('+').parse().ok();
        // `infinite` is no time, and so no limit.
        let minutes = seconds(limit.trim()).and_then(|seconds| u64::try_from(seconds / 60).ok());
        let partition = partition.trim().to_owned();
        Some(NodeSize { partition, cpus: number(cpus)?, megabytes: number(megabytes)?, minutes })
    };
    read().ok_or_else(|| format!("sinfo wrote '{line}', which is no size of a node"))
}

/// Year and month of a version such as `22.05.8`.
fn number_of(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(version: &str) -> String {
        format!(
            "Configuration data as of 2026-11-25T03:00:00\nClusterName             = shop\nMaxArraySize            = 1001\nSLURM_VERSION           = {version}\n"
        )
    }

    #[test]
    fn the_settings_of_a_cluster_are_read() {
        let cluster = Cluster::read(&settings("22.05.8"), vec![]).unwrap();
        assert_eq!((cluster.name.as_str(), cluster.max_array_size), ("shop", 1_001));
        assert!(Cluster::read(&settings("23.11.0-0rc1"), vec![]).is_ok());
    }

    #[test]
    fn an_old_version_is_refused_by_name() {
        for version in ["21.08.8", "unknown"] {
            let error = Cluster::read(&settings(version), vec![]).unwrap_err();
            assert!(error.contains(version) && error.contains("22.05"), "{error}");
        }
        let without = settings("22.05.8").replace("MaxArraySize", "MaxSize");
        assert!(Cluster::read(&without, vec![]).unwrap_err().contains("MaxArraySize"));
    }

    #[test]
    fn sizes_of_nodes_are_read() {
        let size = |line| size_of(line).map(|size| (size.partition, size.cpus, size.megabytes, size.minutes));
        let main = |minutes| Ok(("main".to_owned(), 4, 2_000, minutes));
        assert_eq!(size("main|4|2000|infinite"), main(None));
        assert_eq!(size("main|4+|2000+|1:00"), main(Some(1)));
        assert_eq!(size("main|4|2000|2-03:30:00"), main(Some(3_090)));
        assert!(size("main|four|2000|infinite").is_err() && size("main|4|2000").is_err());
    }
}
