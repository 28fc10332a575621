//! A node: containerd and the kubelet, in namespaces of their own for mounts and processes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::api::Api;
use super::parts::until;
use crate::ports;

/// A node. It is killed with all of its containers when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Node(Arc<Running>);

#[derive(Debug)]
struct Running {
    folder: PathBuf,
    process: Mutex<Child>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
        // What runc made is empty now; the kernel keeps what another kubelet of this host uses.
        let clean = "find /sys/fs/cgroup -depth -type d -path '*/k8s.io*' -exec rmdir {} + 2>/dev/null";
        let _ = Command::new("sh").args(["-c", clean]).status();
    }
}

impl Node {
    pub(super) fn start(program: &Path, cluster: &Path, name: &str, api: &Api) -> io::Result<Self> {
        let folder = cluster.join(format!("node-{name}"));
        fs::create_dir_all(folder.join("images"))?;
        fs::hard_link(cluster.join("box.tar"), folder.join("images/box.tar"))?;
        fs::copy(cluster.join("admin.conf"), folder.join("admin.conf"))?;
        // A kubelet that has not registered its node within some seconds of its start gives storage up, and is not ready from then
        // on until it is started again: on a busy machine that happens. It takes over a node that is there.
        let object = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
        let (status, answer) = api.send_now("POST", "/api/v1/nodes", Some(object))?;
        if status != 201 {
            return Err(io::Error::other(format!("the node {name} is not registered: {status} {answer}")));
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("kubernetes/node.sh");
        let log = File::create(folder.join("node.log"))?;
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh"]);
        command.arg(script).arg(&folder).arg(program).arg(ports::free()?.to_string()).arg(name);
        let process = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        let node = Self(Arc::new(Running { folder: folder.clone(), process: Mutex::new(process) }));
        let path = format!("/api/v1/nodes/{name}");
        until(&format!("the node {name}"), &folder.join("kubelet.log"), || {
            Ok(api.read_now(&path)?.and_then(|node| is_ready(&node)))
        })?;
        Ok(node)
    }

    /// Kills it with everything that runs on it, as a host that loses its power.
    pub fn kill(&self) {
        let mut process = self.0.process.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }

    /// Gives the image a further name.
    ///
    /// # Errors
    /// When containerd does not do so.
    pub fn tag(&self, name: &str) -> io::Result<()> {
        let mut command = Command::new("ctr");
        command.arg("-a").arg(self.0.folder.join("containerd.sock"));
        command.args(["-n", "k8s.io", "images", "tag", "--force", "localhost/box:1", name]);
        let output = command.stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))))
    }
}

/// Whether a node takes pods; the error says what it waits for.
fn is_ready(node: &Value) -> Result<(), String> {
    let conditions = node["status"]["conditions"].as_array();
    match conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready") {
        Some(ready) if ready["status"] == "True" => Ok(()),
        Some(ready) => Err(ready["message"].to_string()),
        None => Err("the kubelet has said nothing of it".to_owned()),
    }
}
