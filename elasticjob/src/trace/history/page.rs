//! Pages of records, the newest record first. A page begins after the last record of the page before, not at a number of
//! records: records that are written or removed meanwhile shift no page, and a late page costs no more than the first.

use std::fmt;
use std::str::FromStr;

/// The most records of a page.
const LIMIT: u32 = 1_000;

/// Ids of records are not longer than this.
const LONGEST_ID: usize = 40;

/// Selects the page that is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    after: Option<Cursor>,
    limit: Option<u32>,
}

/// A page of records, the newest one first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The records.
    pub records: Vec<T>,
    /// The place where the next page begins; `None` where no record follows.
    pub next: Option<Cursor>,
}

/// The place between two records. Its text is opaque and may be kept: it stays valid when the record is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The time of the record before it, in the unit of its table.
    pub(crate) time: i64,
    /// The id of that record.
    pub(crate) id: String,
}

/// A text is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is no cursor: take the text that came with the page before as it is", .0.escape_default())]
pub struct CursorError(String);

impl PageRequest {
    /// A page of at most this many records: from 1 to 1,000. Other numbers become the nearest of these.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit.clamp(1, LIMIT));
        self
    }

    /// The page that follows.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// The place where the page begins; `None` for the first page.
    pub fn cursor(&self) -> Option<&Cursor> {
        self.after.as_ref()
    }

    /// The most records; 50 where no number was given.
    pub fn size(&self) -> u32 {
        self.limit.unwrap_or(50)
    }
}

impl<T> Page<T> {
    /// A page of a reader. `records` are as many as were asked for, or one more: that one is left out, and says that a
    /// page follows. `cursor` is the place after a record.
    pub fn of(mut records: Vec<T>, request: &PageRequest, cursor: impl Fn(&T) -> Cursor) -> Self {
        let size = usize::try_from(request.size()).unwrap_or(usize::MAX);
        let more = records.len() > size;
        records.truncate(size);
        let next = records.last().filter(|_| more).map(cursor);
        Self { records, next }
    }

    /// The same page of other records, each made of one of these.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> Page<U> {
        Page { records: self.records.into_iter().map(make).collect(), next: self.next }
    }
}

impl Cursor {
    /// The place after the record with this time and id. Of records with the same time, the one with the smaller id
    /// comes later.
    pub fn after(time: i64, id: impl Into<String>) -> Self {
        Self { time, id: id.into() }
    }

    /// The time of the record before it, in the unit of its table.
    pub fn time(&self) -> i64 {
        self.time
    }

    /// The id of the record before it.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.time, self.id)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let wrong = || CursorError(text.chars().take(100).collect());
        let (time, id) = text.split_once('.').ok_or_else(wrong)?;
        let is_id = !id.is_empty() && id.chars().count() <= LONGEST_ID && !id.contains(char::is_control);
        let time = time.parse().ok().filter(|_| is_id).ok_or_else(wrong)?;
        Ok(Self { time, id: id.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_from_its_text_and_nothing_else_is_one() {
        for cursor in [Cursor::after(-7, "a.b"), Cursor::after(i64::MAX, "2f0c6b1e-0000-4000-8000-000000000000")] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for wrong in ["", ".", "7", "7.", "x.a", "7.\n", &format!("7.{}", "a".repeat(41))] {
            assert!(wrong.parse::<Cursor>().is_err_and(|error| error.to_string().contains("no cursor")), "{wrong}");
        }
    }

    #[test]
    fn a_page_follows_where_a_record_more_than_asked_for_was_found() {
        let request = PageRequest::default().limit(2);
        let cursor = |record: &i64| Cursor::after(*record, "id");
        assert_eq!(Page::of(vec![3, 2, 1], &request, cursor).next, Some(Cursor::after(2, "id")));
        assert_eq!(Page::of(vec![3, 2], &request, cursor), Page { records: vec![3, 2], next: None });
        assert_eq!((PageRequest::default().limit(0).size(), PageRequest::default().limit(9_999).size()), (1, 1_000));
    }
}
