//! `elasticjob cloud`: the scheduler of carried jobs, until SIGTERM or Ctrl-C.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use elasticjob::runtime::JobEnvironment;
use elasticjob::trace::Tracing;
use elasticjob_cloud::carrier::{CarriedCenter, Carrier};
use elasticjob_cloud::process::{MemoryLimit, ProcessCarrier, ProcessOptions};
use elasticjob_cloud::rest::Api;
use elasticjob_cloud::scheduler::{Scheduler, SchedulerOptions};
use elasticjob_console::{Console as WebConsole, ConsoleOptions, DataFile, Grant, Registry, Role};
use elasticjob_starter::settings::{ConsoleSettings, Sources};

use crate::Console;
use crate::args::{CarrierType, CloudArguments, DEFAULT, MemoryLimitType, Registry as Flags};
use crate::connect::{files, zookeeper};
use crate::console::PORT;
use crate::failure::Failure;
use crate::serve::{Held, HeldCenter, HeldRecording, Ready, until_signal};
use crate::traces;

/// The namespace of launches where the registrations are in no registry center.
const EMBEDDED: &str = "embedded";

pub(crate) async fn run(
    wanted: CloudArguments,
    flags: &Flags,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    #[cfg(feature = "slurm")]
    if matches!(wanted.carrier, CarrierType::Slurm) && wanted.work.is_none() {
        let why = "give a folder that all nodes of the cluster and all schedulers have under the same path";
        return Err(Failure::Usage(format!("--carrier slurm needs --work DIR: {why}")));
    }
    let (settings, warnings) = ConsoleSettings::load(&files(flags, sources)).map_err(Failure::Settings)?;
    console.warn(warnings);
    let of_settings = || SocketAddr::new(settings.address, settings.port.unwrap_or(PORT));
    let mut options = settings.options(wanted.listen.unwrap_or_else(of_settings)).map_err(Failure::Settings)?;
    options.allowed_hosts.extend(wanted.allowed_hosts.iter().cloned());
    if wanted.no_authentication {
        if !options.listen.ip().is_loopback() {
            let why =
                "other hosts reach this address, and each of them could run any command here; listen on 127.0.0.1";
            return Err(Failure::Usage(format!("--no-authentication with {}: {why}", options.listen)));
        }
        options.anonymous = vec![Grant::everywhere(Role::Admin)];
    }
    // A second program may have set a subscriber, as tests do.
    let _ = elasticjob_starter::init_logging();
    let data = settings.data;
    until_signal(async |held, console| start(&wanted, options, data, flags, sources, held, console).await, console)
        .await
}

/// Starts the scheduler. It may be dropped at any point: what it has made by then is in `held`.
async fn start(
    wanted: &CloudArguments,
    mut options: ConsoleOptions,
    data: Option<PathBuf>,
    flags: &Flags,
    sources: &Sources,
    held: &mut Held,
    console: &mut Console<'_>,
) -> Result<Ready, Failure> {
    held.data.clone_from(&data);
    if let Some(path) = data {
        // Users that were made on its pages log in here as well.
        options.data = Some(DataFile::open(path).await.map_err(|problem| Failure::Usage(problem.to_string()))?);
    }
    let mut environment = JobEnvironment::builder().build().map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some((tracing, at)) = traces::of_jobs(flags, sources).await? {
        environment = environment.with_tracing(tracing);
        let recording = |tracing: &Tracing| HeldRecording { at, tracing: tracing.clone() };
        held.recordings.extend(environment.tracing().map(recording));
    }
    let mut of_programs = None;
    let (center, namespace, embedded) = match zookeeper(flags, sources, console)? {
        Some(zookeeper) => {
            let namespace = zookeeper.namespace.clone();
            let server_lists = zookeeper.server_lists.clone();
            of_programs = Some(CarriedCenter { server_lists, namespace: namespace.clone() });
            (environment.connect_zookeeper(zookeeper).await?, namespace, None)
        }
        None => {
            let kept = wanted.folder().join("registrations.json");
            let text = format!(
                "no registry center is set: registrations are kept in {}, and this scheduler has no other one beside it; set \
                 elasticjob.reg-center for several",
                kept.display()
            );
            let _ = writeln!(console.stderr, "{text}");
            (environment.embedded_registry(), EMBEDDED.to_owned(), Some(kept))
        }
    };
    let name = flags.name().unwrap_or(DEFAULT);
    held.centers.push(HeldCenter { name: name.to_owned(), center: center.clone() });
    let carrier = carrier(wanted, &namespace).await?;
    let mut of_scheduler = SchedulerOptions::new(environment.clone(), center.clone(), carrier);
    of_scheduler.embedded = embedded;
    of_scheduler.registry_center = of_programs;
    let scheduler = Scheduler::start(of_scheduler).await.map_err(|error| Failure::Console(error.to_string()))?;
    let scheduler = Arc::new(scheduler);
    held.scheduler = Some(scheduler.clone());
    // The pages and the API read with connections of their own.
    let reader = traces::open_shown(flags, sources, console).await?.map(|(reader, _)| Arc::new(reader));
    let mut registry = Registry::new(name, center);
    if let Some((reader, at)) = traces::open_shown(flags, sources, console).await? {
        registry = registry.traces(reader).traces_at(at);
    }
    if let Some(tracing) = environment.tracing() {
        registry = registry.record(tracing.clone());
    }
    let web = WebConsole::new(options, [registry])?;
    let api = Api { scheduler, access: web.access(), registry: name.into(), traces: reader };
    let first = if wanted.no_authentication {
        let _ = writeln!(console.stderr, "no login is asked for: every user of this host has all rights");
        None
    } else {
        web.first_password().cloned()
    };
    Ok(Ready { web: web.with_cloud(name, api.router()), first })
}

async fn carrier(wanted: &CloudArguments, namespace: &str) -> Result<Arc<dyn Carrier>, Failure> {
    #[cfg(feature = "slurm")]
    if !matches!(wanted.carrier, CarrierType::Slurm) {
        slurm_is_not_given(wanted)?;
    }
    match wanted.carrier {
        CarrierType::Process => process(wanted, namespace),
        #[cfg(feature = "kubernetes")]
        CarrierType::Kubernetes => crate::kubernetes::carrier(wanted, namespace).await,
        #[cfg(feature = "slurm")]
        CarrierType::Slurm => slurm(wanted, namespace).await,
    }
}

fn process(wanted: &CloudArguments, namespace: &str) -> Result<Arc<dyn Carrier>, Failure> {
    #[cfg(feature = "kubernetes")]
    crate::kubernetes::are_not_given(&wanted.kubernetes)?;
    let mut options = ProcessOptions::new(wanted.folder(), namespace);
    (options.cpus, options.memory_mb) = (wanted.cpus, wanted.memory);
    options.package_limit_mb = wanted.package_limit;
    options.memory = match wanted.memory_limit {
        None | Some(MemoryLimitType::Auto) => MemoryLimit::Auto,
        Some(MemoryLimitType::AddressSpace) => MemoryLimit::AddressSpace,
        Some(MemoryLimitType::Off) => MemoryLimit::Off,
    };
    let fails = |error| Failure::Usage(format!("--work {}: {error}", wanted.folder().display()));
    Ok(Arc::new(ProcessCarrier::new(options).map_err(fails)?))
}

#[cfg(feature = "slurm")]
fn slurm_is_not_given(wanted: &CloudArguments) -> Result<(), Failure> {
    let options =
        [("--slurm-conf", wanted.slurm_conf.is_some()), ("--slurm-commands", wanted.slurm_commands.is_some())];
    match options.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::Usage(format!("{option} is for --carrier slurm"))),
        None => Ok(()),
    }
}

#[cfg(feature = "slurm")]
async fn slurm(wanted: &CloudArguments, namespace: &str) -> Result<Arc<dyn Carrier>, Failure> {
    use elasticjob_cloud::slurm::{SlurmCarrier, SlurmOptions};

    #[cfg(feature = "kubernetes")]
    crate::kubernetes::are_not_given(&wanted.kubernetes)?;
    let of_process = [
        ("--cpus", wanted.cpus.is_some()),
        ("--memory", wanted.memory.is_some()),
        ("--memory-limit", wanted.memory_limit.is_some()),
    ];
    if let Some((option, _)) = of_process.iter().find(|(_, is_given)| *is_given) {
        let why = "is for --carrier process: Slurm has limits of its own, see cpuCount and memoryMB";
        return Err(Failure::Usage(format!("{option} {why}")));
    }
    let mut options = SlurmOptions::new(wanted.folder(), namespace);
    (options.conf, options.commands) = (wanted.slurm_conf.clone(), wanted.slurm_commands.clone());
    options.package_limit_mb = wanted.package_limit;
    let carrier = SlurmCarrier::connect(options).await;
    Ok(Arc::new(carrier.map_err(|why| Failure::Console(format!("--carrier slurm: {why}")))?))
}
