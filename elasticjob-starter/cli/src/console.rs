//! `elasticjob console`: serves the web console until SIGTERM or Ctrl-C.

use std::io::{Read, stdin};
use std::net::SocketAddr;
use std::path::PathBuf;

use elasticjob_console::{
    Console as WebConsole, ConsoleError, ConsoleOptions, DataFile, PasswordHash, Registry, TokenHash,
};
use elasticjob_starter::init_logging;
use elasticjob_starter::settings::{ConsoleSettings, Sources};

use crate::Console;
use crate::args::{ConsoleArguments, ConsoleCommand, Registry as Flags};
use crate::connect::{Named, connect_all, files};
use crate::failure::Failure;
use crate::serve::{Held, HeldCenter, HeldRecording, Ready, until_signal};
use crate::traces;

/// The port without a setting.
pub(crate) const PORT: u16 = 8899;

pub(crate) async fn run(
    wanted: ConsoleArguments,
    flags: &Flags,
    sources: &Sources,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    match wanted.command {
        Some(ConsoleCommand::HashPassword) => return hash_password(),
        Some(ConsoleCommand::SetPassword { user, data }) => {
            let data = match data {
                Some(data) => Some(data),
                None => ConsoleSettings::load(&files(flags, sources)).map_err(Failure::Settings)?.0.data,
            };
            let why = "no data file: give --data FILE, or set elasticjob.console.data";
            return set_password(&user, data.ok_or_else(|| Failure::Usage(why.to_owned()))?).await;
        }
        Some(ConsoleCommand::NewToken) => return new_token(),
        None => {}
    }
    let (settings, warnings) = ConsoleSettings::load(&files(flags, sources)).map_err(Failure::Settings)?;
    console.warn(warnings);
    let of_settings = || SocketAddr::new(settings.address, settings.port.unwrap_or(PORT));
    let mut options = settings.options(wanted.listen.unwrap_or_else(of_settings)).map_err(Failure::Settings)?;
    options.read_only |= wanted.read_only;
    options.allowed_hosts.extend(wanted.allowed_hosts);
    if let Some(path) = wanted.base_path {
        options.base_path = path;
    }
    // Who comes in and who is kept out is in the log, and so is what becomes of the connection.
    init_logging().map_err(|error| Failure::Usage(error.to_string()))?;
    let data = wanted.data.or(settings.data);
    until_signal(async |held, console| start(options, data, flags, sources, held, console).await, console).await
}

/// Makes the console. It may be dropped at any point: what it has made by then is in `held`.
async fn start(
    mut options: ConsoleOptions,
    data: Option<PathBuf>,
    flags: &Flags,
    sources: &Sources,
    held: &mut Held,
    console: &mut Console<'_>,
) -> Result<Ready, Failure> {
    held.data.clone_from(&data);
    if let Some(path) = data {
        options.data = Some(DataFile::open(path).await.map_err(|problem| Failure::Usage(problem.to_string()))?);
    }
    let all = connect_all(flags, sources, console).await?;
    let centers = all.iter().map(|one| HeldCenter { name: one.name.clone(), center: one.center.clone() });
    held.centers = centers.collect();
    let (own, mut named) = (traces::own(flags, sources, console)?, traces::named(flags, sources, console)?);
    let mut registries = Vec::new();
    for Named { name, center, shown, away } in all {
        let mut registry = Registry::new(name.as_str(), center).settings(shown);
        if let Some(why) = away {
            registry = registry.away(why);
        }
        // Jobs without a tracing of their own trace to the one without a name, whichever registry center has them.
        if let Some(tracing) = named.remove(&name).or_else(|| own.clone()) {
            let (reader, at, is_away) = traces::reader_that_may_come_later(&tracing).await?;
            registry = registry.traces(reader).traces_at(at.as_str());
            match traces::tracing_to(&tracing, is_away).await {
                Ok(recording) => {
                    registry = registry.record(recording.clone());
                    held.recordings.push(HeldRecording { at, tracing: recording });
                }
                Err(why) => {
                    let text = format!("warning: actions are not recorded in the decision log: {why}");
                    let _ = writeln!(console.stderr, "{text}");
                }
            }
        }
        registries.push(registry);
    }
    let web = WebConsole::new(options, registries)?;
    let first = web.first_password().cloned();
    Ok(Ready { web, first })
}

/// The password on the standard input, without the end of its line.
fn read_password() -> Result<String, Failure> {
    let mut password = String::new();
    let read = stdin().read_to_string(&mut password);
    read.map_err(|error| Failure::Usage(format!("no password on the standard input: {error}")))?;
    let password = password.strip_suffix('\n').unwrap_or(&password);
    Ok(password.strip_suffix('\r').unwrap_or(password).to_owned())
}

fn hash_of(password: &str) -> Result<PasswordHash, Failure> {
    PasswordHash::of(password).map_err(|problem| Failure::Usage(problem.to_string()))
}

fn hash_password() -> Result<String, Failure> {
    Ok(format!("{}\n", hash_of(&read_password()?)?.as_str()))
}

async fn set_password(user: &str, data: PathBuf) -> Result<String, Failure> {
    if !data.exists() {
        return Err(Failure::Usage(format!("there is no {}: give the data file of the console", data.display())));
    }
    let given = read_password()?;
    let is_made = given.is_empty();
    let password = if is_made {
        PasswordHash::random_password().map_err(|problem| Failure::Console(problem.to_string()))?
    } else {
        given
    };
    let hash = hash_of(&password)?;
    let unusable = |problem: elasticjob_console::DataError| Failure::Usage(problem.to_string());
    // The log of the file says what was done.
    let data = DataFile::open(data).await.map_err(unusable)?;
    let set = data.set_password(user, hash).await.map_err(unusable);
    data.close().await;
    set?;
    Ok(match is_made {
        true => format!("log in as {user} with the password {password}\n"),
        false => format!("the password of {user} is set\n"),
    })
}

fn new_token() -> Result<String, Failure> {
    let (token, hash) = TokenHash::new_token().map_err(|problem| Failure::Console(problem.to_string()))?;
    Ok(format!("token: {token}\ntoken-hash: {hash}\n"))
}

impl From<ConsoleError> for Failure {
    fn from(error: ConsoleError) -> Self {
        match error {
            ConsoleError::OpenToOthers(_) | ConsoleError::AnonymousMayChange(_) | ConsoleError::BasePath(_) => {
                Self::Usage(error.to_string())
            }
            other => Self::Console(other.to_string()),
        }
    }
}
