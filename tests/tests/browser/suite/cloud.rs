//! The pages of carried jobs, beside a scheduler that runs processes of this host.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use elasticjob_console::PasswordHash;
use elasticjob_tests::group::{TemporaryFolder, TestProcess};
use elasticjob_tests::ports;
use serde_json::json;

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::routes::Routes;
use super::stage::{PASSWORD, wait_open};
use super::walk::walk;
use super::{findings, installed, processes};

const CLOUD: &str = "/r/default/cloud";
const APP: &str = "/r/default/cloud/apps/reports";
const JOB: &str = "/r/default/cloud/jobs/nightly";

/// What a process of the job writes: it has to be shown as text.
const SCRIPT: &str =
    "#!/bin/sh\necho \"item $ELASTICJOB_SHARDING_ITEM <b>is</b> done\"\nwhile [ -e \"$HOLD\" ]; do sleep 0.1; done\n";

/// A scheduler with users, and traces in SQLite.
struct Stage {
    address: String,
    process: TestProcess,
    folder: TemporaryFolder,
}

impl Stage {
    fn start() -> Self {
        let folder = TemporaryFolder::new("cloud").expect("a folder");
        let port = ports::free().expect("a free port");
        let hash = PasswordHash::of(PASSWORD).expect("a password");
        let user = |role: &str| format!("    {role}:\n      password-hash: {}\n      role: {role}\n", hash.as_str());
        let settings = format!(
            "elasticjob:\n  tracing:\n    type: RDB\n    data-source: {{url: 'sqlite:{}'}}\n  console:\n    port: {port}\n  \
             console-users:\n{}{}{}",
            folder.path().join("traces.db").display(),
            user("admin"),
            user("operator"),
            user("viewer"),
        );
        fs::write(folder.path().join("application.yaml"), settings).expect("settings");
        let script = folder.path().join("report.sh");
        fs::write(&script, SCRIPT).expect("a script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a mode");
        fs::write(folder.path().join("hold"), "").expect("a file");
        let log = folder.path().join("cloud.log");
        let mut process = TestProcess::start(processes::cloud(folder.path()), log).expect("it starts");
        wait_open(port, &mut process);
        Self { address: format!("http://127.0.0.1:{port}"), process, folder }
    }

    fn file(&self, name: &str) -> String {
        let path: &Path = self.folder.path();
        path.join(name).display().to_string()
    }
}

pub async fn every_button() {
    let stage = Stage::start();
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("admin").await;
    let mut buttons = Buttons::of(&chrome, Routes::of_cloud());
    register(&mut buttons, &stage).await;
    run(&mut buttons).await;
    let wrong = walk(&chrome, CLOUD, &Routes::of_cloud()).await;
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), stage.process.log());
    fs::remove_file(stage.file("hold")).expect("it is there");
    // Only what has ended has a result.
    buttons.wait_says(CLOUD, "a run that ended well", |text| !text.contains("0 well") && text.contains(" well")).await;
    let wrong = findings::of_page(&chrome, &installed::axe(), "cloud-results").await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    change(&mut buttons).await;
    only_what_the_role_allows(&stage.address).await;
    remove(&mut buttons).await;
    let complaints = chrome.complaints().await;
    assert!(complaints.is_empty(), "{complaints:#?}");
    buttons.check();
    chrome.quit().await;
}

/// An application and a job of it, after a mistake.
async fn register(buttons: &mut Buttons<'_>, stage: &Stage) {
    let new_app = format!("{CLOUD}/new-app");
    let url = format!("file://{}", stage.file("report.sh"));
    buttons.open(&new_app).await;
    buttons.press(Button::post(&new_app, ""), &[("appName", "reports"), ("appURL", "ftp://nowhere/x")]).await;
    let text = buttons.chrome.text().await;
    assert!(text.contains("bootstrapScript") && text.contains("is missing"), "{text}");
    // The browser complains about an answer that is a refusal.
    let complaints = buttons.chrome.complaints().await;
    assert!(complaints.iter().all(|one| one.contains("status of 400")), "{complaints:#?}");
    let fields =
        [("appURL", url.as_str()), ("bootstrapScript", "./report.sh"), ("cpuCount", "0.1"), ("memoryMB", "64")];
    buttons.act(Button::post(&new_app, ""), &fields).await;
    let new_job = format!("{CLOUD}/new-job");
    buttons.open(&format!("{new_job}?app=reports")).await;
    let hold = format!("HOLD={}", stage.file("hold"));
    let fields = [
        ("jobName", "nightly"),
        ("shardingTotalCount", "2"),
        ("cpuCount", "0.1"),
        ("memoryMB", "64"),
        ("cron", "0 0 3 * * ?"),
        ("description", "closes the books 关账"),
        ("env", &hold),
    ];
    buttons.act(Button::post(&new_job, ""), &fields).await;
}

/// Both items run, and what they write is shown.
async fn run(buttons: &mut Buttons<'_>) {
    buttons.wait_says("/r/default/jobs", "that the job is scheduled", |text| text.contains("nightly")).await;
    buttons.open(JOB).await;
    buttons.act(Button::post(JOB, "trigger"), &[]).await;
    let tasks = format!("{CLOUD}/tasks");
    buttons.wait_says(&tasks, "two items that run", |text| text.matches("READY").count() == 2).await;
    buttons.act(Button::post(&tasks, ""), &[]).await;
    let log = format!("{JOB}/log");
    buttons.wait_says(&log, "what item 0 wrote", |text| text.contains("item 0 <b>is</b> done")).await;
    buttons.press(Button::get(&log), &[("item", "1")]).await;
    assert!(buttons.chrome.text().await.contains("item 1 <b>is</b> done"));
}

async fn change(buttons: &mut Buttons<'_>) {
    for (page, field) in [(APP, ("memoryMB", "32")), (JOB, ("description", "closes the books at 4"))] {
        let form = format!("{page}/change");
        buttons.open(&form).await;
        buttons.act(Button::post(&form, ""), &[field]).await;
        assert!(buttons.chrome.text().await.contains(field.1), "{page}");
        buttons.act(Button::post(page, "disable"), &[]).await;
        assert!(buttons.chrome.text().await.contains("Disabled"), "{page}");
        buttons.act(Button::post(page, "enable"), &[]).await;
    }
    for page in ["", "/apps", "/jobs", "/tasks"] {
        buttons.open(&format!("{CLOUD}{page}")).await;
    }
}

/// A viewer has no button on a page of carried jobs, an operator none that registers, changes or removes.
async fn only_what_the_role_allows(address: &str) {
    let forms = "return document.querySelectorAll('main form[method=post] button').length";
    let dangerous = "return document.querySelectorAll('main button.danger, main a[href$=\"/change\"], main a[href*=\"/new-\"]').length";
    for (user, script) in [("viewer", forms), ("operator", dangerous)] {
        let chrome = Chrome::start(address).await;
        chrome.log_in(user).await;
        for page in [CLOUD, "/r/default/cloud/apps", APP, "/r/default/cloud/jobs", JOB, "/r/default/cloud/tasks"] {
            chrome.go(page).await;
            assert_eq!(chrome.eval(script).await, json!(0), "{user} on {page}");
        }
        chrome.quit().await;
    }
}

async fn remove(buttons: &mut Buttons<'_>) {
    for page in [JOB, APP] {
        buttons.open(page).await;
        buttons.act(Button::post(&format!("{page}/removal"), ""), &[]).await;
    }
    assert!(buttons.chrome.text().await.contains("No application is registered"));
}
