//! A cluster of Kubernetes for tests: the real API server, controllers, scheduler and kubelet, built from their modules as one
//! program (`tests/kubernetes`), with containerd and runc. Or an existing cluster.

mod api;
mod build;
mod gateway;
mod ground;
mod image;
pub(crate) mod network;
mod node;
mod parts;

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

pub use self::api::Api;
pub use self::gateway::{Fault, Gateway};
pub use self::ground::Namespace;
pub use self::node::Node;
use crate::group::TemporaryFolder;
use crate::ports;
use crate::programs::{self, Missing};
use parts::Parts;

/// Names the file of an existing cluster.
const EXISTING: &str = "ELASTICJOB_TEST_KUBECONFIG";

/// The name of a node whose logs can be read: the API server has to find its address.
pub const NODE: &str = "localhost";

/// A cluster, ended with all of its pods when it is dropped, unless it was there before.
#[derive(Debug)]
pub struct Cluster {
    kubeconfig: PathBuf,
    api: Option<Api>,
    own: Option<Own>,
}

/// A cluster of this test program.
#[derive(Debug)]
struct Own {
    program: PathBuf,
    // The order is that of ending.
    first: Option<Node>,
    _parts: Parts,
    folder: TemporaryFolder,
}

impl Cluster {
    /// Looks for what a cluster needs.
    ///
    /// # Errors
    /// [`Missing`] says what was not found, and what to do.
    pub fn find() -> Result<(), Missing> {
        if env::var_os(EXISTING).is_some() {
            return Ok(());
        }
        if fs::metadata("/proc/self").map_or(1, |process| process.uid()) != 0 {
            return Err(Missing::new(format!("a cluster is started by root only; or name one with {EXISTING}=FILE")));
        }
        programs::find("go", "a Go of version 1.26 or newer, https://go.dev/dl")?;
        for (program, package) in [("unshare", "util-linux"), ("containerd", "containerd"), ("ctr", "containerd")] {
            programs::find(program, package)?;
        }
        for (file, package) in [
            ("/usr/sbin/runc", "runc"),
            ("/usr/lib/cni/ptp", "containernetworking-plugins"),
            (image::BUSYBOX, "busybox-static"),
        ] {
            if !Path::new(file).exists() {
                return Err(Missing::new(format!("no {file}; on Debian install {package}")));
            }
        }
        Ok(())
    }

    /// Why no cluster is started: there is one, which is not to be harmed.
    pub fn why_none_is_started() -> Option<String> {
        env::var_os(EXISTING).map(|_| format!("{EXISTING} names an existing cluster, whose nodes are left alone"))
    }

    /// Starts a cluster with one node, or takes the existing one.
    ///
    /// # Errors
    /// When something is missing, or does not start; the end of its log is in the error.
    pub fn start() -> io::Result<Self> {
        Self::start_with(NODE)
    }

    /// The same with a node of this name. A name that is no address of this host has no logs.
    ///
    /// # Errors
    /// See [`start`](Self::start).
    pub fn start_with(node: &str) -> io::Result<Self> {
        Self::find().map_err(|missing| io::Error::other(missing.to_string()))?;
        if let Some(file) = env::var_os(EXISTING) {
            return Ok(Self { kubeconfig: file.into(), api: None, own: None });
        }
        let program = build::program()?;
        let folder = TemporaryFolder::new("kubernetes")?;
        let server = ports::free()?;
        let api = Api::new(server);
        let parts = Parts::start(&program, folder.path(), server, &api)?;
        image::write(&folder.path().join("box.tar"), "localhost/box:1")?;
        let kubeconfig = folder.path().join("admin.conf");
        let mut cluster =
            Self { kubeconfig, api: Some(api), own: Some(Own { program, first: None, _parts: parts, folder }) };
        let first = cluster.add_node(node)?;
        cluster.own.iter_mut().for_each(|own| own.first = Some(first.clone()));
        Ok(cluster)
    }

    /// Starts a further node, and waits until it takes pods.
    ///
    /// # Errors
    /// When it does not start, or the cluster is not this program's.
    pub fn add_node(&self, name: &str) -> io::Result<Node> {
        let own = self.own.as_ref().ok_or_else(|| io::Error::other("nodes of an existing cluster are not touched"))?;
        Node::start(&own.program, own.folder.path(), name, self.api())
    }

    /// The node that the cluster began with.
    ///
    /// # Panics
    /// With an existing cluster.
    pub fn node(&self) -> &Node {
        self.own.as_ref().and_then(|own| own.first.as_ref()).expect("the cluster is this program's")
    }

    /// Whether it was there before, and so is not to be harmed.
    pub fn is_existing(&self) -> bool {
        self.own.is_none()
    }

    /// The file that names the cluster, for an administrator.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A file that names the cluster by another address.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn kubeconfig_by(&self, address: &str) -> io::Result<PathBuf> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = self.kubeconfig.with_file_name(format!("by-another-address-{number}.conf"));
        let direct = fs::read_to_string(&self.kubeconfig)?;
        fs::write(&file, direct.replace(&parts::address(self.api().port()), address))?;
        Ok(file)
    }

    /// Requests of an administrator.
    ///
    /// # Panics
    /// With an existing cluster.
    pub fn api(&self) -> &Api {
        self.api.as_ref().expect("the cluster is this program's")
    }

    /// The token of a service account, and a file that names the cluster for it, with the rights that it has.
    ///
    /// # Errors
    /// When there is no such account.
    pub async fn account(&self, namespace: &str, account: &str) -> io::Result<(String, PathBuf)> {
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
        let (status, answer) = self.api().send("POST", &path, Some(&json!({ "spec": {} }))).await;
        let token = answer["status"]["token"].as_str();
        let token = token.ok_or_else(|| io::Error::other(format!("no token of {account}: {status} {answer}")))?;
        let file = self.kubeconfig.with_file_name(format!("{namespace}-{account}.conf"));
        fs::write(&file, parts::kubeconfig(self.api().port(), token, namespace))?;
        Ok((token.to_owned(), file))
    }
}
