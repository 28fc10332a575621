//! The items of a job that a page shows: those that a filter finds, 200 at a time.

use elasticjob::operations::{ShardInfo, ShardState};
use serde::Deserialize;

use super::form;

/// How many items a page shows: a browser stays quick, and few jobs have more.
const PAGE: usize = 200;

/// From how many items on a reader may want to filter them.
const MANY: usize = 20;

/// What the reader asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ItemsQuery {
    /// From 1; what is no number is the first page.
    page: String,
    /// The word of a state; empty for all.
    pub(super) state: String,
    /// A part of the id of the instance.
    pub(super) owner: String,
    /// The server after which the list of servers begins; empty for the begin of the list.
    pub(super) server: String,
}

/// The items of one page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shown<T> {
    pub(super) items: Vec<T>,
    /// How many items the job has.
    pub(super) total: usize,
    /// How many the filter finds.
    pub(super) found: usize,
    /// The number of the first item that is shown among those that were found, from 1.
    pub(super) first: usize,
    /// The addresses of the pages before and after, as queries.
    pub(super) previous: Option<String>,
    pub(super) next: Option<String>,
}

impl ItemsQuery {
    /// The states that can be asked for.
    pub(super) const STATES: [ShardState; 4] =
        [ShardState::Running, ShardState::Pending, ShardState::ShardingFlag, ShardState::Disabled];

    /// What a form of an item sends along, so that the page after the action is the same.
    pub(super) fn of_form(fields: &[(String, String)]) -> Self {
        let one = |name| form::one(fields, name).to_owned();
        Self { page: one("page"), state: one("state"), owner: one("owner"), server: one("server") }
    }

    /// The page of all items that has the one at this place, from 0.
    pub(super) fn of_place(place: usize) -> Self {
        Self { page: (place / PAGE + 1).to_string(), ..Self::default() }
    }

    /// The number of the page, from 1.
    pub(super) fn page(&self) -> usize {
        self.page.trim().parse().unwrap_or(1).max(1)
    }

    /// As the query of an address, empty for the first page of all items.
    pub(super) fn address(&self) -> String {
        let query = self.at(self.page());
        if query.is_empty() { query } else { format!("?{query}") }
    }

    /// The address of the next part of the servers, with the same items.
    pub(super) fn after_server(&self, server: &str) -> String {
        let query = Self { server: server.to_owned(), ..self.clone() };
        query.at(query.page())
    }

    fn at(&self, page: usize) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(self.fields(page)).finish()
    }

    /// What the form of an item sends along, so that the page after the action is the same.
    pub(super) fn stays(&self) -> Vec<(&'static str, String)> {
        self.fields(self.page())
    }

    /// The fields that are not empty.
    fn fields(&self, page: usize) -> Vec<(&'static str, String)> {
        let page = if page > 1 { page.to_string() } else { String::new() };
        let fields = [
            ("state", self.state.trim().to_owned()),
            ("owner", self.owner.trim().to_owned()),
            ("page", page),
            ("server", self.server.clone()),
        ];
        fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    fn finds(&self, item: &ShardInfo) -> bool {
        let (state, owner) = (self.state.trim(), self.owner.trim());
        let has_owner = || item.instance.as_ref().is_some_and(|instance| instance.as_str().contains(owner));
        (state.is_empty() || item.status.as_str() == state) && (owner.is_empty() || has_owner())
    }

    /// The items of the page. A page after the last one is the last one: items may have gone meanwhile.
    pub(super) fn shown(&self, items: Vec<ShardInfo>) -> Shown<ShardInfo> {
        let total = items.len();
        let found: Vec<ShardInfo> = items.into_iter().filter(|item| self.finds(item)).collect();
        let count = found.len();
        let last = count.div_ceil(PAGE).max(1);
        let page = self.page().min(last);
        let before = (page - 1) * PAGE;
        Shown {
            items: found.into_iter().skip(before).take(PAGE).collect(),
            total,
            found: count,
            first: before + 1,
            previous: (page > 1).then(|| self.at(page - 1)),
            next: (page < last).then(|| self.at(page + 1)),
        }
    }

    fn is_filter(&self) -> bool {
        !self.state.trim().is_empty() || !self.owner.trim().is_empty()
    }
}

impl<T> Shown<T> {
    /// The same with other values.
    pub(super) fn map<U>(self, of: impl FnMut(T) -> U) -> Shown<U> {
        let Self { items, total, found, first, previous, next } = self;
        Shown { items: items.into_iter().map(of).collect(), total, found, first, previous, next }
    }

    /// The number of the last item that is shown among those that were found.
    pub(super) fn last(&self) -> usize {
        self.first + self.items.len() - 1
    }

    /// Whether only a part of the items is shown.
    pub(super) fn is_part(&self) -> bool {
        self.items.len() < self.total
    }

    /// Whether the page has the form of the filter.
    pub(super) fn has_filter(&self, query: &ItemsQuery) -> bool {
        self.total > MANY || query.is_filter()
    }
}
