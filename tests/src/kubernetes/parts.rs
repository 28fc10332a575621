//! The processes of a control plane.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::api::{ADMIN, Api};
use crate::ports;

/// How long a part may take until it serves.
const START_LIMIT: Duration = Duration::from_secs(120);

/// The controllers that the carrier depends on, and those that make a namespace usable.
const CONTROLLERS: &str = "job-controller,statefulset-controller,garbage-collector-controller,ttl-after-finished-controller,\
                           node-lifecycle-controller,taint-eviction-controller,pod-garbage-collector-controller,\
                           serviceaccount-controller,namespace-controller,deployment-controller,replicaset-controller";

/// The control plane: etcd, API server, controllers and scheduler.
#[derive(Debug)]
pub(super) struct Parts(Vec<Child>);

impl Drop for Parts {
    fn drop(&mut self) {
        for part in self.0.iter_mut().rev() {
            let _ = part.kill();
            let _ = part.wait();
        }
    }
}

impl Parts {
    pub(super) fn start(program: &Path, folder: &Path, server: u16, api: &Api) -> io::Result<Self> {
        let mut parts = Self(Vec::new());
        let key = rcgen::KeyPair::generate().map_err(io::Error::other)?;
        fs::write(folder.join("sa.key"), key.serialize_pem())?;
        fs::write(folder.join("sa.pub"), key.public_key_pem())?;
        fs::write(folder.join("tokens.csv"), format!("{ADMIN},admin,1,\"system:masters\"\n"))?;
        fs::write(folder.join("admin.conf"), kubeconfig(server, ADMIN, "default"))?;
        let (client, peer) = (ports::free()?, ports::free()?);
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        parts.add(
            program,
            folder,
            &["etcd", "--dir=etcd", &format!("--client={}", url(client)), &format!("--peer={}", url(peer))],
        )?;
        parts.add(
            program,
            folder,
            &[
                "kube-apiserver",
                &format!("--etcd-servers={}", url(client)),
                &format!("--secure-port={server}"),
                "--bind-address=127.0.0.1",
                "--cert-dir=certs",
                "--token-auth-file=tokens.csv",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=sa.pub",
                "--service-account-signing-key-file=sa.key",
                "--service-cluster-ip-range=10.99.0.0/24",
                "--endpoint-reconciler-type=none",
            ],
        )?;
        parts.wait(folder, "kube-apiserver", || api.read_now("/readyz"))?;
        parts.add(
            program,
            folder,
            &[
                "kube-controller-manager",
                "--kubeconfig=admin.conf",
                "--leader-elect=false",
                "--secure-port=0",
                "--service-account-private-key-file=sa.key",
                &format!("--controllers={CONTROLLERS}"),
                // A node that does not answer is known to be so after ten seconds.
                "--node-monitor-grace-period=10s",
                "--node-monitor-period=1s",
                "--kube-api-qps=500",
                "--kube-api-burst=1000",
            ],
        )?;
        parts.add(
            program,
            folder,
            &[
                "kube-scheduler",
                "--kubeconfig=admin.conf",
                "--leader-elect=false",
                "--secure-port=0",
                "--kube-api-qps=500",
                "--kube-api-burst=1000",
            ],
        )?;
        let account = "/api/v1/namespaces/default/serviceaccounts/default";
        parts.wait(folder, "kube-controller-manager", || api.read_now(account))?;
        Ok(parts)
    }

    fn add(&mut self, program: &Path, folder: &Path, arguments: &[&str]) -> io::Result<()> {
        let log = File::create(folder.join(format!("{}.log", arguments[0])))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.0.push(command.spawn()?);
        Ok(())
    }

    fn wait(
        &mut self,
        folder: &Path,
        part: &str,
        serves: impl Fn() -> io::Result<Result<Value, String>>,
    ) -> io::Result<()> {
        until(part, &folder.join(format!("{part}.log")), || {
            let ended = self.0.iter_mut().any(|part| !matches!(part.try_wait(), Ok(None)));
            if ended { Err(io::Error::other("a part of the control plane has ended")) } else { serves() }
        })
    }
}

/// Waits for something that starts, which says what is missing until then.
pub(super) fn until<T>(
    what: &str,
    log: &Path,
    mut is: impl FnMut() -> io::Result<Result<T, String>>,
) -> io::Result<()> {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        let why = match is() {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(_)) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(50));
                continue;
            }
            Ok(Err(missing)) => format!("it takes too long: {missing}"),
            Err(error) => error.to_string(),
        };
        let log = fs::read_to_string(log).unwrap_or_default();
        let end: Vec<&str> = log.lines().rev().take(20).collect();
        let end: Vec<&str> = end.into_iter().rev().collect();
        return Err(io::Error::other(format!("{what} does not start: {why}:\n{}", end.join("\n"))));
    }
}

/// The address of an API server.
pub(super) fn address(port: u16) -> String {
    format!("https://127.0.0.1:{port}")
}

/// The file that names the cluster, for the owner of a token.
pub(super) fn kubeconfig(port: u16, token: &str, namespace: &str) -> String {
    // The API server signs a certificate for itself.
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: tests\n\
         clusters: [{{name: tests, cluster: {{server: '{}', insecure-skip-tls-verify: true}}}}]\n\
         users: [{{name: tests, user: {{token: '{token}'}}}}]\n\
         contexts: [{{name: tests, context: {{cluster: tests, user: tests, namespace: {namespace}}}}}]\n",
        address(port)
    )
}
