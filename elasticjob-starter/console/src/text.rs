//! Texts in the languages of the console. `i18n/en/elasticjob-console.ftl` has every text; a text that is missing there
//! does not compile, and a test compares the other languages with it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_LANGUAGE, COOKIE};
use i18n_embed::LanguageLoader;
use i18n_embed::fluent::FluentLanguageLoader;
use rust_embed::RustEmbed;

/// The text of a page in the language of its reader. The page has a field `layout`.
macro_rules! t {
    ($page:expr, $id:literal $(, $($argument:tt)*)?) => {
        i18n_embed_fl::fl!($page.layout.text.loader(), $id $(, $($argument)*)?)
    };
}
pub(crate) use t;

/// The name of the files with the texts.
const DOMAIN: &str = "elasticjob-console";

/// The cookie that keeps what a reader chose.
pub(crate) const LANGUAGE_COOKIE: &str = "elasticjob_language";

#[derive(RustEmbed)]
#[folder = "i18n/"]
struct Files;

/// A language of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English.
    English,
    /// Chinese as it is written in China.
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The tag of BCP 47.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    /// The name in the language itself.
    pub(crate) fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// The language of a tag: `zh`, `zh-CN` and `zh-TW` are all Chinese.
    fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split('-').next()?;
        Self::ALL.into_iter().find(|language| {
            let own = language.tag().split('-').next();
            own.is_some_and(|own| own.eq_ignore_ascii_case(primary))
        })
    }

    /// What the reader chose, else what the browser prefers, else the default.
    pub(crate) fn of_request(headers: &HeaderMap, default: Self) -> Self {
        let chosen = cookie(headers, LANGUAGE_COOKIE).and_then(Self::of_tag);
        chosen.or_else(|| Self::of_accepted(headers.get(ACCEPT_LANGUAGE)?.to_str().ok()?)).unwrap_or(default)
    }

    /// The most wanted language of a header `Accept-Language` that the console has.
    fn of_accepted(header: &str) -> Option<Self> {
        let mut wanted: Vec<(Self, f32)> = header
            .split(',')
            .filter_map(|range| {
                let (tag, weight) = range.split_once(';').unwrap_or((range, "q=1"));
                let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok())?;
                Some((Self::of_tag(tag)?, weight))
            })
            .collect();
        // The sort is stable: of languages that are wanted alike, the first one counts.
        wanted.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        wanted.into_iter().find(|(_, weight)| *weight > 0.0).map(|(language, _)| language)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::of_tag(text).ok_or_else(|| format!("'{text}' is no language of the console; it has en and zh-CN"))
    }
}

/// The value of a cookie of the request.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let headers = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let mut pairs = headers.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(one, _)| *one == name).map(|(_, value)| value)
}

/// The texts in one language.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    language: Language,
    loader: Arc<FluentLanguageLoader>,
}

impl Text {
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    pub(crate) fn loader(&self) -> &FluentLanguageLoader {
        &self.loader
    }
}

/// The texts in all languages.
#[derive(Debug)]
pub(crate) struct Texts(Vec<Text>);

impl Texts {
    pub(crate) fn load() -> Result<Self, String> {
        let text = |language: Language| {
            let tag = |language: Language| language.tag().parse().map_err(|error| format!("{language}: {error}"));
            let loader = FluentLanguageLoader::new(DOMAIN, tag(Language::English)?);
            let wanted = [tag(language)?];
            loader.load_languages(&Files, &wanted).map_err(|error| format!("{language}: {error}"))?;
            // The marks around values would be copied together with a text.
            loader.set_use_isolating(false);
            Ok(Text { language, loader: Arc::new(loader) })
        };
        Language::ALL.into_iter().map(text).collect::<Result<_, String>>().map(Self)
    }

    pub(crate) fn of(&self, language: Language) -> &Text {
        // Each language was loaded, or there are no texts at all.
        self.0.iter().find(|text| text.language == language).unwrap_or(&self.0[0])
    }
}

/// The ids of a file of texts, each with the names of its arguments.
#[cfg(test)]
pub(crate) fn ids(tag: &str) -> std::collections::BTreeSet<(String, std::collections::BTreeSet<String>)> {
    let file = Files::get(&format!("{tag}/{DOMAIN}.ftl")).expect("there is a file for each language");
    let text = String::from_utf8(file.data.into_owned()).expect("it is UTF-8");
    let mut ids: Vec<(String, std::collections::BTreeSet<String>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((id, _)) = line.split_once(" =").filter(|_| !line.starts_with(' ')) {
            ids.push((id.to_owned(), std::collections::BTreeSet::new()));
        }
        let arguments = line.split('$').skip(1).map(|rest| {
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect::<String>()
        });
        if let Some((_, of)) = ids.last_mut() {
            of.extend(arguments);
        }
    }
    ids.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_the_same_texts_with_the_same_arguments() {
        let english = ids("en");
        assert!(english.len() > 10, "{english:?}");
        for language in Language::ALL {
            let other = ids(language.tag());
            let missing: Vec<_> = english.difference(&other).collect();
            // The English of findings, decisions and messages comes from the library.
            let is_of_library = |id: &str| {
                ["finding-", "decision-of-", "reason-", "message-", "status-of-", "setting-of-", "part-of-action-"]
                    .iter()
                    .any(|begin| id.starts_with(begin))
            };
            let more: Vec<_> = other.difference(&english).filter(|(id, _)| !is_of_library(id)).collect();
            assert!(missing.is_empty() && more.is_empty(), "{language}: missing {missing:?}, not in English {more:?}");
        }
    }

    #[test]
    fn the_language_is_the_chosen_one_or_the_one_that_the_browser_prefers() {
        let of = |cookies: &str, accepted: &str| {
            let headers = [(COOKIE, cookies), (ACCEPT_LANGUAGE, accepted)];
            let headers = headers.into_iter().map(|(name, value)| (name, value.parse().expect("a value")));
            Language::of_request(&HeaderMap::from_iter(headers), Language::English)
        };
        assert_eq!(of("", "zh-TW,zh;q=0.9,en;q=0.8"), Language::Chinese);
        assert_eq!(of("", "fr, en;q=0.3, zh;q=0.7"), Language::Chinese);
        assert_eq!(of("", "zh;q=0, fr"), Language::English);
        assert_eq!(of("a=b; elasticjob_language=en", "zh"), Language::English);
        assert_eq!(of("elasticjob_language=xx", "zh"), Language::Chinese);
        assert_eq!(of("", "q=1;;,"), Language::English);
    }

    #[test]
    fn no_text_has_invisible_marks_around_its_values() {
        let texts = Texts::load().expect("they load");
        for language in Language::ALL {
            let text = texts.of(language);
            let said = i18n_embed_fl::fl!(text.loader(), "login-wait", seconds = 7);
            assert!(said.contains('7') && !said.contains('\u{2068}'), "{said:?}");
        }
    }
}
