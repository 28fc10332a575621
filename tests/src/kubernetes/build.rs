//! Builds the program of the cluster once for all tests, into the target folder of Cargo.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::java_peer::target_folder;
use crate::programs;

/// The program, built unless that was done since its sources changed. Go fetches the modules that it does not have. The first
/// build takes about ten minutes of a processor, later ones what Go has kept of it.
pub(super) fn program() -> io::Result<PathBuf> {
    let go = programs::find("go", "golang").map_err(|missing| io::Error::other(missing.to_string()))?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("kubernetes");
    let folder = target_folder()?.join("tools");
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("kubernetes.lock"))?;
    lock.lock()?;
    let mut hasher = DefaultHasher::new();
    for file in ["go.mod", "go.sum", "main.go"] {
        fs::read(sources.join(file))?.hash(&mut hasher);
    }
    let (program, built, wanted) =
        (folder.join("kubernetes"), folder.join("kubernetes.built"), hasher.finish().to_string());
    if program.exists() && fs::read_to_string(&built).ok().as_ref() == Some(&wanted) {
        return Ok(program);
    }
    let mut build = Command::new(go);
    // Optimized it would take twice as long to build, and the tests ask little of it.
    let flags = ["-trimpath", "-buildvcs=false", "-gcflags=all=-N -l", "-ldflags=-s -w", "-o"];
    build.arg("build").args(flags).arg(&program).arg(".");
    let output = build.current_dir(&sources).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{} does not build:\n{said}", sources.display())));
    }
    fs::write(built, wanted)?;
    Ok(program)
}
