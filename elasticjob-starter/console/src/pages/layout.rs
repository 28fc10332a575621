//! What all pages have: the head, the navigation, the language.

use crate::access::Identity;
use crate::app::App;
use crate::assets;
use crate::here::{Here, Who};
use crate::text::{Language, Text};
use crate::theme::Theme;

/// The frame of a page.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) text: Text,
    pub(crate) theme: Theme,
    /// The path and the query of the page, below the base path; the switches of language and theme come back to it.
    pub(crate) place: String,
    /// Before each address of the console: empty, or a path without a slash at its end.
    pub(crate) base: String,
    /// The registry center of the page; empty for pages of the whole console.
    pub(crate) registry: String,
    /// The registry centers that the reader may see.
    pub(crate) registries: Vec<String>,
    /// The name of the reader; `None` for somebody who did not log in.
    pub(crate) user: Option<String>,
    pub(crate) read_only: bool,
}

impl Layout {
    /// The frame of a page about a registry center.
    pub(crate) fn of(here: &Here) -> Self {
        let registry = here.registry.name().to_owned();
        Self { registry, ..Self::new(&here.app, &here.identity, here.text.clone(), here.theme, &here.place) }
    }

    /// The frame of a page of the whole console.
    pub(crate) fn of_console(who: &Who) -> Self {
        Self::new(&who.app, &who.identity, who.text.clone(), who.theme, &who.place)
    }

    pub(crate) fn new(app: &App, identity: &Identity, text: Text, theme: Theme, place: &str) -> Self {
        let registries = app.registries.keys().filter(|name| identity.sees_registry(name)).cloned().collect();
        Self {
            text,
            theme,
            place: place.to_owned(),
            base: app.options.base_path.clone(),
            registry: String::new(),
            registries,
            user: (!identity.is_anonymous()).then(|| identity.name().to_owned()),
            read_only: app.options.read_only,
        }
    }

    /// The address of a path of the console.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The address of a path of the registry center of this page.
    pub(crate) fn here(&self, path: &str) -> String {
        format!("{}/r/{}{path}", self.base, self.registry)
    }

    pub(crate) fn asset(&self, name: &str) -> String {
        format!("{}/{}", self.base, assets::address(name))
    }

    /// Whether the page is this one of its registry center, or one below it.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        let rest = self.place.strip_prefix("/r/").and_then(|rest| rest.strip_prefix(self.registry.as_str()));
        let rest = rest.and_then(|rest| rest.strip_prefix(path));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    pub(crate) fn themes(&self) -> [Theme; 3] {
        Theme::ALL
    }

    pub(crate) fn languages(&self) -> [Language; 2] {
        Language::ALL
    }
}
