//! Slows down callers that guess passwords: by account together with address, and by address as a whole. A caller elsewhere
//! cannot keep the owner of an account out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How many failures of one address with one account are free.
const FREE: u32 = 5;

/// How many failures of one address with any accounts are free: an address may be a whole office.
const FREE_OF_ADDRESS: u32 = 20;

/// The longest wait between two attempts.
const LONGEST: Duration = Duration::from_secs(30);

/// Failures are forgotten after this time without another one.
const FORGOTTEN: Duration = Duration::from_secs(15 * 60);

/// How many accounts and addresses are remembered; of more the oldest goes.
const MOST: usize = 10_000;

/// The addresses of one client: an IPv4 address, or the /64 of an IPv6 address, as a host can choose within it.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        v4 => v4,
    }
}

/// What failures are counted by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Account(String, Option<IpAddr>),
    Address(IpAddr),
}

impl Key {
    fn free(&self) -> u32 {
        match self {
            Self::Account(..) => FREE,
            Self::Address(_) => FREE_OF_ADDRESS,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn wait(self, free: u32) -> Duration {
        match self.count.checked_sub(free) {
            None | Some(0) => Duration::ZERO,
            Some(more) => Duration::from_secs(1 << more.min(5)).min(LONGEST),
        }
    }
}

/// An attempt that has begun. It counts as a failure until it has succeeded, so that attempts at the same time count, too.
#[derive(Debug)]
#[must_use]
pub(crate) struct Attempt {
    account: Key,
    address: Option<Key>,
    /// When an attempt of the address had failed last.
    failed_before: Option<Instant>,
    begun: Instant,
}

impl Attempt {
    fn keys(&self) -> impl Iterator<Item = &Key> {
        [&self.account].into_iter().chain(&self.address)
    }
}

/// Remembers failed logins.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<Key, Failures>>,
}

impl Throttle {
    /// Begins an attempt of an address with an account, or says how long the caller has to wait before the next one.
    pub(crate) fn begin(&self, account: &str, address: Option<&str>, now: Instant) -> Result<Attempt, Duration> {
        let address = address.and_then(|address| address.parse().ok()).map(network);
        let mut failures = self.lock();
        let (account, address) = (Key::Account(account.to_owned(), address), address.map(Key::Address));
        let failed_before = address.as_ref().and_then(|key| failures.get(key)).map(|failed| failed.last);
        let attempt = Attempt { account, address, failed_before, begun: now };
        let wait = |key: &Key| {
            let failed = failures.get(key)?;
            (failed.last + failed.wait(key.free())).checked_duration_since(now).filter(|wait| !wait.is_zero())
        };
        match attempt.keys().filter_map(wait).max() {
            Some(wait) => Err(wait),
            None => {
                for key in attempt.keys() {
                    add(&mut failures, key, now);
                }
                Ok(attempt)
            }
        }
    }

    /// The attempt was none to guess: the failures of this address with this account are forgotten. Those with other accounts
    /// stay, as a guesser may have an account.
    pub(crate) fn succeeded(&self, attempt: &Attempt) {
        let mut failures = self.lock();
        failures.remove(&attempt.account);
        if let Some(key) = &attempt.address
            && let Some(failed) = failures.get_mut(key)
        {
            failed.count -= 1;
            // Otherwise logins that succeed would keep old failures from being forgotten. Of several attempts at the same
            // time the one that began last is not taken back.
            match attempt.failed_before {
                _ if failed.count == 0 => drop(failures.remove(key)),
                Some(before) if failed.last == attempt.begun => failed.last = before,
                _ => {}
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Failures>> {
        // A thread that panicked left the map whole: each change is one call.
        self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn add(failures: &mut HashMap<Key, Failures>, key: &Key, now: Instant) {
    let is_old = |failed: &Failures| now.duration_since(failed.last) >= FORGOTTEN;
    if let Some(failed) = failures.get_mut(key) {
        let count = if is_old(failed) { 0 } else { failed.count };
        *failed = Failures { count: count.saturating_add(1), last: now };
        return;
    }
    if failures.len() >= MOST {
        failures.retain(|_, failed| !is_old(failed));
    }
    if failures.len() >= MOST
        && let Some(oldest) = failures.iter().min_by_key(|(_, failed)| failed.last).map(|(key, _)| key.clone())
    {
        failures.remove(&oldest);
    }
    failures.insert(key.clone(), Failures { count: 1, last: now });
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Option<&str> = Some("192.0.2.1");

    /// Attempts until the caller has to wait.
    fn attempts(throttle: &Throttle, account: &str, address: Option<&str>, now: Instant) -> u32 {
        (0..1_000).find(|_| throttle.begin(account, address, now).is_err()).expect("there is an end")
    }

    #[test]
    fn who_guesses_waits_longer_and_longer_and_never_for_more_than_half_a_minute() {
        let (throttle, mut now) = (Throttle::default(), Instant::now());
        assert_eq!(attempts(&throttle, "root", HERE, now), FREE + 1);
        let mut last = Duration::ZERO;
        for _ in 0..10 {
            let wait = throttle.begin("root", HERE, now).expect_err("there is a wait");
            assert!(wait >= last && wait <= LONGEST, "{wait:?} after {last:?}");
            (last, now) = (wait, now + wait);
            let _fails = throttle.begin("root", HERE, now).expect("the wait is over");
        }
        assert_eq!(last, LONGEST);
        let right = throttle.begin("root", HERE, now + LONGEST).expect("the wait is over");
        throttle.succeeded(&right);
        assert!(throttle.begin("root", HERE, now + LONGEST).is_ok());
    }

    #[test]
    fn attempts_at_the_same_time_count_before_they_have_ended() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let under_way: Vec<Attempt> = (0..100).filter_map(|_| throttle.begin("root", HERE, now).ok()).collect();
        assert_eq!(under_way.len(), 6);
    }

    #[test]
    fn a_guesser_elsewhere_does_not_keep_the_owner_out() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        attempts(&throttle, "root", Some("203.0.113.9"), now);
        assert!(throttle.begin("root", HERE, now).is_ok());
    }

    #[test]
    fn an_address_that_guesses_names_waits_for_all_also_with_an_account_of_its_own() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let guesses = (0..1_000).take_while(|number| {
            if let Ok(own) = throttle.begin("own", HERE, now) {
                throttle.succeeded(&own);
            }
            throttle.begin(&number.to_string(), HERE, now).is_ok()
        });
        assert_eq!(guesses.count(), FREE_OF_ADDRESS as usize + 1);
        assert!(throttle.begin("root", Some("203.0.113.9"), now).is_ok());
    }

    #[test]
    fn logins_that_succeed_keep_no_old_failure_in_mind() {
        let (throttle, mut now) = (Throttle::default(), Instant::now());
        for number in 0..=FREE_OF_ADDRESS {
            let _fails = throttle.begin(&number.to_string(), HERE, now).expect("there is no wait yet");
        }
        now += LONGEST;
        for _ in 0..3 {
            throttle.succeeded(&throttle.begin("own", HERE, now).expect("the wait is over"));
            now += FORGOTTEN / 2;
        }
        for _ in 0..3 {
            throttle.succeeded(&throttle.begin("own", HERE, now).expect("the failures are forgotten"));
        }
    }

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let guesses =
            (0..100).filter(|number| throttle.begin("root", Some(&format!("2001:db8:0:1::{number:x}")), now).is_ok());
        assert_eq!(guesses.count(), FREE as usize + 1);
        assert!(throttle.begin("root", Some("2001:db8:0:2::1"), now).is_ok());
        attempts(&throttle, "root", HERE, now);
        assert!(throttle.begin("root", Some("::ffff:192.0.2.1"), now).is_err(), "the same IPv4 address");
    }

    #[test]
    fn of_too_many_the_oldest_goes_and_the_newest_is_still_slowed() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        for number in 0..MOST as u64 {
            let _fails = throttle.begin(&number.to_string(), None, now + Duration::from_millis(number));
        }
        let now = now + Duration::from_secs(60);
        assert_eq!(attempts(&throttle, "root", None, now), FREE + 1);
        assert_eq!(throttle.lock().len(), MOST);
    }
}
