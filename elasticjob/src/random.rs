//! Random numbers, for names that must not collide.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A number that differs between calls and processes: the standard library keys its hashers from the system's source
/// of randomness.
pub(crate) fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}
