//! The outcome of an action, told once on the page that follows it. It travels in a cookie, as the console keeps
//! nothing of a visit, and is escaped like all texts.

use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::App;
use crate::text::cookie;

const COOKIE: &str = "elasticjob_said";

/// The most bytes of the text as the cookie has it. Browsers drop a cookie of more than 4,096 bytes, and a proxy has as much
/// for all headers of an answer.
const LONGEST: usize = 2_000;

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

impl Said {
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
        let text = written(&self.text);
        let base = if app.options.base_path.is_empty() { "/" } else { &app.options.base_path };
        let cookie = format!("{COOKIE}={mark}{text}; Path={base}; HttpOnly; SameSite=Lax; Max-Age=60");
        set_cookie(Redirect::to(&format!("{}{path}", app.options.base_path)).into_response(), &cookie)
    }

    /// What the request brings from the action before.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let told = cookie(headers, COOKIE)?;
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
        set_cookie(response, &format!("{COOKIE}=; Path={base}; HttpOnly; SameSite=Lax; Max-Age=0"))
    }
}

fn set_cookie(mut response: Response, cookie: &str) -> Response {
    // Its characters are encoded, and the base path was checked at the start.
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The text as the cookie has it, as far as it fits.
fn written(text: &str) -> String {
    let mut written = String::new();
    for c in text.chars() {
        let escaped: String = form_urlencoded::byte_serialize(c.encode_utf8(&mut [0; 4]).as_bytes()).collect();
        if written.len() + escaped.len() > LONGEST {
            return written;
        }
        written += &escaped;
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_in_any_language_fits_into_a_cookie_and_ends_with_a_whole_character() {
        for (text, kept) in [("报表, ", 1_000), ("a", 9_000), ("报表", 3)] {
            let written = written(&text.repeat(kept));
            assert!(written.len() <= LONGEST, "{}", written.len());
            let (back, _) = form_urlencoded::parse(written.as_bytes()).next().expect("a text");
            assert!(text.repeat(kept).starts_with(&*back) && !back.is_empty(), "{back}");
        }
        assert_eq!(written("报表, 1"), "%E6%8A%A5%E8%A1%A8%2C+1");
    }
}
