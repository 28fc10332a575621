//! Folders that are removed with all that is in them.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a folder and all that is in it, also where an archive has made folders in it that nobody may write.
pub(crate) fn remove_all(folder: &Path) -> io::Result<()> {
    remove_all_by(folder, |folder| fs::remove_dir_all(folder))
}

/// The same where there may be no such folder.
pub(crate) fn remove_if_there(folder: &Path) -> io::Result<()> {
    match remove_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn remove_all_by(folder: &Path, remove: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    match remove(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_all(folder)?;
            remove(folder)
        }
        removed => removed,
    }
}

/// Lets the owner of a folder change what is in it.
pub(crate) fn open_to_owner(folder: &Path) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    fs::set_permissions(folder, Permissions::from_mode(mode | 0o700))
}

/// The same for all folders in it. What links lead to stays as it is.
fn open_all(folder: &Path) -> io::Result<()> {
    open_to_owner(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_all(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn mode(folder: &Path) -> u32 {
        fs::metadata(folder).unwrap().permissions().mode() & 0o777
    }

    /// Removes as a user does who is not root.
    fn remove_as_user(folder: &Path) -> io::Result<()> {
        let closed = |folder: &Path| mode(folder) & 0o300 != 0o300;
        let below =
            fs::read_dir(folder)?.map(|entry| entry.unwrap()).filter(|entry| entry.file_type().unwrap().is_dir());
        if closed(folder) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        below.map(|entry| entry.path()).try_for_each(|below| remove_as_user(&below))?;
        fs::remove_dir_all(folder)
    }

    #[test]
    fn folders_that_an_archive_closed_are_removed_and_those_that_links_lead_to_stay_as_they_are() {
        for remove in [remove_as_user, |folder: &Path| fs::remove_dir_all(folder)] {
            let scratch = Scratch::new();
            let (package, other) = (scratch.path().join("package"), scratch.path().join("other"));
            fs::create_dir_all(package.join("bin/lib")).unwrap();
            fs::create_dir(&other).unwrap();
            fs::write(package.join("bin/lib/a"), "").unwrap();
            std::os::unix::fs::symlink(&other, package.join("bin/link")).unwrap();
            for closed in ["bin/lib", "bin", ""].map(|name| package.join(name)).iter().chain([&other]) {
                fs::set_permissions(closed, Permissions::from_mode(0o555)).unwrap();
            }
            remove_all_by(&package, remove).unwrap();
            assert_eq!((package.exists(), mode(&other)), (false, 0o555));
        }
    }
}
