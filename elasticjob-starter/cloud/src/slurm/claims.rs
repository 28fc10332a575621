//! The claims of the processes of a `DAEMON` job: the array whose keeper holds the claim with the highest number runs the process.
//!
//! Several arrays may come for one process: a request that was on its way when its scheduler was killed arrives late, and a scheduler
//! that was frozen goes on. A scheduler offers a number, and the first keeper that takes it holds the claim; all others end at once.
//! A number is offered only by a scheduler that knows that the holder of the number before has ended, so the holder of a claim never
//! runs beside the one before.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{text_of, write_first, write_whole};

/// The file of a claim; its number follows. Its text is the id of the array.
const CLAIM: &str = "claim-";

/// The file with the number that a keeper may take, and with the id of the folder that the number is of.
const NEXT: &str = "next";

/// The file with the id of the folder. The folder of a job that was deregistered, and registered again, begins again with the first
/// number: a number that a scheduler has read before does not count there.
const ID: &str = "id";

/// The claims of a process, as they were at a time.
#[derive(Debug)]
pub(super) struct Claims {
    folder: PathBuf,
    id: String,
    highest: u64,
}

/// The folder with the claims of a job. It is that of all its settings: a process of settings of before is another one of the same index.
pub(super) fn folder(daemons: &Path, prefix: &str) -> PathBuf {
    daemons.join(format!("{prefix}claims"))
}

/// The array that holds a process; `None` where no keeper has claimed it.
pub(super) fn holder(claims: &Path, index: u32) -> io::Result<Option<u64>> {
    let folder = claims.join(index.to_string());
    let highest = highest(&folder)?;
    Ok(text_of(&folder.join(format!("{CLAIM}{highest}")))?.and_then(|array| array.trim().parse().ok()))
}

/// The highest number of a claim; 0 where there is none.
fn highest(folder: &Path) -> io::Result<u64> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut highest = 0;
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(CLAIM)?.parse().ok());
        highest = highest.max(number.unwrap_or(0));
    }
    Ok(highest)
}

impl Claims {
    /// Reads the claims of a process, in a folder that is made where it is not there.
    pub(super) fn read(claims: &Path, index: u32) -> io::Result<Self> {
        let folder = claims.join(index.to_string());
        fs::create_dir_all(&folder)?;
        let new = format!("{:x}", RandomState::new().hash_one(std::process::id()));
        let id = write_first(&folder.join(ID), &new)?;
        let highest = highest(&folder)?;
        Ok(Self { folder, id, highest })
    }

    /// Lets a keeper take the next number. The holder of the highest one has ended, as Slurm was asked after these were read.
    ///
    /// # Errors
    /// It cannot be written. The folder is not made again: these claims are those of one that is gone.
    pub(super) fn offer_next(&self) -> io::Result<()> {
        write_whole(&self.folder.join(NEXT), &format!("{} {}\n", self.highest + 1, self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_number_after_the_highest_claim_of_this_folder_is_offered() {
        let scratch = Scratch::new();
        let offered = || {
            let claims = Claims::read(scratch.path(), 0).unwrap();
            claims.offer_next().unwrap();
            let next = text_of(&scratch.path().join("0/next")).unwrap().unwrap();
            let (number, id) = next.trim_end().split_once(' ').unwrap();
            (number.to_owned(), id.to_owned())
        };
        let (number, id) = offered();
        assert_eq!((&*number, holder(scratch.path(), 0).unwrap()), ("1", None));
        for (claim, array) in [("claim-9", "70"), ("claim-10", "71"), ("claim.7", "72")] {
            fs::write(scratch.path().join("0").join(claim), array).unwrap();
        }
        assert_eq!(offered(), ("11".to_owned(), id.clone()));
        assert_eq!(holder(scratch.path(), 0).unwrap(), Some(71));
        let before = Claims::read(scratch.path(), 0).unwrap();
        fs::remove_dir_all(scratch.path().join("0")).unwrap();
        assert!(before.offer_next().is_err(), "it is of a folder that is gone");
        let (number, other) = offered();
        assert_eq!(number, "1");
        assert_ne!(other, id);
    }
}
