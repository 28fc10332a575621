//! The frame of all pages: head, navigation, language.

use elasticjob::ident::JobName;
use i18n_embed_fl::fl;

use super::segment;
use super::time::Clock;
use crate::access::{Identity, Role};
use crate::app::App;
use crate::assets;
use crate::here::{Here, Who};
use crate::live::Wanted;
use crate::parity::{self, Copy};
use crate::schedule_words;
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
    /// The name of the reader; `None` for a reader who did not log in.
    pub(crate) user: Option<String>,
    pub(crate) read_only: bool,
    /// Whether the console insists on reasons.
    pub(crate) requires_reason: bool,
    /// The reader administers the console itself.
    pub(crate) is_administrator: bool,
    /// Since when the registry center of the page is lost.
    pub(crate) lost_since: Option<String>,
    /// The query of the stream of events, for a page that is kept up to date.
    pub(crate) live: Option<String>,
    /// Whether the reader may see the nodes of the registry center.
    pub(crate) may_administer: bool,
    /// Whether there are pages of carried jobs.
    pub(crate) has_scheduler: bool,
    /// The page and its buttons as calls and commands.
    pub(crate) same: Vec<Copy>,
}

impl Layout {
    /// The frame of a page about a registry center.
    pub(crate) fn of(here: &Here) -> Self {
        let registry = here.registry.name().to_owned();
        let clock = Clock::in_zone(None);
        let may_administer = here.identity.has_everywhere(Role::Admin, &registry);
        let lost_since = here.registry.catalogue().lost_since().map(|since| clock.at(&since));
        Self {
            registry,
            lost_since,
            may_administer,
            has_scheduler: here.has_scheduler,
            ..Self::new(&here.app, &here.identity, here.text.clone(), here.theme, &here.place)
        }
    }

    /// The page is kept up to date. Take it before the page reads what it shows.
    #[must_use]
    pub(crate) fn live(self, here: &Here) -> Self {
        Self { live: Some(Wanted::from_now_on(here, None).query()), ..self }
    }

    /// The page shows records of traces, of a job or of all, and is kept up to date. Take it before the page reads them.
    #[must_use]
    pub(crate) fn live_records(self, here: &Here, job: Option<&JobName>) -> Self {
        Self { live: Some(Wanted::from_now_on(here, job).of_records().query()), ..self }
    }

    /// The page has nothing that changes.
    #[must_use]
    pub(crate) fn still(self) -> Self {
        Self { live: None, ..self }
    }

    /// The same frame of a page at this path, which also answers forms of other paths.
    #[must_use]
    pub(crate) fn at(self, path: &str) -> Self {
        Self { place: path.to_owned(), ..self }
    }

    /// The frame of a page of the whole console.
    pub(crate) fn of_console(who: &Who) -> Self {
        Self::new(&who.app, &who.identity, who.text.clone(), who.theme, &who.place)
    }

    pub(crate) fn new(app: &App, identity: &Identity, text: Text, theme: Theme, place: &str) -> Self {
        let registries = app.registries.keys().filter(|name| identity.sees_registry(name)).cloned().collect();
        let same = parity::of_page(&text, identity, place);
        Self {
            text,
            theme,
            place: place.to_owned(),
            base: app.options.base_path.clone(),
            registry: String::new(),
            registries,
            user: (!identity.is_anonymous()).then(|| identity.name().to_owned()),
            read_only: app.options.read_only,
            requires_reason: app.options.require_reason,
            is_administrator: identity.is_administrator(),
            lost_since: None,
            may_administer: false,
            has_scheduler: false,
            live: None,
            same,
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

    /// The address of a job.
    pub(crate) fn job(&self, job: &JobName) -> String {
        self.here(&format!("/jobs/{}", segment(job.as_str())))
    }

    /// The label of the field with the reason of what the console insists on a reason for.
    pub(crate) fn reason(&self) -> String {
        self.reason_if(&self.requires_reason)
    }

    /// The label of a field with a reason, which may be required.
    pub(crate) fn reason_if(&self, is_required: &bool) -> String {
        match *is_required {
            true => fl!(self.text.loader(), "needs-reason"),
            false => fl!(self.text.loader(), "reason"),
        }
    }

    /// The same label where one of several buttons needs the reason: the one that disables.
    pub(crate) fn reason_to_disable(&self) -> String {
        match self.requires_reason {
            true => fl!(self.text.loader(), "needs-reason-to-disable"),
            false => fl!(self.text.loader(), "reason"),
        }
    }

    /// A schedule in words.
    pub(crate) fn words(&self, cron: &str) -> Option<String> {
        schedule_words::of(&self.text, cron)
    }

    pub(crate) fn asset(&self, name: &str) -> String {
        format!("{}/{}", self.base, assets::address(name))
    }

    /// Whether the page is this one of its registry center, or one below it.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        self.after(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    /// Whether the page is this one of its registry center.
    pub(crate) fn is_exactly(&self, path: &str) -> bool {
        self.after(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('?'))
    }

    fn after(&self, path: &str) -> Option<&str> {
        self.place.strip_prefix("/r/")?.strip_prefix(self.registry.as_str())?.strip_prefix(path)
    }

    pub(crate) fn themes(&self) -> [Theme; 3] {
        Theme::ALL
    }

    pub(crate) fn languages(&self) -> [Language; 2] {
        Language::ALL
    }
}
