//! The image of all containers, made without a registry of images: busybox with its names.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A busybox that needs no libraries.
pub(super) const BUSYBOX: &str = "/bin/busybox";

/// Writes an archive, as `ctr images import` takes it, of an image with this name.
pub(super) fn write(archive: &Path, name: &str) -> io::Result<()> {
    let work = archive.with_extension("work");
    let (tree, blobs) = (work.join("tree"), work.join("archive/blobs/sha256"));
    for folder in ["bin", "tmp", "etc"] {
        fs::create_dir_all(tree.join(folder))?;
    }
    fs::create_dir_all(&blobs)?;
    fs::copy(BUSYBOX, tree.join("bin/busybox"))?;
    let names = Command::new(BUSYBOX).arg("--list").stdin(Stdio::null()).output()?.stdout;
    for applet in String::from_utf8_lossy(&names).lines().filter(|name| *name != "busybox") {
        std::os::unix::fs::symlink("busybox", tree.join("bin").join(applet))?;
    }
    let layer = work.join("layer");
    tar(&layer, &tree)?;
    let blob = |content: &[u8]| -> io::Result<Value> {
        let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(blobs.join(&digest), content)?;
        Ok(json!({ "digest": format!("sha256:{digest}"), "size": content.len() }))
    };
    let typed = |mut blob: Value, kind: &str| {
        blob["mediaType"] = json!(format!("application/vnd.oci.image.{kind}"));
        blob
    };
    let layer = typed(blob(&fs::read(layer)?)?, "layer.v1.tar");
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let configuration = json!({
        "architecture": architecture, "os": "linux", "rootfs": { "type": "layers", "diff_ids": [layer["digest"]] },
        // The containers that hold the network of a pod have this command, the others their own.
        "config": { "Entrypoint": ["/bin/sleep", "2147483647"], "Env": ["PATH=/bin"] }
    });
    let configuration = typed(blob(configuration.to_string().as_bytes())?, "config.v1+json");
    let manifest = json!({ "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                           "config": configuration, "layers": [layer] });
    let mut manifest = typed(blob(manifest.to_string().as_bytes())?, "manifest.v1+json");
    manifest["annotations"] = json!({ "io.containerd.image.name": name });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    fs::write(work.join("archive/index.json"), index.to_string())?;
    fs::write(work.join("archive/oci-layout"), json!({ "imageLayoutVersion": "1.0.0" }).to_string())?;
    tar(archive, &work.join("archive"))?;
    fs::remove_dir_all(work)
}

fn tar(archive: &Path, folder: &Path) -> io::Result<()> {
    let mut tar = Command::new("tar");
    let status = tar.args(["--owner=0", "--group=0", "-cf"]).arg(archive).arg("-C").arg(folder).arg(".").status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("tar failed: {status}"))) }
}
