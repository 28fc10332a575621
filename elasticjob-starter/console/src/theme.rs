//! Light or dark: as the system has it, or as the reader chose.

use std::str::FromStr;

use axum::http::HeaderMap;

use crate::text::cookie;

/// The cookie that keeps what a reader chose.
pub(crate) const THEME_COOKIE: &str = "elasticjob_theme";

/// The theme of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system of the reader has it.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The name in the cookie and in the style sheet.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// What the reader chose.
    pub(crate) fn of_request(headers: &HeaderMap) -> Self {
        cookie(headers, THEME_COOKIE).and_then(|chosen| chosen.parse().ok()).unwrap_or_default()
    }
}

impl FromStr for Theme {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == name).ok_or(())
    }
}
