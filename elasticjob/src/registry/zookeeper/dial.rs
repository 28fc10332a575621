//! Opens a session: reaches a server, creates the namespace, checks that it can be used.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::task::{JoinError, spawn_blocking};
use zookeeper_client::{AddWatchMode, Client, Connector, CreateMode, Error, MultiWriteError};

use super::access::acls;
use super::answer;
use super::diagnose::look_at;
use super::tls::{self, Loaded};
use super::{ConnectError, ZookeeperConfiguration};
use crate::log::{apart, warn};
use crate::random::random_u64;
use crate::texts;

/// Opens a session within `patience`. Returns a client whose root is the namespace.
pub(super) async fn dial(config: &ZookeeperConfiguration, patience: Duration) -> Result<Client, ConnectError> {
    let tls = read_files(config).await?;
    let findings = Mutex::new(Vec::new());
    let look = async |server| {
        let found = look_at(server, tls.as_ref()).await;
        findings.lock().unwrap_or_else(PoisonError::into_inner).push(texts::of_server(server, found));
    };
    // Servers are examined one by one only when the client takes long, so that a connect which works costs nothing.
    let look_at_all = async {
        tokio::time::sleep(patience / 2).await;
        futures_util::future::join_all(config.servers().map(look)).await;
        std::future::pending().await
    };
    let opened = tokio::time::timeout(patience, async {
        tokio::select! {
            result = open_in_the_end(config, tls.as_ref()) => result,
            never = look_at_all => never,
        }
    });
    match opened.await {
        Err(_) => {
            let findings = findings.into_inner().unwrap_or_else(PoisonError::into_inner);
            let detail = if findings.is_empty() { texts::servers_silent() } else { texts::problems(findings) };
            Err(ConnectError::Unreachable { servers: config.server_lists.clone(), waited: patience, detail })
        }
        Ok(Err(problem)) => Err(explain(config, problem)),
        Ok(Ok(client)) => Ok(client),
    }
}

/// Reads the files of TLS, not on the thread of coordination: they may be on a slow disk.
async fn read_files(config: &ZookeeperConfiguration) -> Result<Option<Loaded>, ConnectError> {
    let Some(tls) = config.tls.clone() else { return Ok(None) };
    let failed = |error: JoinError| ConnectError::Failed {
        servers: config.server_lists.clone(),
        namespace: config.namespace.clone(),
        what: CONNECT,
        why: error.to_string(),
    };
    let loaded = spawn_blocking(move || tls::load(&tls)).await.map_err(failed)?;
    loaded.map(Some).map_err(ConnectError::Invalid)
}

/// A step that failed, and the error.
struct Problem {
    what: &'static str,
    error: Error,
}

/// Opens a session. Opens another one when no server answered for a session time-out, or when the connection broke
/// before the session could be used: servers of an ensemble come and go.
async fn open_in_the_end(config: &ZookeeperConfiguration, tls: Option<&Loaded>) -> Result<Client, Problem> {
    let mut retry = 0;
    loop {
        match open(config, tls).await {
            Err(Problem { what, error }) if is_lost(&error) => {
                let pause = config.pause(retry, random_u64());
                retry += 1;
                // The caller reports when no server was reached at all.
                if what != CONNECT {
                    apart(move || {
                        warn!(%error, "the connection to ZooKeeper broke, next attempt in {} ms", pause.as_millis());
                    });
                }
                tokio::time::sleep(pause).await;
            }
            opened => return opened,
        }
    }
}

/// Whether the server gave no answer, which does not count against this client.
fn is_lost(error: &Error) -> bool {
    !answer::is_answer(error) && !matches!(error, Error::AuthFailed)
}

const CONNECT: &str = "connect to";

/// The settings that all connections of a registry center share.
fn connector(config: &ZookeeperConfiguration, tls: Option<&Loaded>) -> Connector {
    let mut connector = Client::connector().with_connection_timeout(config.connection_timeout());
    if let Some(digest) = &config.digest {
        connector = connector.with_auth("digest", digest.reveal().as_bytes());
    }
    match tls {
        Some(tls) => tls.on(connector),
        None => connector,
    }
}

/// The time-out that a server grants to a session which wants `wanted`. That session ends at once. `None`: the server
/// does not answer.
pub(super) async fn granted(config: &ZookeeperConfiguration, wanted: Duration) -> Option<Duration> {
    let tls = read_files(config).await.ok()?;
    let connector = connector(config, tls.as_ref()).with_session_timeout(wanted).with_fail_eagerly();
    let server = config.dialled_once();
    let client = tokio::time::timeout(config.connection_timeout(), connector.connect(&server)).await.ok()?.ok()?;
    Some(client.session_timeout())
}

async fn open(config: &ZookeeperConfiguration, tls: Option<&Loaded>) -> Result<Client, Problem> {
    let connector = connector(config, tls).with_session_timeout(config.session_timeout());
    let client = during(CONNECT, connector.connect(&config.dialled_servers())).await?;
    let root = config.root();
    if config.create_namespace {
        create_missing(config, &client, &root).await?;
    }
    during("read", client.get_data(&root)).await?;
    during("write", try_write(config, &client, &root)).await?;
    // The watcher is dropped at once. A server that does not know the request answers that.
    during("watch", client.watch(&root, AddWatchMode::PersistentRecursive)).await?;
    client.chroot(root).map_err(|_| Problem { what: "use", error: Error::BadArguments(&"the namespace is no path") })
}

async fn during<T>(what: &'static str, step: impl Future<Output = Result<T, Error>>) -> Result<T, Problem> {
    step.await.map_err(|error| Problem { what, error })
}

/// Looks before it creates: a user of a namespace may not be allowed to create one.
async fn create_missing(config: &ZookeeperConfiguration, client: &Client, root: &str) -> Result<(), Problem> {
    let ends = root.match_indices('/').skip(1).map(|(end, _)| end).chain([root.len()]);
    for path in ends.map(|end| &root[..end]) {
        if during("look for", client.check_stat(path)).await?.is_some() {
            continue;
        }
        match client.create(path, b"", &CreateMode::Persistent.with_acls(acls(config))).await {
            Ok(_) | Err(Error::NodeExists) => (),
            Err(error) => return Err(Problem { what: "create", error }),
        }
    }
    Ok(())
}

/// Creates and deletes a node in a transaction that fails after that, so that no client sees the node.
async fn try_write(config: &ZookeeperConfiguration, client: &Client, root: &str) -> Result<(), Error> {
    let probe = format!("{root}/probe-{:x}", client.session_id().0);
    let mut writer = client.new_multi_writer();
    writer.add_create(&probe, b"", &CreateMode::Ephemeral.with_acls(acls(config)))?;
    writer.add_delete(&probe, None)?;
    writer.add_check_version(&probe, -1)?;
    match writer.commit().await {
        Err(MultiWriteError::OperationFailed { index: 2, source: Error::NoNode }) | Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn explain(config: &ZookeeperConfiguration, Problem { what, error }: Problem) -> ConnectError {
    let (servers, namespace) = (config.server_lists.clone(), config.namespace.clone());
    match error {
        Error::NoAuth | Error::InvalidAcl => {
            ConnectError::Forbidden { servers, namespace, what, digest: config.digest.is_some() }
        }
        Error::AuthFailed => ConnectError::AuthFailed { servers },
        Error::NoNode if !config.create_namespace => ConnectError::NoNamespace { servers, namespace },
        Error::Unimplemented => ConnectError::TooOld { servers },
        error => ConnectError::Failed { servers, namespace, what, why: error.to_string() },
    }
}
