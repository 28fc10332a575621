//! The settings of the cluster.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::ports;

/// How many nodes the cluster has.
pub const NODES: usize = 2;

/// A node that does not answer is down after so many seconds.
const SLURMD_TIMEOUT: u32 = 5;

/// A job that is started again waits for so many seconds: only then its credentials are worth nothing on the lost node.
const CRED_EXPIRE: u32 = 6;

pub(super) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Writes all settings and the key into the folder.
pub(super) fn write(folder: &Path, nodes: &str) -> io::Result<()> {
    let mut key = vec![0; 128];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    let file = fs::File::options().create(true).write(true).truncate(true).mode(0o600).open(folder.join("munge.key"));
    io::Write::write_all(&mut file?, &key)?;
    fs::write(folder.join("cgroup.conf"), groups())?;
    let (controller, first) = (ports::free()?, ports::free()?);
    let mut settings = format!(
        "ClusterName=ej\n\
         SlurmctldHost=localhost(127.0.0.1)\n\
         SlurmUser=root\n\
         SlurmdUser=root\n\
         SlurmctldPort={controller}\n\
         SlurmctldPidFile={folder}/slurmctld.pid\n\
         SlurmdPidFile={folder}/%n.pid\n\
         SlurmdSpoolDir={folder}/spool.%n\n\
         StateSaveLocation={folder}/state\n\
         AuthType=auth/munge\n\
         AuthInfo=socket={folder}/munge.sock,cred_expire={CRED_EXPIRE}\n\
         CredType=cred/munge\n\
         MpiDefault=none\n\
         ProctrackType=proctrack/cgroup\n\
         TaskPlugin=task/cgroup\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU_Memory\n\
         SchedulerParameters=sched_min_interval=50000,bf_interval=1,batch_sched_delay=0\n\
         AccountingStorageType=accounting_storage/none\n\
         SlurmdParameters=config_overrides\n\
         SlurmdTimeout={SLURMD_TIMEOUT}\n\
         ReturnToService=2\n\
         KillWait=2\n\
         MaxArraySize=2001\n\
         MaxJobCount=20000\n",
        folder = folder.display(),
    );
    let ports = (0..NODES).map(|node| if node == 0 { Ok(first) } else { ports::free() });
    for (node, port) in ports.enumerate() {
        // More CPUs than there are: items of tests need little.
        settings.push_str(&format!(
            "NodeName={nodes}{} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs=64 RealMemory=16000 State=UNKNOWN\n",
            node + 1,
            port?,
        ));
    }
    settings.push_str(&format!("PartitionName=main Nodes={nodes}[1-{NODES}] Default=YES MaxTime=INFINITE State=UP\n"));
    fs::create_dir_all(folder.join("state"))?;
    fs::write(folder.join("slurm.conf"), settings)
}

/// How memory is limited: by the version of control groups that the system has.
fn groups() -> &'static str {
    if Path::new("/sys/fs/cgroup/memory").exists() {
        "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainRAMSpace=yes\nConstrainCores=no\nConstrainSwapSpace=no\n"
    } else {
        // Without systemd, which machines of tests may not have.
        "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainRAMSpace=yes\nConstrainCores=no\n"
    }
}
