//! A part of a list that may be long: how long it is, and where the next part begins.

use std::fmt::Display;
use std::str::FromStr;

use axum::http::HeaderValue;
use serde::Deserialize;
use utoipa::IntoParams;

use super::history::parsed;
use crate::api::Problem;
use crate::here::Here;
use crate::texts;

/// The longest part that a program may ask for.
const MOST: usize = 1_000;

/// How many elements a page shows of a list.
pub(crate) const ON_A_PAGE: usize = 100;

/// Which part of a list is asked for.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PartQuery {
    /// The place after which the part begins, as the header `Link` of the part before has it; empty for the begin of the list.
    pub(crate) cursor: String,
    /// The largest number of elements, from 1 to 1000. Unless it is said, the answer has all. Where more follow, the header `Link` has the
    /// address of the next part.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<usize>,
}

/// A part of a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part<T> {
    pub(crate) elements: Vec<T>,
    /// How many elements the list has.
    pub(crate) total: usize,
    /// The place after which the next part begins.
    pub(crate) next: Option<String>,
}

impl<T> Part<T> {
    /// The same with other values.
    pub(crate) fn map<U>(self, of: impl FnMut(T) -> U) -> Part<U> {
        let Self { elements, total, next } = self;
        Part { elements: elements.into_iter().map(of).collect(), total, next }
    }

    /// The header that leads to the next part, at a path below the registry center, with what else the address asks for.
    pub(crate) fn link(
        &self,
        here: &Here,
        path: &str,
        limit: Option<usize>,
        more: &[(&str, &str)],
    ) -> Option<HeaderValue> {
        let (base, registry) = (&here.app.options.base_path, here.registry.name());
        let (cursor, limit) = (self.next.as_deref()?, limit?.to_string());
        let fields = more.iter().copied().chain([("limit", limit.as_str()), ("cursor", cursor)]);
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let link = format!("<{base}/api/v1/registries/{registry}/{path}?{query}>; rel=\"next\"");
        HeaderValue::from_str(&link).ok()
    }
}

/// The first elements of a list that another page has in full, and how many elements are left out.
pub(crate) fn first<T>(list: impl IntoIterator<Item = T>, most: usize) -> (Vec<T>, usize) {
    let mut rest = list.into_iter();
    (rest.by_ref().take(most).collect(), rest.count())
}

impl PartQuery {
    /// The part of a list that a program asks for.
    pub(crate) fn of<T, K>(&self, list: Vec<T>, key: impl Fn(&T) -> K) -> Result<Part<T>, Problem>
    where
        K: Ord + Display + FromStr<Err: Display>,
    {
        if self.limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
            return Err(Problem::bad_request(texts::limit_out_of_range(MOST)));
        }
        part(list, key, &self.cursor, self.limit.unwrap_or(usize::MAX))
    }

    /// The part of a list that a page shows.
    pub(crate) fn on_a_page<T, K>(&self, list: Vec<T>, key: impl Fn(&T) -> K) -> Result<Part<T>, Problem>
    where
        K: Ord + Display + FromStr<Err: Display>,
    {
        on_a_page(list, key, &self.cursor)
    }
}

/// The part of a list that a page shows after a place. Where nothing is left there, the begin: an empty page would say that there is
/// nothing at all.
pub(crate) fn on_a_page<T, K>(list: Vec<T>, key: impl Fn(&T) -> K, cursor: &str) -> Result<Part<T>, Problem>
where
    K: Ord + Display + FromStr<Err: Display>,
{
    let after = parsed::<K>("cursor", cursor)?;
    let is_left = after.is_none_or(|after| list.iter().any(|one| key(one) > after));
    part(list, key, if is_left { cursor } else { "" }, ON_A_PAGE)
}

/// The part of a list after a place, in the order of the keys. The element at that place may have gone meanwhile.
fn part<T, K>(mut list: Vec<T>, key: impl Fn(&T) -> K, cursor: &str, limit: usize) -> Result<Part<T>, Problem>
where
    K: Ord + Display + FromStr<Err: Display>,
{
    let (after, total) = (parsed::<K>("cursor", cursor)?, list.len());
    list.sort_by_cached_key(&key);
    let before = after.map_or(0, |after| list.partition_point(|one| key(one) <= after));
    let mut rest = list.into_iter().skip(before);
    let elements: Vec<T> = rest.by_ref().take(limit).collect();
    let next = rest.next().and(elements.last()).map(|last| key(last).to_string());
    Ok(Part { elements, total, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_is_in_one_part_also_where_others_go_meanwhile() {
        let list = || vec![30_u32, 10, 50, 20, 40];
        let first = part(list(), |one| *one, "", 2).expect("the begin");
        assert_eq!(first, Part { elements: vec![10, 20], total: 5, next: Some("20".to_owned()) });
        let without: Vec<u32> = list().into_iter().filter(|one| *one != 20).collect();
        let second = part(without, |one| *one, "20", 2).expect("a place");
        assert_eq!(second, Part { elements: vec![30, 40], total: 4, next: Some("40".to_owned()) });
        let last = part(list(), |one| *one, "40", 2).expect("a place");
        assert_eq!(last, Part { elements: vec![50], total: 5, next: None });
        assert!(part(list(), |one| *one, "50", 2).expect("a place").elements.is_empty());
        assert_eq!(part(list(), |one| *one, "nine", 2).expect_err("it is refused").code(), "bad-request");
    }

    #[test]
    fn a_limit_is_said_and_in_its_range() {
        let query = |limit| PartQuery { limit, ..PartQuery::default() };
        let of = |limit| query(limit).of((0..150_u32).collect(), |one| *one);
        assert_eq!(of(None).expect("all").next, None);
        assert_eq!(of(Some(9)).expect("a part").next.as_deref(), Some("8"));
        for wrong in [0, MOST + 1] {
            assert_eq!(of(Some(wrong)).expect_err("it is refused").code(), "bad-request");
        }
        let page = query(None).on_a_page((0..150_u32).collect(), |one| *one).expect("a page");
        assert_eq!((page.elements.len(), page.total, page.next.as_deref()), (ON_A_PAGE, 150, Some("99")));
        for (count, cursor, from) in [(150, "99", 100), (100, "99", 0), (0, "99", 0)] {
            let page = on_a_page((0..count).collect(), |one| *one, cursor).expect("a page");
            let first = (count > 0).then_some(from);
            assert_eq!(page.elements.first().copied(), first, "what was after {cursor} may have gone: {count}");
        }
    }
}
