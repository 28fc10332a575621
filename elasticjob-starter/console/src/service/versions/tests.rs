//! The history of a configuration: in memory, in a data file, and the way back.

use axum::http::StatusCode;
use axum::http::header::{ETAG, IF_MATCH};
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use serde_json::{Value, json};

use crate::Console;
use crate::testing::{Answer, call, console_of, cookie_of, job_settings, json as with_json, request, start_job};

const CONFIGURATION: &str = "/api/v1/registries/default/jobs/settle/configuration";

/// An editor at a console.
struct Editor<'c> {
    console: &'c Console,
    cookie: String,
}

impl<'c> Editor<'c> {
    async fn at(console: &'c Console) -> Self {
        Self { console, cookie: cookie_of(console, "editor").await }
    }

    async fn get(&self, path: &str) -> Answer {
        let answer = call(self.console, request("GET", path, Some(&self.cookie))).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        answer
    }

    async fn settings(&self) -> Value {
        parsed(&self.get(CONFIGURATION).await)["settings"].clone()
    }

    async fn versions(&self) -> Vec<Value> {
        let versions = parsed(&self.get(&format!("{CONFIGURATION}/versions")).await);
        versions.as_array().expect("a list").clone()
    }

    /// A change of the version that is stored now.
    async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let version = self.get(CONFIGURATION).await.headers[ETAG].clone();
        let mut request = with_json(method, path, &self.cookie, body);
        request.headers_mut().insert(IF_MATCH, version);
        call(self.console, request).await
    }
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).expect("JSON")
}

#[tokio::test]
async fn a_change_is_in_the_history_with_who_and_why_and_can_be_put_back_but_for_secrets() {
    let memory = MemoryRegistry::new();
    let props = [("url", "postgres://app:hunter2@db/app"), ("plain", "one")];
    let props = props.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let settings = job_settings(|settings| {
        settings.props = Some(props.into());
        settings.description = Some("daily".to_owned());
    });
    let _job = start_job(&memory, "settle", &settings).await;
    let console = console_of(&memory);
    let editor = Editor::at(&console).await;
    let before = editor.settings().await;
    let change = json!({ "cron": "0 0 4 1 1 ?", "description": null, "props": { "plain": "two", "url": null } });
    let changed = editor.send("PATCH", &format!("{CONFIGURATION}?reason=an%20hour%20later"), &change).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.body);

    let versions = editor.versions().await;
    assert_eq!(versions.len(), 2, "{versions:#?}");
    assert_eq!((&versions[0]["actor"], &versions[0]["reason"]), (&json!("editor"), &json!("an hour later")));
    let changes = versions[0]["changes"].to_string();
    assert!(changes.contains("cron: '0 0 0 1 1 ?' -> '0 0 4 1 1 ?'") && changes.contains("props.plain"), "{changes}");
    assert_eq!((&versions[1]["actor"], &versions[1]["changes"]), (&Value::Null, &Value::Null));
    assert!(!json!(versions).to_string().contains("hunter2"), "secrets are masked");

    let page = editor.get("/r/default/jobs/settle/configuration/history").await.body;
    assert!(page.contains("an hour later") && page.contains("outside of this console"), "{page}");
    let form =
        page.split("href=\"").filter_map(|rest| rest.split('"').next()).find(|link| link.contains("edit?version"));
    let form = editor.get(form.expect("a link to put it back")).await.body;
    assert!(
        form.contains("props.url") && form.contains("value=\"0 0 0 1 1 ?\"") && form.contains("plain=one"),
        "{form}"
    );

    let restore = format!("{CONFIGURATION}/versions/{}/restorations", versions[1]["id"]);
    let without_version = call(&console, with_json("POST", &restore, &editor.cookie, &json!({}))).await;
    assert_eq!(without_version.status, StatusCode::PRECONDITION_REQUIRED);
    let tried = editor.send("POST", &format!("{restore}?dryRun=true"), &json!({})).await;
    assert_eq!((tried.status, editor.versions().await.len()), (StatusCode::OK, 2), "{}", tried.body);
    let restored = editor.send("POST", &restore, &json!({})).await;
    assert_eq!(restored.status, StatusCode::OK, "{}", restored.body);
    assert_eq!(parsed(&restored)["stays"], json!(["props.url"]));
    let after = editor.settings().await;
    let secret_apart = |mut settings: Value| {
        settings["props"].as_object_mut().expect("properties").remove("url");
        settings
    };
    assert_eq!((secret_apart(after.clone()), &after["props"]["url"]), (secret_apart(before), &Value::Null));
    assert_eq!(editor.versions().await.len(), 3);
    let unknown = editor.send("POST", &format!("{CONFIGURATION}/versions/99/restorations"), &json!({})).await;
    assert_eq!((unknown.status, &parsed(&unknown)["code"]), (StatusCode::NOT_FOUND, &json!("no-such-version")));
}

#[tokio::test]
async fn putting_back_keeps_the_secret_that_is_stored() {
    let memory = MemoryRegistry::new();
    let props = [("url".to_owned(), "postgres://app:hunter2@db/app".to_owned())];
    let settings = job_settings(|settings| settings.props = Some(props.into()));
    let _job = start_job(&memory, "settle", &settings).await;
    let console = console_of(&memory);
    let editor = Editor::at(&console).await;
    let id = editor.versions().await[0]["id"].clone();
    editor.send("PATCH", CONFIGURATION, &json!({ "cron": "0 0 4 1 1 ?" })).await;
    let restored = editor.send("POST", &format!("{CONFIGURATION}/versions/{id}/restorations"), &json!({})).await;
    assert_eq!(parsed(&restored)["stays"], json!(["props.url"]), "{}", restored.body);
    let job = "settle".parse().expect("a name");
    let stored = console.app().registries["default"].views().configuration(&job).await.expect("it is read");
    assert_eq!(stored.configuration.settings().props.expect("it has some")["url"], "postgres://app:hunter2@db/app");
}

#[tokio::test]
async fn nothing_is_put_back_on_a_job_that_a_scheduler_carries() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let editor = Editor::at(&console).await;
    let changed = editor.send("PATCH", CONFIGURATION, &json!({ "cron": "0 0 4 1 1 ?" })).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.body);
    let id = editor.versions().await[1]["id"].clone();
    let page = "/r/default/jobs/settle/configuration/history";
    let link = format!("configuration/edit?version={id}");
    assert!(editor.get(page).await.body.contains(&link), "before it is registered it can be put back");

    let mut registration = Transaction::new();
    for (path, data) in [("/config", ""), ("/config/job", ""), ("/config/job/settle", r#"{"jobName": "settle"}"#)] {
        registration.create(path, data, CreateMode::Persistent);
    }
    memory.connect().commit(registration).await.expect("it is registered");
    let history = editor.get(page).await.body;
    assert!(history.contains("registration") && !history.contains("edit?version"), "no button, and why: {history}");
    let configuration = editor.get("/r/default/jobs/settle/configuration").await.body;
    assert!(!configuration.contains("/configuration/edit"), "{configuration}");
    let form = format!("/r/default/jobs/settle/configuration/edit?version={id}");
    let form = call(&console, request("GET", &form, Some(&editor.cookie))).await;
    assert_eq!(form.status, StatusCode::CONFLICT, "{}", form.body);
    let restore = format!("{CONFIGURATION}/versions/{id}/restorations");
    let refused = editor.send("POST", &restore, &json!({})).await;
    assert_eq!((refused.status, &parsed(&refused)["code"]), (StatusCode::CONFLICT, &json!("carried-job")));
}

#[cfg(feature = "data")]
mod kept {
    use elasticjob::ident::JobName;

    use super::*;
    use crate::DataFile;
    use crate::service::versions::MOST;
    use crate::store::tests::{Folder, console_with};

    #[tokio::test]
    async fn a_change_by_another_program_is_noted_though_nobody_looks_and_outlives_the_console() {
        let (folder, memory) = (Folder::new("versions"), MemoryRegistry::new());
        let _job = start_job(&memory, "settle", &JobSettings::default()).await;
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&memory, &data);
        let job: JobName = "settle".parse().expect("a name");
        let seen = async |number| {
            let versions = || async { data.storage().versions("default", &job, MOST).await.expect("it is read") };
            let wait = async {
                while versions().await.first().is_none_or(|version| version.number != number) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(60), wait).await.expect("it is noted");
        };
        seen(0).await;
        let operations = elasticjob::operations::Operations::new(std::sync::Arc::new(memory.connect()));
        let stored = operations.configuration(&job).await.expect("it is read");
        let mut settings = stored.configuration.settings();
        settings.description = Some("from elsewhere".to_owned());
        operations.update_configuration(&stored, &settings).await.expect("it is changed");
        seen(1).await;
        drop(console);
        data.storage().close().await;
        drop(data);
        let data = DataFile::open(folder.file()).await.expect("it is there");
        let console = console_with(&memory, &data);
        let versions = Editor::at(&console).await.versions().await;
        assert_eq!(versions.len(), 2, "{versions:#?}");
        assert!(versions[0]["changes"].to_string().contains("from elsewhere") && versions[0]["actor"].is_null());
        data.storage().close().await;
    }
}
