//! Files in which carriers keep what a process wrote, and how it ended.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use elasticjob::log::warn;

use crate::carrier::output;

/// A folder that goes when this is dropped.
pub(crate) struct Passing(pub(crate) PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        // An error leaves it to who tidies up.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The variables of the scheduler that a process gets. All others may be secrets of the scheduler.
pub(crate) const INHERITED: [&str; 8] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "TMPDIR", "TZ", "USER", "SSL_CERT_FILE"];

/// The longest text of a failure.
const LONGEST_TEXT: usize = 4 * 1_024;

/// The text of a file; `None` where there is none.
pub(crate) fn text_of(path: &Path) -> io::Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file that is there as a whole or not at all, and that no other user can read: it may have secrets. Other
/// schedulers may write it at the same time: one of them is the last.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    write_whole_and(path, text, |_| Ok(()))
}

/// Writes a file as [`write_whole`] does, so that it is there also when the host loses its power right after.
pub(crate) fn write_durably(path: &Path, text: &str) -> io::Result<()> {
    // A file system may keep the rename before the data otherwise, and the file would be empty.
    write_whole_and(path, text, File::sync_all)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn write_whole_and(path: &Path, text: &str, then: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let beside = beside(path);
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    then(&file)?;
    drop(file);
    fs::rename(beside, path)
}

/// Writes a file as [`write_whole`] does, unless it is there: then it stays as it is. Returns what it has by now.
///
/// # Errors
/// It cannot be written. Where the disk is full it may be there all the same, with a part of the text or none.
pub(crate) fn write_first(path: &Path, text: &str) -> io::Result<String> {
    write_first_by(path, text, |from, to| fs::hard_link(from, to))
}

fn write_first_by(path: &Path, text: &str, link: impl Fn(&Path, &Path) -> io::Result<()>) -> io::Result<String> {
    if let Some(first) = text_of(path)? {
        return Ok(first);
    }
    let beside = beside(path);
    let new = |path: &Path| File::options().write(true).create_new(true).mode(0o600).open(path);
    let linked = new(&beside).and_then(|mut file| file.write_all(text.as_bytes())).and_then(|()| link(&beside, path));
    let _ = fs::remove_file(&beside);
    let written = match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // The file system has no hard links, or no room for a text: the name alone says something, too.
            new(path).and_then(|mut file| file.write_all(text.as_bytes()))
        }
        _ => Ok(()),
    };
    match (text_of(path)?, written) {
        (Some(first), Err(error)) if first != text && text.starts_with(&first) => Err(error),
        (Some(first), _) => Ok(first),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => Err(io::Error::new(io::ErrorKind::NotFound, format!("{} leads nowhere", path.display()))),
    }
}

/// A name for a file that becomes the one of this path, other than those of all other writers.
pub(crate) fn beside(path: &Path) -> PathBuf {
    path.with_extension(format!("{:x}.new", RandomState::new().hash_one(std::process::id())))
}

/// Makes a folder that no other user can read. One that is there keeps its mode, as it may be a folder of the host: where it
/// is open, that is told. What is written into it by [`write_whole`] is closed in any case.
///
/// # Errors
/// It cannot be made, or is one that all users write into, as `/tmp`.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = fs::metadata(folder)?.permissions().mode() & 0o7777;
    let place = folder.display();
    if mode & STICKY != 0 {
        let why =
            format!("all users write into {place} (mode {mode:o}): give a folder that is closed to others, chmod 700");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    if mode & 0o077 != 0 {
        warn!("{place} is open to other users (mode {mode:o}): they see the names of jobs there; chmod 700 closes it");
    }
    Ok(())
}

/// The bit of the mode of a folder that many users write into.
const STICKY: u32 = 0o1000;

/// The most bytes of an output of a process that one file keeps: 64 MiB.
pub(crate) const MOST_OUTPUT: u64 = 64 << 20;

/// The outputs of a process, by the files in its folder.
const OUTPUTS: [&str; 2] = ["stdout", "stderr"];

/// Moves what a process wrote out of its way where an output has more than these bytes: the file begins again, and the one of before
/// is kept beside it until the next time. The process has the file open to append, and goes on in the same one.
pub(crate) fn rotate(folder: &Path, most: u64) {
    for name in OUTPUTS {
        let file = folder.join(name);
        if fs::metadata(&file).is_ok_and(|known| known.len() > most) {
            // Where the disk is full, the file is emptied all the same.
            let _ = fs::copy(&file, before(&file));
            // What fails is tried again at the next look.
            let _ = File::options().write(true).open(&file).and_then(|file| file.set_len(0));
        }
    }
}

/// Where an output goes that has grown too large.
fn before(output: &Path) -> PathBuf {
    output.with_extension("before")
}

/// The last bytes of an output, also of the part that was moved out of its way.
fn end_of(output: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let Some(end) = tail(output, most)? else { return Ok(None) };
    let mut earlier = tail(&before(output), most - end.len().min(most))?.unwrap_or_default();
    earlier.extend(end);
    Ok(Some(earlier))
}

/// The last bytes of both outputs of a process, which are in `stdout` and `stderr` of its folder.
pub(crate) fn log(folder: &Path, most: usize) -> io::Result<Option<String>> {
    let [out, err] = OUTPUTS.map(|name| end_of(&folder.join(name), most));
    let (out, err) = (out?, err?);
    if out.is_none() && err.is_none() {
        return Ok(None);
    }
    let (mut log, err) = (out.unwrap_or_default(), err.unwrap_or_default());
    if !err.is_empty() && !log.is_empty() && !log.ends_with(b"\n") {
        log.push(b'\n');
    }
    log.extend(err);
    Ok(Some(output::text(&log[log.len().saturating_sub(most)..])))
}

/// Why a program failed: what it wrote into `failure` of its folder, or the last line of its standard error.
pub(crate) fn last_words(folder: &Path, code: i32) -> String {
    let said = text_tail(&folder.join("failure")).map(|text| text.trim().to_owned());
    let last_line = || {
        let end = text_tail(&folder.join("stderr"))?;
        end.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    };
    said.filter(|text| !text.is_empty()).or_else(last_line).unwrap_or_else(|| match code {
        129.. => format!("it was killed by signal {}, and its standard error is empty", code - 128),
        _ => "its standard error is empty".to_owned(),
    })
}

/// Whether the end of the standard error of a program sounds as if it got no memory.
pub(crate) fn misses_memory(folder: &Path) -> bool {
    let said = text_tail(&folder.join("stderr")).unwrap_or_default().to_ascii_lowercase();
    ["memory", "alloc", "reserve"].iter().any(|word| said.contains(word))
}

/// The end of a short text; `None` where it cannot be read.
fn text_tail(path: &Path) -> Option<String> {
    tail(path, LONGEST_TEXT).ok().flatten().map(|end| output::text(&end))
}

/// The last bytes of a file.
fn tail(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most as u64)))?;
    let mut end = Vec::new();
    file.take(most as u64).read_to_end(&mut end)?;
    Ok(Some(end))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_new_folder_is_closed_one_that_is_there_keeps_its_mode_and_one_of_all_users_is_refused() {
        let scratch = Scratch::new();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let (new, open, shared) =
            (scratch.path().join("new/inner"), scratch.path().join("open"), scratch.path().join("shared"));
        make_private(&new).unwrap();
        assert_eq!(mode(&new), 0o700);
        for (folder, before) in [(&open, 0o755), (&shared, 0o1777)] {
            fs::create_dir(folder).unwrap();
            fs::set_permissions(folder, Permissions::from_mode(before)).unwrap();
        }
        make_private(&open).unwrap();
        assert_eq!(mode(&open), 0o755);
        assert!(make_private(&shared).unwrap_err().to_string().contains("chmod 700"));
        assert_eq!(mode(&shared), 0o1777);
    }

    #[test]
    fn an_output_that_grows_too_large_begins_again_and_its_end_stays_readable() {
        let scratch = Scratch::new();
        let output = scratch.path().join("stdout");
        let mut process = File::options().create(true).append(true).open(&output).unwrap();
        for line in ["first\n", "second\n", "third\n"] {
            process.write_all(line.as_bytes()).unwrap();
            rotate(scratch.path(), 10);
        }
        assert_eq!(fs::read_to_string(&output).unwrap(), "third\n");
        assert_eq!(log(scratch.path(), 10).unwrap().as_deref(), Some("ond\nthird\n"));
        process.write_all(b"fourth\n").unwrap();
        rotate(scratch.path(), 10);
        let size: u64 = fs::read_dir(scratch.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert_eq!(size, 13, "what is older is gone");
    }

    #[test]
    fn the_end_of_a_log_is_counted_in_bytes_and_begins_with_a_character() {
        let scratch = Scratch::new();
        let of = |out: &[u8], err: &[u8], most: usize| {
            fs::write(scratch.path().join("stdout"), out).unwrap();
            fs::write(scratch.path().join("stderr"), err).unwrap();
            log(scratch.path(), most).unwrap().unwrap()
        };
        let text = "\u{4e2d}\u{6587}".as_bytes();
        assert_eq!(of(text, b"", 6), "\u{4e2d}\u{6587}");
        assert_eq!(of(text, b"", 5), "\u{6587}");
        assert_eq!(of(text, b"", 3), "\u{6587}");
        assert_eq!(of(text, text, 9), "\n\u{4e2d}\u{6587}", "the end of line counts, too");
        // What is no text takes no more room than it has.
        assert_eq!(of(&[0xff; 10], b"", 10), "?".repeat(10));
        assert_eq!(of(&[0xff; 10], b"an error", 12), "???\nan error");
        // A character that was divided when the output had grown too large.
        fs::write(scratch.path().join("stdout.before"), &text[..4]).unwrap();
        assert_eq!(of(&text[4..], b"", 100), "\u{4e2d}\u{6587}");
    }

    #[test]
    fn a_file_that_is_there_stays_as_it_was_written_first_and_nothing_is_left_beside_it() {
        let scratch = Scratch::new();
        let (file, linkless, dangling) =
            (scratch.path().join("stop"), scratch.path().join("linkless"), scratch.path().join("dangling"));
        for text in ["first", "second"] {
            assert_eq!(write_first(&file, text).unwrap(), "first");
            let no_links = |_: &Path, _: &Path| Err(io::ErrorKind::Unsupported.into());
            assert_eq!(write_first_by(&linkless, text, no_links).unwrap(), "first");
        }
        std::os::unix::fs::symlink("/nowhere/at/all", &dangling).unwrap();
        assert!(write_first(&dangling, "first").is_err());
        // The disk is full: the name is there, and the text is not, or a part of it.
        for part in ["", "fi", "other"] {
            let full = |_: &Path, to: &Path| fs::write(to, part).and(Err(io::ErrorKind::StorageFull.into()));
            let written = write_first_by(&scratch.path().join("full"), "first", full);
            assert_eq!(written.ok().as_deref(), Some(part).filter(|part| *part == "other"));
            fs::remove_file(scratch.path().join("full")).unwrap();
        }
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_file_that_several_write_at_the_same_time_is_whole_and_nothing_is_left_beside_it() {
        let scratch = Scratch::new();
        let file = scratch.path().join("id");
        let write = |writer: usize| {
            let text = writer.to_string().repeat(10_000);
            (0..50).for_each(|_| write_whole(&file, &text).unwrap());
        };
        std::thread::scope(|scope| (0..4).for_each(|writer| drop(scope.spawn(move || write(writer)))));
        let text = text_of(&file).unwrap().unwrap();
        assert!(text.len() == 10_000 && text.bytes().all(|byte| byte == text.as_bytes()[0]));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
