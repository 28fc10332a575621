//! Texts of the library on pages: they are written for a terminal as well, with backticks around what is code.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) is_code: bool,
    pub(crate) text: &'a str,
}

/// The parts of a text: what stands between backticks is code. A backtick without another one is a part of a name.
pub(crate) fn parts_of(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`')
        && let Some((code, after)) = after.split_once('`')
    {
        parts.extend([Part { is_code: false, text: before }, Part { is_code: true, text: code }]);
        rest = after;
    }
    parts.push(Part { is_code: false, text: rest });
    parts
}

#[cfg(test)]
mod tests {
    use elasticjob::config::JobSettings;
    use elasticjob::registry::memory::MemoryRegistry;

    use super::*;
    use crate::testing::traced::Folder;
    use crate::testing::{call, cookie_of, request, start_job};

    #[test]
    fn what_stands_between_backticks_is_code() {
        let shown = |text: &str| {
            let shown = |part: &Part<'_>| if part.is_code { format!("[{}]", part.text) } else { part.text.to_owned() };
            parts_of(text).iter().map(shown).collect::<String>()
        };
        for (text, expected) in [
            ("", ""),
            ("no code", "no code"),
            ("set `cron` and `a b`", "set [cron] and [a b]"),
            ("`x`", "[x]"),
            ("it`s", "it`s"),
            ("`a` it`s", "[a] it`s"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn no_page_shows_a_backtick_around_its_code() {
        let memory = MemoryRegistry::new();
        let _job = start_job(&memory, "settle", &JobSettings::default()).await;
        let folder = Folder::new("marked");
        folder.write([]).await;
        let console = folder.console(&memory).await;
        let admin = cookie_of(&console, "admin").await;
        let servers = call(&console, request("GET", "/api/v1/registries/default/servers", Some(&admin))).await.body;
        let servers: serde_json::Value = serde_json::from_str(&servers).expect("JSON");
        let server = format!("/r/default/servers/{}", servers[0]["server"].as_str().expect("a server"));
        for (path, code) in [
            (server.as_str(), "<code>elasticjob dump --from HOST:PORT JOB</code>"),
            ("/password", "<code>elasticjob console hash-password</code>"),
            ("/r/default/cloud", "<code>elasticjob cloud</code>"),
            ("/r/default/history/states?from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "<code>from</code>"),
            ("/r/default/jobs/settle/log/none?level=LOUD", ""),
        ] {
            for language in ["en", "zh-CN"] {
                let mut page = request("GET", path, Some(&admin));
                page.headers_mut().insert("accept-language", language.parse().expect("a value"));
                let page = call(&console, page).await.body;
                assert!(page.contains(code) && !page.contains('`'), "{path} {language}: {page}");
            }
        }
    }
}
