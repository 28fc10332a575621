//! Packages of applications: fetched, checked, unpacked into a folder.

mod download;

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use elasticjob::log::info;
use sha2::{Digest, Sha256};
use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use self::download::Downloads;
use crate::files::Passing;
use crate::folders::{open_to_owner, remove_all};
use crate::model::{App, Source, SourceScheme};

/// The packages that are kept, by what they were fetched from.
#[derive(Debug)]
pub(crate) struct Packages {
    cache: PathBuf,
    /// Fetches that go on or are done. Items that begin together share a fetch.
    known: Mutex<HashMap<String, Slot>>,
    downloads: Downloads,
}

type Slot = Arc<OnceCell<PathBuf>>;

/// What a file is named with that says which package the processes of its folder use.
const USES: &str = "uses-";

/// How long a package stays after it was used last: a launch may have got it and wait for room.
const UNUSED_FOR: Duration = Duration::from_secs(24 * 3_600);

impl Packages {
    pub(crate) fn new(cache: PathBuf, most_mb: Option<u64>) -> Self {
        Self { cache, known: Mutex::default(), downloads: Downloads::new(most_mb) }
    }

    /// The folder of an application's unpacked package: the kept one, or one in `own` where the application wants none kept.
    pub(crate) async fn folder(&self, app: &App, own: &Path) -> Result<PathBuf, String> {
        let source = app.source()?;
        let (key, target) = match app.app_cache_enable {
            true => {
                let key = key(&source)?;
                let target = self.cache.join(&key);
                (key, target)
            }
            false => (own.display().to_string(), own.to_path_buf()),
        };
        let slot = {
            let mut known = self.lock();
            let slot = known.entry(key.clone()).or_default();
            // Another scheduler may have removed it as nobody used it.
            if slot.get().is_some_and(|folder| !folder.exists()) {
                *slot = Slot::default();
            }
            slot.clone()
        };
        let fetched = slot.get_or_try_init(|| self.fetch(&source, &target)).await;
        if !app.app_cache_enable || fetched.is_err() {
            self.lock().remove(&key);
        }
        let fetched = fetched?;
        // An error only lets it look unused sooner.
        let _ = File::open(fetched).and_then(|folder| folder.set_modified(SystemTime::now()));
        root(fetched, &app.bootstrap_script).map_err(|error| format!("the package cannot be read: {error}"))
    }

    /// Notes in the folder of processes which package they use, so that it is kept as long as that folder. `package` is what
    /// [`folder`](Self::folder) has returned. A folder that is removed meanwhile has no processes.
    pub(crate) fn note_use(&self, package: &Path, folder: &Path) -> io::Result<()> {
        let Some(note) = self.note(package) else { return Ok(()) };
        match fs::write(folder.join(note), "") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The same for a folder whose earlier processes have ended: what they used is not kept for it any more.
    pub(crate) fn note_only_use(&self, package: &Path, folder: &Path) -> io::Result<()> {
        let note = self.note(package);
        for earlier in notes(folder).into_iter().filter(|earlier| Some(earlier) != note.as_ref()) {
            fs::remove_file(folder.join(earlier))?;
        }
        self.note_use(package, folder)
    }

    /// The name of the note about a package; `None` for one that is not kept.
    fn note(&self, package: &Path) -> Option<String> {
        let key = package.strip_prefix(&self.cache).ok()?.components().next()?;
        Some(format!("{USES}{}", key.as_os_str().to_string_lossy()))
    }

    /// Removes the packages that no application of `apps` names, that no process of the folders `used_by` uses, and that were not
    /// used for a day.
    pub(crate) fn prune(&self, apps: &[Arc<App>], used_by: impl Iterator<Item = PathBuf>) -> io::Result<()> {
        let key_of = |app: &Arc<App>| key(&app.source().ok()?).ok();
        let mut wanted: BTreeSet<String> = apps.iter().filter_map(key_of).collect();
        wanted.extend(used_by.flat_map(|folder| notes(&folder)).map(|note| note[USES.len()..].to_owned()));
        let entries = match fs::read_dir(&self.cache) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        let mut first = Ok(());
        for entry in entries {
            // One that cannot be removed keeps no other one.
            first = first.and(entry.and_then(|entry| self.prune_one(&entry, &wanted)));
        }
        first
    }

    fn prune_one(&self, entry: &DirEntry, wanted: &BTreeSet<String>) -> io::Result<()> {
        let (name, folder) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let used = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
        if wanted.contains(&name) || used <= UNUSED_FOR {
            return Ok(());
        }
        self.lock().remove(&name);
        remove_all(&folder).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))?;
        info!("the package in {} is removed: no application names it", folder.display());
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Slot>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches and unpacks a package, unless the folder is there.
    async fn fetch(&self, source: &Source, target: &Path) -> Result<PathBuf, String> {
        if target.exists() {
            return Ok(target.to_path_buf());
        }
        let fails = |error: io::Error| format!("'{source}' cannot be fetched: {error}");
        let parent = target.parent().unwrap_or(target).to_path_buf();
        fs::create_dir_all(&parent).map_err(fails)?;
        // Another scheduler on this host may fetch the same: each in a folder of its own, and the first one stays.
        let beside = Passing(parent.join(format!(".fetching-{}-{:x}", std::process::id(), unique())));
        fs::create_dir(&beside.0).map_err(fails)?;
        let unpacked = self.unpacked(source, &beside.0).await?;
        // A folder changes its place only where it can be written, and an archive may say otherwise.
        open_to_owner(&unpacked).map_err(fails)?;
        match fs::rename(unpacked, target) {
            Err(error) if !target.exists() => Err(fails(error)),
            _ => Ok(target.to_path_buf()),
        }
    }

    /// Fetches and unpacks a package into a folder of `beside`, and returns that folder.
    async fn unpacked(&self, source: &Source, beside: &Path) -> Result<PathBuf, String> {
        let (file, unpacked) = (beside.join("package"), beside.join("unpacked"));
        fs::create_dir(&unpacked).map_err(|error| format!("'{source}' cannot be unpacked: {error}"))?;
        match source.scheme {
            SourceScheme::File => {
                let (from, to) = (PathBuf::from(&source.address), file.clone());
                let copied = spawn_blocking(move || fs::copy(from, to)).await;
                let copied = copied.map_err(|error| error.to_string())?;
                copied.map_err(|error| format!("'{source}' cannot be read: {error}"))?;
            }
            SourceScheme::Web => self.downloads.fetch(source, &file).await?,
            SourceScheme::Oci => return Err(format!("'{source}' is an image, and this carrier runs none")),
        }
        if let Some(wanted) = &source.sha256 {
            let checked = file.clone();
            let found = spawn_blocking(move || sha256(&checked)).await.map_err(|error| error.to_string())?;
            let found = found.map_err(|error| format!("'{source}' cannot be read: {error}"))?;
            if found != *wanted {
                return Err(format!("'{source}' has the SHA-256 {found}, and appURL wants {wanted}: it is not run"));
            }
        }
        unpack(source, &file, &unpacked).await?;
        Ok(unpacked)
    }
}

/// The notes of a folder about packages.
fn notes(folder: &Path) -> Vec<String> {
    let names =
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(USES)).collect()
}

/// The folders of launches and of processes of `DAEMON` jobs in the folder of a carrier, which may have such notes.
pub(crate) fn users(carrier: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let below =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let daemons: Vec<PathBuf> = below(carrier.join("daemons")).collect();
    let processes: Vec<PathBuf> = daemons.iter().cloned().flat_map(below).collect();
    below(carrier.join("launches")).chain(daemons).chain(processes)
}

/// What a kept package was fetched from: the address, and of a file also its time and size, as files are replaced in place.
fn key(source: &Source) -> Result<String, String> {
    let mut hash = Sha256::new();
    hash.update(&source.address);
    hash.update(source.sha256.as_deref().unwrap_or_default());
    if source.scheme == SourceScheme::File {
        let file = fs::metadata(&source.address);
        let file = file.map_err(|error| format!("'{source}' cannot be read: {error}"))?;
        hash.update(format!("{} {:?}", file.len(), file.modified().ok()));
    }
    Ok(hex(&hash.finalize()))
}

/// The forms of archives that `tar` unpacks, by the end of their names.
const TAR: [&str; 10] =
    [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".tar.Z"];

/// Unpacks an archive with the tools of the host. What is no archive is a program: it is made executable.
async fn unpack(source: &Source, file: &Path, into: &Path) -> Result<(), String> {
    let name = source.file_name();
    let mut command = if TAR.iter().any(|end| name.ends_with(end)) {
        let mut tar = Command::new("tar");
        tar.arg("-xf").arg(file).arg("-C").arg(into).arg("--no-same-owner");
        tar
    } else if name.ends_with(".zip") {
        let mut unzip = Command::new("unzip");
        unzip.arg("-q").arg(file).arg("-d").arg(into);
        unzip
    } else {
        let program = into.join(name);
        let fails = |error: io::Error| format!("'{source}' cannot be made a program: {error}");
        fs::rename(file, &program).map_err(fails)?;
        return fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(fails);
    };
    let done = command.stdin(std::process::Stdio::null()).kill_on_drop(true).output().await;
    let tool = command.as_std().get_program().to_string_lossy().into_owned();
    let done = done.map_err(|error| format!("'{source}' cannot be unpacked: '{tool}' does not start: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why");
    Err(format!("'{source}' cannot be unpacked: {tool}: {last}"))
}

/// Where the command is run: the folder of the package, or the only folder in it where the command is there. Archives of a
/// folder and archives of its content are both common.
fn root(unpacked: &Path, command: &str) -> io::Result<PathBuf> {
    let first = command.split_whitespace().next().unwrap_or_default();
    if unpacked.join(first).exists() {
        return Ok(unpacked.to_path_buf());
    }
    let mut entries = fs::read_dir(unpacked)?;
    let only = match (entries.next().transpose()?, entries.next()) {
        (Some(only), None) => only.path(),
        _ => return Ok(unpacked.to_path_buf()),
    };
    Ok(if only.join(first).exists() { only } else { unpacked.to_path_buf() })
}

fn sha256(file: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(file)?, Sha256::new());
    let mut part = vec![0; 64 * 1_024];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&part[..read]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number that no other call of this process returns.
fn unique() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scratch::Scratch;

    fn app(url: &str, script: &str, cache: bool) -> App {
        let app = json!({ "appName": "a", "appURL": url, "bootstrapScript": script, "appCacheEnable": cache });
        App::from_json(app).unwrap()
    }

    /// An archive of a folder `my-job` with `bin/start.sh`.
    fn archive(scratch: &Scratch) -> PathBuf {
        archive_by(scratch, "-czf")
    }

    fn archive_by(scratch: &Scratch, option: &str) -> PathBuf {
        let bin = scratch.path().join("my-job/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("start.sh"), "echo hello\n").unwrap();
        let tar = [option, "my-job.tar.gz", "my-job"];
        let made = std::process::Command::new("tar").args(tar).current_dir(scratch.path()).status().unwrap();
        assert!(made.success());
        scratch.path().join("my-job.tar.gz")
    }

    #[tokio::test]
    async fn an_archive_of_a_folder_is_run_inside_of_that_folder_and_kept() {
        let scratch = Scratch::new();
        let archive = archive(&scratch);
        let packages = Packages::new(scratch.path().join("cache"), None);
        let url = format!("file://{}#sha256={}", archive.display(), sha256(&archive).unwrap());
        let folder = packages.folder(&app(&url, "bin/start.sh", true), Path::new("/none")).await.unwrap();
        assert!(folder.ends_with("my-job") && folder.join("bin/start.sh").exists(), "{folder:?}");
        let again = Packages::new(scratch.path().join("cache"), None);
        assert_eq!(again.folder(&app(&url, "bin/start.sh", true), Path::new("/none")).await, Ok(folder.clone()));
        let whole = again.folder(&app(&url, "my-job/bin/start.sh", true), Path::new("/none")).await.unwrap();
        assert_eq!(Some(whole.as_path()), folder.parent());
        let own = scratch.path().join("own");
        assert!(again.folder(&app(&url, "bin/start.sh", false), &own).await.unwrap().starts_with(&own));
    }

    #[tokio::test]
    async fn an_archive_that_is_not_compressed_as_its_name_says_is_unpacked() {
        let scratch = Scratch::new();
        let packages = Packages::new(scratch.path().join("cache"), None);
        let url = format!("file://{}", archive_by(&scratch, "-cf").display());
        let folder = packages.folder(&app(&url, "bin/start.sh", true), Path::new("/none")).await.unwrap();
        assert!(folder.join("bin/start.sh").exists(), "{folder:?}");
    }

    #[tokio::test]
    async fn a_package_with_another_checksum_is_not_run() {
        let scratch = Scratch::new();
        let url = format!("file://{}#sha256={}", archive(&scratch).display(), "0".repeat(64));
        let packages = Packages::new(scratch.path().join("cache"), None);
        let error = packages.folder(&app(&url, "bin/start.sh", true), Path::new("/none")).await.unwrap_err();
        assert!(error.contains("it is not run"), "{error}");
        let missing = app("file:///no/such.tar", "x", true);
        assert!(packages.folder(&missing, Path::new("/none")).await.unwrap_err().contains("/no/such.tar"));
    }

    #[tokio::test]
    async fn a_package_that_no_application_names_and_no_process_uses_is_removed_after_a_day() {
        let scratch = Scratch::new();
        let (cache, program) = (scratch.path().join("cache"), scratch.path().join("a.sh"));
        let packages = Packages::new(cache.clone(), None);
        let app = Arc::new(app(&format!("file://{}", program.display()), "./a.sh", true));
        let fetch = async |text: &str| {
            fs::write(&program, text).unwrap();
            packages.folder(&app, Path::new("/none")).await.unwrap()
        };
        let age = |folder: &Path| File::open(folder).unwrap().set_modified(SystemTime::now() - UNUSED_FOR * 2).unwrap();
        let (first, second, third) = (fetch("1").await, fetch("22").await, fetch("333").await);
        let launch = scratch.path().join("launches/a");
        fs::create_dir_all(&launch).unwrap();
        packages.note_use(&first, &launch).unwrap();
        let prune = || packages.prune(std::slice::from_ref(&app), users(scratch.path())).unwrap();
        prune();
        assert!(first.exists() && second.exists(), "they were used a moment ago");
        [&first, &second, &third].into_iter().for_each(|folder| age(folder));
        prune();
        assert!(first.exists() && !second.exists() && third.exists());
        packages.note_only_use(&third, &launch).unwrap();
        prune();
        assert!(!first.exists() && third.exists());
        // Another scheduler may remove what this one knows.
        fs::remove_dir_all(&third).unwrap();
        assert!(packages.folder(&app, Path::new("/none")).await.unwrap().join("a.sh").exists());
    }

    #[tokio::test]
    async fn a_package_that_cannot_be_removed_keeps_no_other_one() {
        let scratch = Scratch::new();
        let packages = Packages::new(scratch.path().join("cache"), None);
        let old: Vec<PathBuf> = (0..8).map(|at| scratch.path().join("cache").join(at.to_string())).collect();
        for (at, entry) in old.iter().enumerate() {
            fs::create_dir_all(entry.parent().unwrap()).unwrap();
            // What is no folder cannot be removed as one.
            if at == 3 {
                fs::write(entry, "").unwrap()
            } else {
                fs::create_dir(entry).unwrap()
            }
            File::open(entry).unwrap().set_modified(SystemTime::now() - UNUSED_FOR * 2).unwrap();
        }
        let error = packages.prune(&[], std::iter::empty()).unwrap_err().to_string();
        assert!(error.contains("cache/3"), "{error}");
        assert_eq!(old.iter().filter(|entry| entry.exists()).collect::<Vec<_>>(), [&old[3]]);
    }
}
