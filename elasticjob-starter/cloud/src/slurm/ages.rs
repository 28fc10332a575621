//! The ages of files in the shared folder, by the clock that gives them their times: the clocks of hosts may differ from it, and
//! from each other.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::files::beside;

/// How long ago a file was written; nothing where that clock was set back. `None` without the file.
pub(super) fn age(file: &Path) -> Option<Duration> {
    let written = fs::metadata(file).and_then(|file| file.modified()).ok()?;
    // Where nothing can be written, as on a full disk, the clock of this host has to do.
    let now = new_time(file).unwrap_or_else(|_| SystemTime::now());
    Some(now.duration_since(written).unwrap_or_default())
}

/// The time that a file gets which is written now beside another one.
fn new_time(file: &Path) -> io::Result<SystemTime> {
    let new = beside(file);
    let written = File::create_new(&new).and_then(|mut file| file.write_all(b"now"));
    let time = written.and_then(|()| fs::metadata(&new)?.modified());
    let _ = fs::remove_file(&new);
    time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn an_age_is_counted_by_the_times_of_files_and_leaves_nothing_behind() {
        let scratch = Scratch::new();
        let note = scratch.path().join("asked-1");
        assert_eq!(age(&note), None);
        fs::write(&note, "").unwrap();
        let written = fs::metadata(&note).unwrap().modified().unwrap();
        let [before, after] = [new_time(&note), new_time(&note)].map(Result::unwrap);
        assert!(written <= before && before <= after, "a file that is written later is not older");
        for (at, least) in [(written - Duration::from_secs(90), 90), (written + Duration::from_secs(90), 0)] {
            File::options().write(true).open(&note).unwrap().set_modified(at).unwrap();
            let seconds = age(&note).unwrap().as_secs();
            assert!((least..least + 60).contains(&seconds), "{seconds}");
        }
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
