//! `elasticjob cloud` and its carriers.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;

/// `elasticjob cloud`.
#[derive(Debug, Args)]
pub(crate) struct CloudArguments {
    /// What runs the processes
    #[arg(long, value_enum, default_value = "process")]
    pub(crate) carrier: CarrierType,
    /// The address to listen on; one that other hosts reach needs elasticjob.console-users [default: settings
    /// elasticjob.console.address and elasticjob.console.port, 127.0.0.1:8899]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// No login: every user of this host has all rights; only on a loopback address
    #[arg(long)]
    pub(crate) no_authentication: bool,
    /// The names by which visitors without a login may call it, beside those of this host, with commas between [setting
    /// elasticjob.console.allowed-hosts]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<elasticjob_console::HostName>,
    /// Where packages, logs and outcomes are kept, and without a registry center the registrations [default: elasticjob-cloud]; the
    /// carrier slurm needs it, a folder that all nodes and schedulers share
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// The most MB that a package of a web server may have, for the carriers process and slurm [default: 4096]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) package_limit: Option<u64>,
    /// The CPUs that all processes together may take [default: those of the host]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) cpus: Option<f64>,
    /// The memory in MB that all processes together may take [default: that of the host]
    #[arg(long, value_name = "MB")]
    pub(crate) memory: Option<f64>,
    /// How the memory of a process is limited [default: auto]
    #[arg(long, value_enum)]
    pub(crate) memory_limit: Option<MemoryLimitType>,
    /// The settings of the cluster, for the carrier slurm [default: the variable SLURM_CONF, or what Slurm finds]
    #[cfg(feature = "slurm")]
    #[arg(long, value_name = "FILE")]
    pub(crate) slurm_conf: Option<PathBuf>,
    /// The folder of Slurm's commands, for the carrier slurm [default: PATH]
    #[cfg(feature = "slurm")]
    #[arg(long, value_name = "DIR")]
    pub(crate) slurm_commands: Option<PathBuf>,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
}

impl CloudArguments {
    /// The folder of the scheduler.
    pub(crate) fn folder(&self) -> &Path {
        self.work.as_deref().unwrap_or(Path::new("elasticjob-cloud"))
    }
}

/// What the carrier kubernetes is told.
#[cfg(feature = "kubernetes")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Carrier kubernetes")]
pub(crate) struct KubernetesArguments {
    /// The file that names the cluster [default: that of KUBECONFIG, ~/.kube/config, or the cluster that the scheduler runs in]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of that file [default: its current one]
    #[arg(long, value_name = "NAME")]
    pub(crate) kube_context: Option<String>,
    /// The namespace of the cluster for the Jobs [default: that of the context, or of the scheduler's pod]
    #[arg(long, value_name = "NAME")]
    pub(crate) kube_namespace: Option<String>,
    /// Seconds from when the cluster finds its node silent until a pod is deleted; the grace and 5 s later it counts as lost, and may
    /// still run [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) lost_after: Option<u64>,
    /// A pod template (YAML or JSON, with metadata and spec) to which the carrier adds what a job needs
    #[arg(long, value_name = "FILE")]
    pub(crate) pod_template: Option<PathBuf>,
}

/// A carrier.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum CarrierType {
    /// Processes of this host
    Process,
    /// Pods of a cluster
    #[cfg(feature = "kubernetes")]
    Kubernetes,
    /// Jobs of a Slurm cluster
    #[cfg(feature = "slurm")]
    Slurm,
}

/// A way to limit memory.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum MemoryLimitType {
    /// A control group where one can be made, else the address space
    Auto,
    /// The address space; programs on a JVM or of Go do not start so
    AddressSpace,
    /// None
    Off,
}
