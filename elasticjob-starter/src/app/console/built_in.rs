//! The web console in the program of the jobs.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use elasticjob::__private::log::{apart, info};
use elasticjob::ident::JobName;
use elasticjob::registry::RegistryCenter;
use elasticjob::trace::{AnyTraceReader, Tracing};
use elasticjob_console::axum::http::HeaderName;
use elasticjob_console::{
    Console, ConsoleError, ConsoleOptions, DataFile, Grant, OidcOptions, PasswordHash, ProxyLogin, Registry, Role,
    Token, TokenHash, User,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::traces::TracesOfJobs;
use crate::AppError;
use crate::logging::patient_stderr;
use crate::plan::Plan;
use crate::settings::{
    ConsoleGrant, ConsoleOidc, ConsoleSettings, ConsoleToken, ConsoleUser, DEFAULT, Key, Origin, SettingError, Settings,
};

impl ConsoleSettings {
    /// The options of a console with these settings that listens on `listen`.
    ///
    /// # Errors
    /// All settings that cannot be used.
    pub fn options(&self, listen: SocketAddr) -> Result<ConsoleOptions, Vec<SettingError>> {
        let mut problems = Vec::new();
        let mut options = ConsoleOptions::default();
        options.listen = listen;
        options.base_path = self.base_path.clone();
        options.read_only = self.read_only;
        options.require_reason = self.require_reason;
        options.secure_cookies = self.secure_cookies;
        options.max_streams = self.max_streams;
        options.max_streams_of_caller = self.max_streams_of_caller;
        let section = Key::of(["console"]);
        match self.language.parse() {
            Ok(language) => options.language = language,
            Err(reason) => {
                problems.push(refused(section.child("language"), self.place("language"), &self.language, reason))
            }
        }
        if let Some(role) = &self.anonymous {
            match role.parse::<Role>() {
                Ok(role) => options.anonymous = vec![Grant::everywhere(role)],
                Err(reason) => {
                    problems.push(refused(section.child("anonymous"), self.place("anonymous"), role, reason))
                }
            }
        }
        let groups = self.roles_of_groups(&mut problems);
        if let Some(oidc) = &self.oidc {
            options.oidc = Some(company(oidc, groups.clone()));
        }
        self.proxies(&mut options, groups, &mut problems);
        for (name, user) in &self.users {
            let of = Key::of(["console-users", name]);
            let ConsoleUser { origin, password_hash, grant } = user;
            let hash = password_hash.reveal().parse::<PasswordHash>().map_err(|error| {
                refused(of.child("password-hash"), origin, &password_hash.to_string(), error.to_string())
            });
            match (hash, grant.read(&of)) {
                (Ok(hash), Ok(grant)) => options.users.push(User::new(name, hash, [grant])),
                (hash, grant) => problems.extend(hash.err().into_iter().chain(grant.err())),
            }
        }
        for (name, token) in &self.tokens {
            let of = Key::of(["console-tokens", name]);
            let ConsoleToken { origin, token_hash, grant, expires, expires_origin } = token;
            let hash = token_hash
                .reveal()
                .parse::<TokenHash>()
                .map_err(|error| refused(of.child("token-hash"), origin, &token_hash.to_string(), error.to_string()));
            let made = match (hash, grant.read(&of)) {
                (Ok(hash), Ok(grant)) => Token::new(name, hash, [grant]),
                (hash, grant) => {
                    problems.extend(hash.err().into_iter().chain(grant.err()));
                    continue;
                }
            };
            match expires.as_deref().map_or(Ok(made.clone()), |end| made.expires(end)) {
                Ok(token) => options.tokens.push(token),
                Err(error) => {
                    let end = expires.as_deref().unwrap_or_default();
                    problems.push(refused(of.child("expires"), expires_origin, end, error.to_string()));
                }
            }
        }
        // Users that cannot be read still count as users.
        let checked = if self.users.is_empty() || !options.users.is_empty() { options.check() } else { Ok(()) };
        if let Err(error) = checked {
            let (name, value) = match &error {
                ConsoleError::BasePath(_) => ("base-path", self.base_path.clone()),
                ConsoleError::AnonymousMayChange(_) => ("anonymous", self.anonymous.clone().unwrap_or_default()),
                // Groups that cannot be read still count as groups.
                ConsoleError::Oidc(_) | ConsoleError::PublicUrl(_) if !problems.is_empty() => return Err(problems),
                ConsoleError::Oidc(_) | ConsoleError::PublicUrl(_) => {
                    problems.extend(self.oidc.as_ref().map(|oidc| oidc.refused(&error)));
                    return Err(problems);
                }
                ConsoleError::ProxyLogin(_) => {
                    ("proxy-user-header", self.proxy_user_header.clone().unwrap_or_default())
                }
                _ => ("address", listen.ip().to_string()),
            };
            problems.push(refused(section.child(name), self.place(name), &value, error.to_string()));
        }
        if problems.is_empty() { Ok(options) } else { Err(problems) }
    }
}

impl ConsoleSettings {
    /// What the members of groups may do.
    fn roles_of_groups(&self, problems: &mut Vec<SettingError>) -> Vec<(String, Grant)> {
        let mut groups = Vec::new();
        for (name, group, grant) in &self.groups {
            match grant.read(&Key::of(["console-groups", name])) {
                Ok(grant) => groups.push((group.clone(), grant)),
                Err(problem) => problems.push(problem),
            }
        }
        groups
    }

    /// The proxies, and the logins that they make.
    fn proxies(&self, options: &mut ConsoleOptions, groups: Vec<(String, Grant)>, problems: &mut Vec<SettingError>) {
        let mut wrong = |name: &'static str, value: &str, reason: String| {
            problems.push(refused(Key::of(["console", name]), self.place(name), value, reason));
        };
        for range in &self.trusted_proxies {
            match range.parse() {
                Ok(range) => options.trusted_proxies.push(range),
                Err(reason) => wrong("trusted-proxies", range, reason),
            }
        }
        for name in &self.allowed_hosts {
            match name.parse() {
                Ok(name) => options.allowed_hosts.push(name),
                Err(reason) => wrong("allowed-hosts", name, reason),
            }
        }
        let Some(user) = &self.proxy_user_header else { return };
        let mut header = |name: &'static str, value: &str| {
            let read = value.parse::<HeaderName>();
            read.map_err(|_| wrong(name, value, format!("'{value}' is no name of a header"))).ok()
        };
        let user = header("proxy-user-header", user);
        let of_groups = header("proxy-groups-header", &self.proxy_groups_header);
        options.proxy_login = user.zip(of_groups).map(|(user, of_groups)| ProxyLogin::new(user, of_groups, groups));
    }
}

impl ConsoleOidc {
    /// What is wrong with it, at its place.
    fn refused(&self, error: &ConsoleError) -> SettingError {
        let (name, origin, value, reason) = match error {
            ConsoleError::Oidc(reason) => ("issuer", &self.origin, &self.issuer, reason.clone()),
            other => ("public-url", &self.public_url_origin, &self.public_url, other.to_string()),
        };
        refused(Key::of(["console-oidc", name]), origin, value, reason)
    }
}

/// The login with the accounts of a company.
fn company(oidc: &ConsoleOidc, groups: Vec<(String, Grant)>) -> OidcOptions {
    let mut options = OidcOptions::new(&oidc.issuer, &oidc.client_id, &oidc.public_url);
    options.client_secret.clone_from(&oidc.client_secret);
    options.scopes.clone_from(&oidc.scopes);
    options.groups_claim.clone_from(&oidc.groups_claim);
    options.groups = groups;
    options
}

impl ConsoleGrant {
    fn read(&self, of: &Key) -> Result<Grant, SettingError> {
        let role = self.role.parse::<Role>();
        let role = role.map_err(|reason| refused(of.child("role"), &self.role_origin, &self.role, reason))?;
        Ok(Grant::everywhere(role).registries(&self.registries).jobs(&self.jobs))
    }
}

fn refused(key: Key, origin: &Origin, value: &str, reason: String) -> SettingError {
    SettingError::Refused { origin: origin.clone(), key: key.to_string(), value: value.to_owned(), reason }
}

/// A console that serves.
pub(in super::super) struct ConsolePort {
    url: String,
    end: CancellationToken,
    served: JoinHandle<()>,
}

impl ConsolePort {
    pub(in super::super) fn url(&self) -> &str {
        &self.url
    }

    pub(in super::super) async fn close(self) {
        self.end.cancel();
        // A task that panicked has ended, too.
        let _ = self.served.await;
    }
}

/// What is wrong with the settings, where a console is wanted.
pub(in super::super) fn problems(settings: &ConsoleSettings) -> Vec<SettingError> {
    let wanted = settings.port.map(|port| SocketAddr::new(settings.address, port));
    wanted.and_then(|listen| settings.options(listen).err()).unwrap_or_default()
}

/// Opens the console where a port is set.
///
/// # Errors
/// [`AppError::Console`] when it cannot listen, or when its settings cannot be used.
pub(in super::super) async fn open<'r>(
    settings: &Settings,
    centers: impl Iterator<Item = (&'r str, &'r Arc<dyn RegistryCenter>)>,
    plan: &Plan,
    tracings: &BTreeMap<String, Tracing>,
) -> Result<Option<ConsolePort>, AppError> {
    let console = &settings.console;
    let Some(port) = console.port else { return Ok(None) };
    let wrong = |reason: String| AppError::Console { origin: console.origin.clone(), reason };
    let options = console.options(SocketAddr::new(console.address, port));
    let mut options = options.map_err(|problems| AppError::Invalid(problems.into_iter().map(Into::into).collect()))?;
    if let Some(path) = &console.data {
        options.data = Some(DataFile::open(path).await.map_err(|problem| AppError::Console {
            origin: console.place("data").clone(),
            reason: problem.to_string(),
        })?);
    }
    let (mut registries, readers) = (Vec::new(), readers(settings, tracings).await);
    for (name, center) in centers {
        let of_center = if name == DEFAULT { Some(&settings.reg_center) } else { settings.reg_centers.get(name) };
        let mut registry = Registry::new(name, Arc::clone(center));
        if let Some(of_center) = of_center {
            registry = registry.settings(of_center.shown());
        }
        registry = traced(registry, name, plan, &readers, tracings);
        registries.push(registry);
    }
    let made = Console::new(options, registries).map_err(|error| wrong(error.to_string()))?;
    if let Some(first) = made.first_password().cloned() {
        // Not to the log, which others may read.
        let text = format!("console: log in as {} with the password {}", first.user, first.password);
        let _ = writeln!(patient_stderr(), "{text}");
    }
    let listening = made.listen().await.map_err(|error| {
        wrong(format!("{error}; another program may have the port, or another copy of this one: set another one, or 0"))
    })?;
    let url = listening.url();
    let shown = url.clone();
    apart(move || info!("the console is at {shown}"));
    let end = CancellationToken::new();
    let ended = end.clone().cancelled_owned();
    let served = tokio::spawn(listening.serve(ended));
    Ok(Some(ConsolePort { url, end, served }))
}

/// Shows the traces of the jobs of a registry center, each from the storage that it traces to, and records there what operators
/// do to it.
fn traced(
    registry: Registry,
    name: &str,
    plan: &Plan,
    readers: &Readers,
    tracings: &BTreeMap<String, Tracing>,
) -> Registry {
    let jobs = plan.jobs.iter().filter(|job| job.registry_center.as_deref().unwrap_or(DEFAULT) == name);
    let of_jobs: BTreeMap<JobName, String> = jobs
        .map(|job| (job.configuration.job_name().clone(), job.tracing.as_deref().unwrap_or(DEFAULT).to_owned()))
        .collect();
    let is_used =
        |tracing: &String| of_jobs.values().any(|used| used == tracing) || (tracing == DEFAULT && name == DEFAULT);
    let used = readers.iter().filter(|(tracing, _)| is_used(tracing));
    let (own, at): (BTreeMap<_, _>, Vec<_>) =
        used.map(|(tracing, (reader, at))| ((tracing.clone(), reader.clone()), at.as_str())).unzip();
    let recorded = tracings.iter().filter(|(tracing, _)| is_used(tracing)).map(|(_, tracing)| tracing);
    let usual = tracings.get(DEFAULT).filter(|_| is_used(&DEFAULT.to_owned())).or(recorded.into_iter().next());
    let of_job = |(job, tracing): (&JobName, &String)| Some((job.clone(), tracings.get(tracing)?.clone()));
    let registry = match usual {
        Some(usual) => registry.record(usual.clone()).record_of_jobs(of_jobs.iter().filter_map(of_job)),
        None => registry,
    };
    if own.is_empty() {
        return registry;
    }
    let at = at.join(", ");
    registry.traces(AnyTraceReader::new(TracesOfJobs::new(own, DEFAULT, of_jobs))).traces_at(at)
}

/// Readers of the databases that jobs trace to, by the names of the tracings, each with the name of its database.
type Readers = BTreeMap<String, (Arc<AnyTraceReader>, String)>;

/// The readers of the tracings that jobs use, and of the one without a name. Where a database cannot be read, the console shows
/// everything but the history of its jobs.
#[cfg(feature = "tracing-rdb")]
async fn readers(settings: &Settings, tracings: &BTreeMap<String, Tracing>) -> Readers {
    use elasticjob::__private::log::warn;
    use elasticjob::trace::rdb::RdbTraceReader;

    let named = settings.tracings.iter().filter_map(|(name, tracing)| Some((name.as_str(), tracing.as_ref()?)));
    let named = named.filter(|(name, _)| tracings.contains_key(*name));
    let all = named.chain(settings.tracing.as_ref().map(|tracing| (DEFAULT, tracing)));
    let mut readers = Readers::new();
    for (name, tracing) in all.filter(|(_, tracing)| tracing.is_rdb() && tracing.data_source.is_some()) {
        let Ok(source) = tracing.source() else { continue };
        match RdbTraceReader::connect(&source, tracing.time_zone).await {
            Ok(reader) => {
                let at = reader.at().to_owned();
                readers.insert(name.to_owned(), (Arc::new(AnyTraceReader::new(reader)), at));
            }
            Err(problem) => {
                let name = name.to_owned();
                apart(move || warn!("the console shows no history of the tracing '{name}': {problem}"));
            }
        }
    }
    readers
}

#[cfg(not(feature = "tracing-rdb"))]
async fn readers(_: &Settings, _: &BTreeMap<String, Tracing>) -> Readers {
    Readers::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Sources;

    #[test]
    fn the_limits_of_streams_are_those_of_the_settings_and_by_default_those_of_the_options() {
        let limits = |arguments: &[&str]| {
            let sources = Sources::of_arguments(arguments.iter().copied());
            let (settings, _) = ConsoleSettings::load(&sources).expect("they are right");
            let options = settings.options(ConsoleOptions::default().listen).expect("they are right");
            (options.max_streams, options.max_streams_of_caller)
        };
        let usual = ConsoleOptions::default();
        assert_eq!(limits(&[]), (usual.max_streams, usual.max_streams_of_caller));
        let given = ["--elasticjob.console.max-streams=500", "--elasticjob.console.max-streams-of-caller=20"];
        assert_eq!(limits(&given), (500, 20));
    }
}
