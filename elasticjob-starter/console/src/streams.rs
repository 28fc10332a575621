//! The places of streams of events: so many in all, and so many of one caller, so that no caller takes the connections of the
//! others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::Extensions;

use crate::access::{Identity, address, network};
use crate::options::ConsoleOptions;

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of_callers: BTreeMap<String, usize>,
}

/// The streams that are open, and how many may be.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    taken: Arc<Mutex<Taken>>,
    /// In all. The tab in front of each reader has one.
    most: usize,
    /// Of one user, one program, or one address of visitors.
    most_of_caller: usize,
}

/// There is no place for one more stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// As many are open as there may be in all.
    Full(usize),
    /// The caller has as many as one may have.
    OfCaller(usize),
}

/// The place of a stream, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    streams: Streams,
    caller: Option<String>,
}

impl Streams {
    /// Places within the limits of the options.
    pub(crate) fn new(options: &ConsoleOptions) -> Self {
        Self { taken: Arc::default(), most: options.max_streams, most_of_caller: options.max_streams_of_caller }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are open.
    pub(crate) fn open(&self) -> usize {
        self.lock().all
    }

    /// A place for one more stream of the caller of a request.
    pub(crate) fn take(&self, identity: &Identity, extensions: &Extensions) -> Result<Place, NoPlace> {
        // Visitors of a server that knows no addresses share the places in all.
        let caller = match identity.is_anonymous() {
            true => address(extensions)
                .and_then(|address| address.parse().ok())
                .map(|address| format!("address {}", network(address))),
            false => Some(format!("user {}", identity.name())),
        };
        let mut taken = self.lock();
        let own = caller.as_ref().and_then(|caller| taken.of_callers.get(caller).copied()).unwrap_or_default();
        if own >= self.most_of_caller {
            return Err(NoPlace::OfCaller(self.most_of_caller));
        }
        if taken.all >= self.most {
            return Err(NoPlace::Full(self.most));
        }
        taken.all += 1;
        if let Some(caller) = &caller {
            taken.of_callers.insert(caller.clone(), own + 1);
        }
        drop(taken);
        Ok(Place { streams: self.clone(), caller })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.streams.lock();
        taken.all -= 1;
        if let Some(caller) = &self.caller
            && let Some(own) = taken.of_callers.get_mut(caller)
        {
            *own -= 1;
            if *own == 0 {
                taken.of_callers.remove(caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::extract::ConnectInfo;

    use super::*;

    fn from(last: u8) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::from(([192, 0, 2, last], 5_000))));
        extensions
    }

    #[test]
    fn a_caller_has_so_many_and_all_together_so_many() {
        let usual = ConsoleOptions::default();
        for (most, most_of_caller) in [(usual.max_streams, usual.max_streams_of_caller), (7, 2)] {
            let options = ConsoleOptions {
                max_streams: most,
                max_streams_of_caller: most_of_caller,
                ..ConsoleOptions::default()
            };
            let (streams, visitor) = (Streams::new(&options), Identity::anonymous(Vec::new()));
            let zhang = Identity::user("zhang", Vec::new());
            let mut places: Vec<Place> =
                (0..most_of_caller).map(|host| streams.take(&zhang, &from(host as u8)).expect("free")).collect();
            let refused = streams.take(&zhang, &from(99)).unwrap_err();
            assert_eq!(refused, NoPlace::OfCaller(most_of_caller), "from any address");
            for host in 0..=u8::MAX {
                while places.len() < most {
                    match streams.take(&visitor, &from(host)) {
                        Ok(place) => places.push(place),
                        Err(none) => {
                            let of_caller = NoPlace::OfCaller(most_of_caller);
                            assert_eq!((none, places.len() % most_of_caller), (of_caller, 0));
                            break;
                        }
                    }
                }
            }
            assert_eq!(streams.open(), most);
            let refused = streams.take(&Identity::user("li", Vec::new()), &from(1)).unwrap_err();
            assert_eq!(refused, NoPlace::Full(most));
            drop(places);
            assert_eq!(streams.open(), 0);
            assert!(streams.lock().of_callers.is_empty() && streams.take(&zhang, &from(1)).is_ok());
        }
    }
}
