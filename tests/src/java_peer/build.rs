//! Builds the program once for all tests, into the target folder of Cargo.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::JavaPeer;
use crate::programs::{self, Missing};

/// What is needed to build it.
#[derive(Debug, Clone)]
pub struct Tools {
    maven: PathBuf,
    java: PathBuf,
}

impl JavaPeer {
    /// Looks for Maven and a JDK.
    ///
    /// # Errors
    /// [`Missing`] says what was not found, and what to install.
    pub fn find() -> Result<Tools, Missing> {
        let maven = programs::find("mvn", "maven")?;
        programs::find("javac", "default-jdk-headless")?;
        let java = programs::find("java", "default-jdk-headless")?;
        Ok(Tools { maven, java })
    }

    /// Builds it, unless that was done since its sources changed. Maven fetches what it does not have.
    ///
    /// # Errors
    /// When something is not installed, or Maven fails; what it says is in the error.
    pub fn build() -> io::Result<Self> {
        let tools = Self::find().map_err(|missing| io::Error::other(missing.to_string()))?;
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("java-peer");
        let folder = target_folder()?.join("java-peer");
        let lock = File::create(folder.with_extension("lock"))?;
        lock.lock()?;
        let (built, wanted) = (folder.join("built"), fingerprint(&sources)?);
        if fs::read_to_string(&built).ok().as_ref() != Some(&wanted) {
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            tools.package(&sources, &folder)?;
            fs::write(&built, wanted)?;
        }
        let mut classpath = folder.join("java-peer.jar").into_os_string();
        classpath.push(":");
        classpath.push(folder.join("lib").join("*"));
        Ok(Self { java: tools.java, classpath, options: &super::JVM })
    }
}

impl Tools {
    fn package(&self, sources: &Path, into: &Path) -> io::Result<()> {
        let run = |more: &[&str]| {
            let mut maven = Command::new(&self.maven);
            maven.current_dir(sources).args(["-q", "-B", "package"]).args(more);
            maven.arg(format!("-Dpeer.directory={}", into.display())).stdin(Stdio::null()).output()
        };
        // No repository is asked for what is already there.
        if run(&["-o"])?.status.success() {
            return Ok(());
        }
        let built = run(&[])?;
        if built.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&built.stdout);
        Err(io::Error::other(format!("{} does not build with Maven:\n{said}", sources.display())))
    }
}

/// What the sources are: another text for others.
fn fingerprint(folder: &Path) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in files_below(folder)? {
        file.hash(&mut hasher);
        fs::read(file)?.hash(&mut hasher);
    }
    Ok(hasher.finish().to_string())
}

fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            files.extend(files_below(&entry)?);
        } else {
            files.push(entry);
        }
    }
    Ok(files)
}

/// The target folder of Cargo: the outermost one around this program with what Cargo notes of the compiler. The tag of a
/// cache is no sign: it is not there where another program made the folder.
///
/// # Errors
/// When this program is in none.
pub fn target_folder() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let marked = program.ancestors().filter(|folder| folder.join(".rustc_info.json").is_file());
    let outermost = marked.last().map(Path::to_owned);
    outermost.ok_or_else(|| io::Error::other(format!("{} is in no target folder of Cargo", program.display())))
}
