//! Secrets, and masking of secrets in texts that are shown.

mod document;
mod keys;
mod text;

use std::fmt;

pub(crate) use document::mask_document;
pub use keys::is_secret_key;
pub(crate) use keys::stays_with_program;
pub(crate) use text::mask_inside;

/// A password or a similar text. It is shown as [`Secret::MASK`], so that values that contain it can be logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// The text that is shown instead of a secret.
    pub const MASK: &str = "***";

    /// The secret text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_revealed_only_when_asked() {
        let secret = Secret::from("user:password");
        assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "*** *** Some(***)");
        assert_eq!(secret.reveal(), "user:password");
    }
}
