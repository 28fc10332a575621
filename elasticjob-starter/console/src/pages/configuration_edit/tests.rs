//! The form gives back what the reader did not touch, whatever characters others put into the configuration.

use axum::http::StatusCode;
use elasticjob::config::JobSettings;
use elasticjob::operations::Operations;
use elasticjob::registry::memory::MemoryRegistry;

use super::*;
use crate::Console;
use crate::testing::{Answer, call, console_of, cookie_of, form as sent, job_settings, request, start_job};

const PAGE: &str = "/r/default/jobs/settle/configuration/edit";

/// Texts that a line, a field or a form would change.
const HOSTILE: [&str; 12] = [
    "",
    ", ",
    "a\nb=c",
    "one\r\ntwo\n",
    "two\nwithout",
    "\ttab",
    "\"quoted\"",
    "\"half\" quoted",
    r"C:\new\u0041",
    "</textarea><input name=\"cron\" value=\"x\">&amp;&#10;",
    "\u{3000}全角 ",
    "#=\"",
];

fn hostile() -> JobSettings {
    job_settings(|settings| {
        settings.job_parameter = Some(", ".to_owned());
        settings.description = Some("first\nsecond=2\r\n\"third\" ".to_owned());
        settings.label = Some("\"label\"".to_owned());
        let props = HOSTILE.iter().enumerate().map(|(index, text)| (format!("value.{index}"), (*text).to_owned()));
        let keys = HOSTILE.iter().map(|key| ((*key).to_owned(), format!("of {key}")));
        settings.props = Some(props.chain(keys.filter(|(key, _)| !key.is_empty())).collect());
    })
}

/// The fields of the form of a page, as a browser would send them.
fn fields(page: &str) -> Vec<(String, String)> {
    let unescaped = |text: &str| {
        let mut parts = text.split('&');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let (entity, rest) = part.split_once(';').expect("an entity");
            let number = entity.strip_prefix('#').map(|number| number.parse().expect("a number"));
            let character = match entity {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                _ => number.and_then(char::from_u32).expect("a character"),
            };
            format!("{text}{character}{rest}")
        })
    };
    let value_of = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        Some(unescaped(rest.split('"').next()?))
    };
    let (_, form) = page.split_once("<form class=\"fields\"").expect("a form");
    let (form, _) = form.split_once("</form>").expect("its end");
    let mut fields = Vec::new();
    for (at, _) in form.match_indices('<') {
        let (tag, rest) = form[at + 1..].split_once('>').expect("the end of a tag");
        let value = match tag.split(' ').next() {
            // A browser takes line breaks out of a field of one line.
            Some("input") => value_of(tag, "value").unwrap_or_default().replace(['\r', '\n'], ""),
            Some("select") => {
                let (options, _) = rest.split_once("</select>").expect("its end");
                let chosen = options.split("<option").find(|option| option.contains(" selected>"));
                value_of(chosen.expect("one is chosen"), "value").expect("it has one")
            }
            // A browser takes one line break at the beginning out, and sends each one as CR LF.
            Some("textarea") => {
                let text = unescaped(rest.split_once("</textarea>").expect("its end").0);
                let text = text.strip_prefix('\n').unwrap_or(&text);
                text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
            }
            _ => continue,
        };
        fields.push((value_of(tag, "name").expect("a name"), value));
    }
    fields
}

fn put(fields: &mut Vec<(String, String)>, name: &str, value: &str) {
    fields.retain(|(one, _)| one != name);
    fields.push((name.to_owned(), value.to_owned()));
}

/// An editor with a form.
struct Editor<'c> {
    console: &'c Console,
    cookie: String,
    operations: Operations,
}

impl<'c> Editor<'c> {
    async fn at(console: &'c Console, memory: &MemoryRegistry) -> Self {
        let operations = Operations::new(std::sync::Arc::new(memory.connect()));
        Self { console, cookie: cookie_of(console, "editor").await, operations }
    }

    async fn form(&self, query: &str) -> Vec<(String, String)> {
        let answer = call(self.console, request("GET", &format!("{PAGE}{query}"), Some(&self.cookie))).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        fields(&answer.body)
    }

    async fn press(&self, fields: &mut Vec<(String, String)>, action: &str) -> Answer {
        put(fields, "action", action);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        call(self.console, sent(PAGE, &self.cookie, &fields)).await
    }

    /// Looks at the preview of a form, and saves it.
    async fn save(&self, mut form: Vec<(String, String)>) {
        let preview = self.press(&mut form, "preview").await;
        assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
        let mut form = fields(&preview.body);
        let saved = self.press(&mut form, "save").await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    }

    async fn stored(&self) -> JobSettings {
        let job = "settle".parse().expect("a name");
        self.operations.configuration(&job).await.expect("it is read").configuration.settings()
    }

    /// A change by another program.
    async fn change_elsewhere(&self, change: impl FnOnce(&mut JobSettings)) {
        let job = "settle".parse().expect("a name");
        let stored = self.operations.configuration(&job).await.expect("it is read");
        let mut settings = stored.configuration.settings();
        change(&mut settings);
        self.operations.update_configuration(&stored, &settings).await.expect("it is changed");
    }
}

#[tokio::test]
async fn what_a_reader_did_not_touch_is_saved_byte_for_byte_as_it_was() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &hostile()).await;
    let console = console_of(&memory);
    let editor = Editor::at(&console, &memory).await;
    let mut before = editor.stored().await;
    let given = hostile();
    let texts =
        |of: &JobSettings| (of.job_parameter.clone(), of.description.clone(), of.label.clone(), of.props.clone());
    assert_eq!(texts(&before), texts(&given), "the registry center has them");

    let preview = editor.press(&mut editor.form("").await, "preview").await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert!(preview.body.contains("Nothing had to be changed."), "{}", preview.body);

    let mut form = editor.form("").await;
    put(&mut form, "label", "\" two\\nlines\"");
    editor.save(form).await;
    before.label = Some(" two\nlines".to_owned());
    assert_eq!(editor.stored().await, before);
}

#[tokio::test]
async fn a_form_that_is_joined_with_another_change_gives_back_the_same() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &hostile()).await;
    let console = console_of(&memory);
    let editor = Editor::at(&console, &memory).await;
    let mut form = editor.form("").await;
    let elsewhere = |settings: &mut JobSettings| {
        settings.description = Some(" theirs\n".to_owned());
        settings.props.get_or_insert_default().insert("value.2".to_owned(), "x\ny".to_owned());
    };
    editor.change_elsewhere(elsewhere).await;
    let mut expected = editor.stored().await;
    put(&mut form, "cron", "0 0 4 1 1 ?");
    let merged = editor.press(&mut form, "preview").await;
    assert_eq!(merged.status, StatusCode::PRECONDITION_FAILED, "{}", merged.body);
    assert!(merged.body.contains("&#34; theirs\\n&#34;"), "the spaces are seen: {}", merged.body);
    editor.save(fields(&merged.body)).await;
    expected.cron = Some("0 0 4 1 1 ?".to_owned());
    assert_eq!(editor.stored().await, expected);
}

#[tokio::test]
async fn an_old_version_is_put_back_as_it_was() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &hostile()).await;
    let console = console_of(&memory);
    let editor = Editor::at(&console, &memory).await;
    let before = editor.stored().await;
    let versions = "/api/v1/registries/default/jobs/settle/configuration/versions";
    let versions = call(&console, request("GET", versions, Some(&editor.cookie))).await.body;
    let versions: Value = serde_json::from_str(&versions).expect("JSON");
    editor
        .change_elsewhere(|settings| {
            settings.description = Some("plain".to_owned());
            settings.props = Some([("value.2".to_owned(), "plain".to_owned())].into());
        })
        .await;
    editor.save(editor.form(&format!("?version={}", versions[0]["id"])).await).await;
    assert_eq!(editor.stored().await, before);
}
