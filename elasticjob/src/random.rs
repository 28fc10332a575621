//! Random numbers and ids, for names that must not collide.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A number that differs between calls and processes: the standard library keys its hashers from the system's source
/// of randomness.
pub(crate) fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A random UUID, version 4, in its usual form.
pub(crate) fn uuid_v4() -> String {
    let (high, low) = (random_u64(), random_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        8 | low >> 62,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_form_and_is_another_one_each_time() {
        let (one, other) = (uuid_v4(), uuid_v4());
        assert_ne!(one, other);
        let parts: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{one}");
        assert_eq!(&one[14..15], "4");
        assert!(matches!(&one[19..20], "8" | "9" | "a" | "b"), "{one}");
    }
}
