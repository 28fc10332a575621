//! The outcome of an action, told once on the page that follows it. It travels in a cookie, as the console keeps
//! nothing of a visit, and is escaped like all texts.

use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Redirect, Response};
use i18n_embed_fl::fl;

use crate::app::App;
use crate::text::{Text, cookie};

const COOKIE: &str = "elasticjob_said";

/// The most bytes of the text as the cookie has it. Browsers drop a cookie of more than 4,096 bytes, and a proxy has as much
/// for all headers of an answer.
const LONGEST: usize = 2_000;

/// Between two lists.
const THEN: &str = ". ";

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Done,
    Failed,
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

/// Texts of one kind, such as the jobs of an action that failed, with the reason of each.
#[derive(Debug)]
pub(crate) struct List {
    /// Stands before them; empty for none.
    pub(crate) head: String,
    pub(crate) parts: Vec<String>,
    /// Stands between two of them.
    pub(crate) between: String,
}

impl List {
    /// As many as fit into the room, and how many others there are. Where none fits there is the beginning of the first one, if
    /// that `is_wanted`.
    fn within(&self, room: usize, is_wanted: bool, text: &Text) -> String {
        let count = self.parts.len();
        let first = |shown: usize| self.written(&self.parts[..shown], text);
        let fits = |shown: usize| length(&first(shown)) <= room;
        if fits(count) {
            return first(count);
        }
        // A longer beginning of the list needs more room.
        match (1..count).collect::<Vec<_>>().partition_point(|shown| fits(*shown)) {
            0 if is_wanted => {
                let around = length(&self.written(&[String::new()], text));
                let part = self.parts.first().map(|part| shortened(part, room.saturating_sub(around)));
                self.written(&Vec::from_iter(part), text)
            }
            shown => first(shown),
        }
    }

    fn written(&self, shown: &[String], text: &Text) -> String {
        let more = self.parts.len() - shown.len();
        let more = (more > 0).then(|| fl!(text.loader(), "said-more", count = more));
        let parts = shown.iter().cloned().chain(more).collect::<Vec<_>>().join(&self.between);
        if self.head.is_empty() { parts } else { format!("{} {parts}", self.head) }
    }
}

impl Said {
    /// Lists, the one with what the reader has to know first: it gets the room.
    pub(crate) fn lists(tone: Tone, text: &Text, lists: &[List]) -> Self {
        let (mut room, mut told) = (LONGEST, Vec::new());
        for (place, list) in lists.iter().enumerate() {
            let least = |list: &List| length(THEN) + length(&list.written(&[], text));
            let of_others: usize = lists[place + 1..].iter().map(least).sum();
            let part = list.within(room.saturating_sub(of_others), place == 0, text);
            room = room.saturating_sub(length(&part) + length(THEN));
            told.push(part);
        }
        Self { tone, text: told.join(THEN) }
    }

    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { tone: Tone::Done, text: text.into() }
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self { tone: Tone::Failed, text: text.into() }
    }

    /// Goes to a path of the console, and tells it there.
    pub(crate) fn at(&self, app: &App, path: &str) -> Response {
        let mark = match self.tone {
            Tone::Done => '+',
            Tone::Failed => '-',
        };
        let text = encoded(&shortened(&self.text, LONGEST));
        let base = if app.options.base_path.is_empty() { "/" } else { &app.options.base_path };
        let name = app.cookies.named(COOKIE);
        let cookie = format!("{name}={mark}{text}; Path={base}; HttpOnly; SameSite=Lax; Max-Age=60");
        set_cookie(Redirect::to(&format!("{}{path}", app.options.base_path)).into_response(), &cookie)
    }

    /// What the request brings from the action before.
    pub(crate) fn of(app: &App, headers: &HeaderMap) -> Option<Self> {
        let told = cookie(headers, &app.cookies.named(COOKIE))?;
        let (tone, text) = match told.strip_prefix('+') {
            Some(text) => (Tone::Done, text),
            None => (Tone::Failed, told.strip_prefix('-')?),
        };
        let text = form_urlencoded::parse(format!("t={text}").as_bytes()).next()?.1.into_owned();
        Some(Self { tone, text })
    }

    /// The page told it, so that the next one does not.
    pub(crate) fn forget(app: &App, response: Response) -> Response {
        let base = if app.options.base_path.is_empty() { "/" } else { &app.options.base_path };
        let name = app.cookies.named(COOKIE);
        set_cookie(response, &format!("{name}=; Path={base}; HttpOnly; SameSite=Lax; Max-Age=0"))
    }
}

fn set_cookie(mut response: Response, cookie: &str) -> Response {
    // Its characters are encoded, and the base path was checked at the start.
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The text as the cookie has it.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// How long the text is there.
fn length(text: &str) -> usize {
    form_urlencoded::byte_serialize(text.as_bytes()).map(str::len).sum()
}

/// The text as far as it fits into the room. An ellipsis says that it goes on.
fn shortened(text: &str, room: usize) -> String {
    const ELLIPSIS: &str = "…";
    if length(text) <= room {
        return text.to_owned();
    }
    let mut left = room.saturating_sub(length(ELLIPSIS));
    let fits = |c: &char| {
        let needs = length(c.encode_utf8(&mut [0; 4]));
        left.checked_sub(needs).map(|rest| left = rest).is_some()
    };
    text.chars().take_while(fits).chain(ELLIPSIS.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Language, Texts};

    #[test]
    fn a_long_text_in_any_language_fits_into_a_cookie_and_says_that_it_goes_on() {
        for (text, kept) in [("报表, ", 1_000), ("a", 9_000)] {
            let whole = text.repeat(kept);
            let shown = shortened(&whole, LONGEST);
            assert!(length(&shown) <= LONGEST && length(&shown) > LONGEST - 20, "{}", length(&shown));
            let begin = shown.strip_suffix('…').expect("it goes on");
            assert!(whole.starts_with(begin) && !begin.is_empty(), "{begin}");
        }
        assert_eq!(shortened("报表, 1", LONGEST), "报表, 1");
        assert_eq!(encoded("报表, 1"), "%E6%8A%A5%E8%A1%A8%2C+1");
    }

    fn list(head: &str, count: usize, part: &str) -> List {
        let parts = (0..count).map(|number| format!("{part}{number}")).collect();
        List { head: head.to_owned(), parts, between: "; ".to_owned() }
    }

    /// How many of the list a text has, by the number at the end of each.
    fn shown(text: &str, part: &str) -> usize {
        text.matches(part).count()
    }

    #[test]
    fn what_does_not_fit_is_counted_and_the_first_list_has_the_room() {
        let texts = Texts::load().expect("they load");
        for language in Language::ALL {
            let text = texts.of(language);
            let more = |count: usize| fl!(text.loader(), "said-more", count = count);
            let lists = [list("Failed:", 20, "报表-failed-"), list("Done:", 180, "a-long-name-of-a-job-done-")];
            let said = Said::lists(Tone::Failed, text, &lists).text;
            assert!(length(&said) <= LONGEST, "{said}");
            let (failed, done) = (shown(&said, "-failed-"), shown(&said, "-done-"));
            assert!(failed == 20 && done > 0 && done < 180, "{said}");
            assert!(said.starts_with("Failed: ") && said.ends_with(&more(180 - done)), "{said}");

            let lists = [list("Failed:", 180, "a-long-name-of-a-job-failed-"), list("Done:", 20, "done-")];
            let said = Said::lists(Tone::Failed, text, &lists).text;
            let failed = shown(&said, "-failed-");
            assert!(length(&said) <= LONGEST && failed > 40 && failed < 180, "{said}");
            assert!(said.contains(&more(180 - failed)), "{said}");
            assert!(said.ends_with(&more(20 - shown(&said, "; done-") - shown(&said, ": done-"))), "{said}");
        }
    }

    #[test]
    fn of_a_part_that_is_too_long_by_itself_the_beginning_is_told() {
        let texts = Texts::load().expect("they load");
        let text = texts.of(Language::English);
        let long = list("", 1, &"报".repeat(1_000));
        let said = Said::lists(Tone::Failed, text, &[long]).text;
        assert!(said.starts_with('报') && said.ends_with('…') && length(&said) <= LONGEST, "{said}");
        let long = list("Failed:", 3, &"报".repeat(1_000));
        let said = Said::lists(Tone::Failed, text, &[long]).text;
        assert!(said.starts_with("Failed: 报") && said.ends_with("…; 2 more") && length(&said) <= LONGEST, "{said}");
        let short = list("Done:", 2, "x");
        assert_eq!(Said::lists(Tone::Done, text, &[short]).text, "Done: x0; x1");
    }
}
