//! Reads the data of nodes: rules say what they need, and what is missing is wanted, read and kept.

use std::collections::BTreeSet;

use super::{Known, Lookup, Mirror, Unread, take};
use crate::registry::NodeData;
use crate::registry::layout::JobPath;

impl Mirror {
    /// The data of a node that a decision needs; `None` where there is no such node.
    ///
    /// # Errors
    /// [`Unread`] where they have to be read first. They are wanted from now on.
    pub fn need(&self, path: &JobPath) -> Result<Option<&Known>, Unread> {
        match self.lookup(path) {
            Lookup::Missing => Ok(None),
            Lookup::Known(known) => Ok(Some(known)),
            Lookup::Unread if !self.hears(path) => Err(Unread),
            Lookup::Unread => {
                self.wanted.borrow_mut().insert(path.clone());
                Err(Unread)
            }
        }
    }

    /// The same for the node of a server, by its address.
    ///
    /// # Errors
    /// As for [`Self::need`].
    pub fn need_server(&self, ip: &str) -> Result<Option<&Known>, Unread> {
        match self.nodes.server(ip) {
            None => Ok(None),
            Some(Some(known)) => Ok(Some(known)),
            Some(None) => {
                self.wanted.borrow_mut().insert(JobPath::Server(ip.into()));
                Err(Unread)
            }
        }
    }

    /// The time at which a node was created, by the clock of the registry center; `None` where there is none. For a node that this
    /// instance created only a read shows it, which this asks for.
    ///
    /// # Errors
    /// Unknown yet: something of it has to be read first.
    pub fn made_at(&self, path: &JobPath) -> Result<Option<i64>, Unread> {
        self.by_server_clock(path, |known| known.ctime)
    }

    /// The time at which a node was written last, as [`made_at`](Self::made_at).
    ///
    /// # Errors
    /// Unknown yet: something of it has to be read first.
    pub fn written_at(&self, path: &JobPath) -> Result<Option<i64>, Unread> {
        self.by_server_clock(path, |known| known.mtime)
    }

    fn by_server_clock(&self, path: &JobPath, time: impl FnOnce(&Known) -> i64) -> Result<Option<i64>, Unread> {
        let Some(known) = self.need(path)? else { return Ok(None) };
        match time(known) {
            0 => {
                self.confirm(path.clone());
                Err(Unread)
            }
            time => Ok(Some(time)),
        }
    }

    /// Wants a node to be read, also where it is known or believed not to exist.
    pub fn confirm(&self, path: JobPath) {
        self.wanted.borrow_mut().insert(path);
    }

    /// Whether data are wanted.
    pub fn has_wanted(&self) -> bool {
        !self.wanted.borrow().is_empty()
    }

    /// The nodes whose data are wanted; from now on none are.
    pub fn take_wanted(&self) -> BTreeSet<JobPath> {
        self.wanted.take()
    }

    /// Of the wanted nodes, those that are not being read yet. They have to be read now.
    pub fn start_reads(&mut self, wanted: impl IntoIterator<Item = JobPath>) -> Vec<JobPath> {
        let mut start = Vec::new();
        for path in wanted {
            if !self.reading.contains_key(&path) {
                self.reading.insert(path.clone(), false);
                start.push(path);
            }
        }
        start
    }

    /// Takes the data of a node that was read, `None` when it does not exist.
    pub fn on_read(&mut self, generation: u32, path: &JobPath, node: Option<NodeData>) {
        if generation != self.generation {
            return;
        }
        // Doubtful: an event came between request and answer, and may be later than the answer. The next rule that
        // needs the data reads again.
        let Some(false) = take(&mut self.reading, path) else { return };
        if !self.hears(path) {
            return;
        }
        match node {
            Some(node) => {
                self.nodes.insert(path.clone(), Some(Known::boxed(node.data, node.stat)));
            }
            None => {
                self.nodes.remove(path);
            }
        }
    }
}
