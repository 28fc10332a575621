//! The data of `servers/{ip}`.

use std::fmt;

use serde::Serialize;

/// Whether a server may run items of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ServerStatus {
    /// It may.
    Enabled,
    /// It may not. Data other than `ENABLED` count as disabled, as for instances of both implementations.
    Disabled,
}

impl ServerStatus {
    /// The status by the data of the node.
    pub fn of(text: Option<&str>) -> Self {
        Self::written(text).unwrap_or(Self::Disabled)
    }

    /// The status that an operator wrote; `None` for data that only count as one.
    pub fn written(text: Option<&str>) -> Option<Self> {
        [Self::Enabled, Self::Disabled].into_iter().find(|status| text == Some(status.as_str()))
    }

    /// The data of the node.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "ENABLED",
            Self::Disabled => "DISABLED",
        }
    }
}

impl fmt::Display for ServerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_nobody_writes_count_as_disabled() {
        assert_eq!(ServerStatus::of(Some("ENABLED")), ServerStatus::Enabled);
        assert_eq!(ServerStatus::written(Some("DISABLED")), Some(ServerStatus::Disabled));
        for text in [None, Some(""), Some("enabled")] {
            assert_eq!((ServerStatus::of(text), ServerStatus::written(text)), (ServerStatus::Disabled, None));
        }
    }
}
