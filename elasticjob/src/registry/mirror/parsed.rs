//! The parsed data of a node, kept beside the bytes.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The meaning of the data beside which it stands. Rules ask for the same records on every step of an engine, and records
/// change seldom.
///
/// It cannot be stale: it is made of the data of one [`Known`](super::Known), which never change. Where a node is set,
/// deleted, doubted or created again, the mirror drops the whole `Known`, and a new one has nothing parsed.
#[derive(Default)]
pub(super) struct Parsed(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Parsed {
    /// What `parse` makes of the data. A node has data of one type; for a second type they are parsed each time.
    pub(super) fn get<T: Send + Sync + 'static>(&self, data: &[u8], parse: fn(&[u8]) -> T) -> Arc<T> {
        let parsed = self.0.get_or_init(|| Arc::new(parse(data)));
        Arc::clone(parsed).downcast().unwrap_or_else(|_| Arc::new(parse(data)))
    }
}

/// A copy parses for itself: it may be given other data.
impl Clone for Parsed {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The same data have the same meaning, whether it was asked for or not.
impl PartialEq for Parsed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Parsed {}

impl fmt::Debug for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "parsed" } else { "not parsed" })
    }
}
