//! Every button, and what is seen after it.

use serde_json::json;

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::devtools;
use super::stage::{PASSWORD, Stage};

const JOBS: &str = "/r/default/jobs";
const JOB: &str = "/r/default/jobs/nightly";

/// How many rows the tables of a page have.
const ROWS: &str = "return document.querySelectorAll('main tbody tr').length";

pub async fn every_button() {
    let stage = Stage::start_beside_java().await;
    let chrome = Chrome::start(&stage.address).await;
    let mut buttons = Buttons::new(&chrome);
    let server = log_in(&mut buttons).await;
    reader_settings(&mut buttons).await;
    let pages = [JOBS, JOB, "/r/default/jobs/nightly/configuration", server.as_str()];
    let forms = "return document.querySelectorAll('main form[method=post] button, main a[href$=\"/edit\"]').length";
    for page in pages {
        buttons.open(page).await;
        let expected = if page.ends_with("configuration") { "an edit" } else { "forms" };
        assert_ne!(chrome.eval(forms).await, json!(0), "an admin has {expected} on {page}");
    }
    overview(&mut buttons).await;
    several_jobs(&mut buttons).await;
    one_job(&mut buttons).await;
    cancel_runs(&mut buttons).await;
    configuration(&mut buttons).await;
    questions(&mut buttons).await;
    one_server(&mut buttons, &server).await;
    alarms(&mut buttons).await;
    own_password(&stage.address, &mut buttons).await;
    for page in [
        "/r/default/comparison",
        "/r/default/graph",
        "/r/default/nodes",
        "/access",
        "/help",
        "/help/api",
        "/help/problems",
    ] {
        buttons.open(page).await;
    }
    only_what_the_role_allows(&stage.address, &pages, forms).await;
    console_settings(&mut buttons).await;
    leave_and_remove(&mut buttons, &server).await;
    buttons.press(Button::post("/logout", ""), &[]).await;
    assert_eq!(chrome.path_of(&chrome.session.url().await).as_deref(), Some("/login"));
    let complaints = chrome.complaints().await;
    assert!(complaints.is_empty(), "{complaints:#?}");
    buttons.check();
    chrome.quit().await;
}

/// What a reader does most, in a browser that runs no script of the pages.
pub async fn without_script() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    devtools::forbid_scripts(&chrome.session).await;
    let mut buttons = Buttons::new(&chrome);
    log_in(&mut buttons).await;
    buttons.open(JOB).await;
    assert_eq!(chrome.eval("return typeof htmx").await, json!("undefined"), "the script of the page did not run");
    reader_settings(&mut buttons).await;
    several_jobs(&mut buttons).await;
    one_job(&mut buttons).await;
    configuration(&mut buttons).await;
    questions(&mut buttons).await;
    let complaints = chrome.complaints().await;
    assert!(complaints.is_empty(), "{complaints:#?}");
    chrome.quit().await;
}

/// Logs in with a wrong password and the right one; returns the page of the one server.
async fn log_in(buttons: &mut Buttons<'_>) -> String {
    buttons.open("/login").await;
    buttons.press(Button::post("/login", ""), &[("name", "admin"), ("password", PASSWORD)]).await;
    buttons.open("/r/default/servers").await;
    let link = buttons.chrome.eval("return document.querySelector('tbody th a').getAttribute('href')").await;
    link.as_str().expect("a server").to_owned()
}

/// Language and theme are those of the reader.
async fn reader_settings(buttons: &mut Buttons<'_>) {
    for language in ["zh-CN", "en"] {
        buttons.press(Button::post("/language", language), &[]).await;
        assert_eq!(buttons.chrome.eval("return document.documentElement.lang").await, json!(language));
    }
    for theme in ["dark", "light", "system"] {
        buttons.press(Button::post("/theme", theme), &[]).await;
        assert_eq!(buttons.chrome.eval("return document.documentElement.dataset.theme").await, json!(theme));
    }
}

/// The overview has the jobs that need a look, each with the button that helps, and comes back.
async fn overview(buttons: &mut Buttons<'_>) {
    let home = "/r/default";
    let of_row = |action| Button::post(JOBS, action).about("job,back");
    let heading = "return document.querySelector('h1').innerText";
    // A job is said to fail when it has done so for a while.
    buttons.wait_for(home, &of_row("trigger")).await;
    buttons.act(of_row("trigger"), &[]).await;
    assert_eq!(buttons.chrome.eval(heading).await, json!("Overview"));
    buttons.open(JOB).await;
    buttons.act(Button::post(JOB, "disable"), &[]).await;
    buttons.wait_says(home, "which job is disabled", |text| text.contains("An operator disabled the job")).await;
    buttons.act(of_row("enable"), &[]).await;
    buttons.wait_says(home, "no disabled job", |text| !text.contains("An operator disabled the job")).await;
}

/// A job that fails is an alarm, until an operator looks after it.
async fn alarms(buttons: &mut Buttons<'_>) {
    let alarms = "/r/default/alarms";
    buttons.wait_says(alarms, "which job fails", |text| text.contains("failing")).await;
    let reason = "the disk is on its way";
    let mut tries = 0;
    while {
        look_after(buttons, reason).await;
        buttons.wait_says(alarms, "which job fails", |text| text.contains("failing")).await;
        !buttons.chrome.text().await.contains(reason)
    } {
        // The alarm was over by then, and this is the next one.
        tries += 1;
        assert!(tries < 20, "nobody looks after the alarm:\n{}", buttons.chrome.text().await);
    }
    while buttons.chrome.eval("return document.querySelectorAll('main form').length").await != json!(0) {
        look_after(buttons, "").await;
    }
}

/// Acknowledges the first alarm. The job runs every second: while it does, the alarm that the page shows is over.
async fn look_after(buttons: &mut Buttons<'_>, reason: &str) {
    let alarms = "/r/default/alarms";
    for _ in 0..20 {
        let button = Button::post(alarms, "").about("alarm");
        buttons.press(button.clone(), &[("reason", reason)]).await;
        if !buttons.chrome.text().await.contains("holds now") {
            return buttons.says_done(&button).await;
        }
        buttons.wait_says(alarms, "which job fails", |text| text.contains("failing")).await;
    }
    panic!("the alarm is over each time");
}

async fn several_jobs(buttons: &mut Buttons<'_>) {
    buttons.open(JOBS).await;
    buttons.press(Button::get(JOBS), &[("q", "night")]).await;
    let text = buttons.chrome.text().await;
    assert!(text.contains("nightly") && !text.contains("settle"), "{text}");
    for (action, state) in [("disable", "DISABLED"), ("enable", "OK"), ("trigger", "OK")] {
        buttons.open(JOBS).await;
        buttons.chrome.session.find("input[name=job][value=nightly]").await.click().await;
        buttons.act(Button::post(JOBS, action), &[("reason", "a test")]).await;
        buttons.wait_says(JOBS, state, |text| row_of(text, "nightly").is_some_and(|row| row.contains(state))).await;
    }
}

/// The line of a table that begins with a name.
fn row_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let begin = text.find(name)?;
    Some(text[begin..].split("\nfailing").next().unwrap_or_default().split("\nsettle").next().unwrap_or_default())
}

async fn one_job(buttons: &mut Buttons<'_>) {
    let items = format!("{JOB}/items");
    let disabled = |text: &str| text.contains("DISABLED");
    for button in [
        Button::post(JOB, "disable"),
        Button::post(JOB, "disable").about("server"),
        Button::post(&items, "disable").about("item"),
    ] {
        buttons.open(JOB).await;
        buttons.act(button.clone(), &[]).await;
        buttons.wait_says(JOB, "DISABLED", disabled).await;
        buttons.act(Button { value: "enable".to_owned(), ..button }, &[]).await;
        buttons.wait_says(JOB, "no DISABLED", |text| !disabled(text)).await;
    }
    buttons.act(Button::post(JOB, "trigger"), &[("reason", "the file came late")]).await;
    buttons.act(Button::post(JOB, "trigger").about("server"), &[]).await;
}

/// What runs is cancelled: an item, and all.
async fn cancel_runs(buttons: &mut Buttons<'_>) {
    let job = "/r/default/jobs/archive";
    for cancel in [Button::post(&format!("{job}/items"), "cancel").about("item"), Button::post(job, "cancel")] {
        buttons.open(job).await;
        buttons.act(Button::post(job, "trigger"), &[]).await;
        buttons.wait_says(job, "RUNNING", |text| text.contains("RUNNING")).await;
        buttons.act(cancel, &[("reason", "the wrong file")]).await;
        buttons.wait_says(job, "FAILED", |text| !text.contains("RUNNING") && text.contains("FAILED")).await;
        let error = buttons.chrome.eval("return document.querySelector('main tbody details pre').textContent").await;
        assert_eq!(error, json!("cancelled by admin: the wrong file"));
    }
}

async fn configuration(buttons: &mut Buttons<'_>) {
    let edit = format!("{JOB}/configuration/edit");
    buttons.open(&edit).await;
    buttons.press(Button::post(&edit, "preview"), &[("cron", "0 0 4 * * ?"), ("reason", "an hour later")]).await;
    let text = buttons.chrome.text().await;
    assert!(text.contains("0 0 3 * * ?") && text.contains("T20:00:00.000Z"), "{text}");
    buttons.act(Button::post(&edit, "save"), &[]).await;
    buttons.wait_says(&format!("{JOB}/configuration"), "the new cron", |text| text.contains("0 0 4 * * ?")).await;
    let history = format!("{JOB}/configuration/history");
    buttons.wait_says(&history, "who changed it and why", |text| text.contains("an hour later")).await;
    let old = "return document.querySelector('main a[href*=\"edit?version\"]').getAttribute('href')";
    let old = buttons.chrome.eval(old).await;
    buttons.open(old.as_str().expect("a link to put it back")).await;
    buttons.press(Button::post(&edit, "preview"), &[]).await;
    let text = buttons.chrome.text().await;
    assert!(text.contains("'0 0 4 * * ?' -> '0 0 3 * * ?'"), "{text}");
}

/// Forms that change nothing.
async fn questions(buttons: &mut Buttons<'_>) {
    buttons.open(&format!("{JOB}/graph")).await;
    let schedule = format!("{JOB}/schedule");
    buttons.open(&schedule).await;
    buttons.press(Button::get(&schedule), &[("cron", "0 30 5 * * ?")]).await;
    assert!(buttons.chrome.text().await.contains("05:30:00"));
    let why = format!("{JOB}/why");
    buttons.open(&why).await;
    buttons.press(Button::get(&why), &[("at", "2026-01-01T03:00")]).await;
    assert!(buttons.chrome.text().await.contains("No run and no decision is recorded"));
    let runs = "/r/default/jobs/settle/runs";
    buttons.open(runs).await;
    buttons.press(Button::get(runs), &[("from", "2026-01-01T00:00"), ("until", "2026-01-02T00:00")]).await;
    assert_eq!(buttons.chrome.eval(ROWS).await, json!(0));
    buttons.open(runs).await;
    let fire = buttons.chrome.eval("return document.querySelector('main tbody th a').getAttribute('href')").await;
    let fire = fire.as_str().expect("a fire");
    buttons.open(fire).await;
    // Its buttons are named "action", so that the property of this name is one of them.
    let form = "return document.querySelector('main form[method=post]').getAttribute('action')";
    let again = buttons.chrome.eval(form).await;
    let again = Button::post(again.as_str().expect("a form"), "rerun");
    buttons.press(again, &[("reason", "the file came late")]).await;
    buttons.open(fire).await;
    let log = buttons
        .chrome
        .eval("return document.querySelector('main tbody a[href*=\"/log/\"]').getAttribute('href')")
        .await;
    let log = log.as_str().expect("the log of an item");
    buttons.open(log).await;
    buttons.press(Button::get(log), &[("q", "nowhere")]).await;
    assert!(buttons.chrome.text().await.contains("No line matches"));
    let timeline = "/r/default/timeline";
    buttons.open(timeline).await;
    buttons.press(Button::get(timeline), &[("q", "night")]).await;
    buttons.press(Button::get(timeline), &[("from", "2026-01-02T00:00"), ("span", "12h")]).await;
    assert!(buttons.chrome.session.url().await.contains("from=2026-01-02T00%3A00"));
    assert_eq!(buttons.chrome.eval(ROWS).await, json!(1));
    for page in ["executions", "states", "decisions", "audit"] {
        let page = format!("/r/default/history/{page}");
        buttons.open(&page).await;
        buttons.press(Button::get(&page), &[("job", "no-such-job")]).await;
        assert_eq!(buttons.chrome.eval(ROWS).await, json!(0), "{page}");
    }
}

async fn one_server(buttons: &mut Buttons<'_>, server: &str) {
    buttons.open(server).await;
    buttons.press(Button::get(server), &[("q", "nightly")]).await;
    let text = buttons.chrome.text().await;
    assert!(text.contains("nightly") && !text.contains("settle"), "only what is searched for\n{text}");
    buttons.open(server).await;
    buttons.act(Button::post(server, "disable"), &[("reason", "kernel update")]).await;
    buttons.wait_says(server, "DISABLED", |text| text.contains("DISABLED")).await;
    buttons.act(Button::post(server, "enable"), &[]).await;
    buttons.wait_says(server, "no DISABLED", |text| !text.contains("DISABLED")).await;
    buttons.act(Button::post(server, "trigger"), &[]).await;
}

/// A viewer has no button in any page, an operator none that shuts down, removes or edits.
async fn only_what_the_role_allows(address: &str, pages: &[&str], forms: &str) {
    let dangerous = "return document.querySelectorAll('main button.danger, main a[href$=\"/edit\"]').length";
    for (user, script) in [("viewer", forms), ("operator", dangerous)] {
        let chrome = Chrome::start(address).await;
        chrome.log_in(user).await;
        for page in pages {
            chrome.go(page).await;
            assert_eq!(chrome.eval(script).await, json!(0), "{user} on {page}");
        }
        chrome.go(&format!("{JOB}/configuration/edit")).await;
        assert_eq!(chrome.eval("return document.querySelectorAll('main form').length").await, json!(0), "{user}");
        chrome.quit().await;
    }
}

/// A user whom the data file has changes the own password; this reader is in the settings, and is told so.
async fn own_password(address: &str, buttons: &mut Buttons<'_>) {
    buttons.open("/password").await;
    assert!(buttons.chrome.text().await.contains("elasticjob console hash-password"));
    let (users, password) = ("/settings/users", "/password");
    buttons.open(users).await;
    buttons.press(Button::post(users, "add"), &[("name", "wang"), ("password", PASSWORD), ("role", "viewer")]).await;
    let chrome = Chrome::start(address).await;
    chrome.log_in("wang").await;
    let mut of_wang = Buttons::new(&chrome);
    of_wang.open(password).await;
    let new = [("now", PASSWORD), ("new", "another sesame"), ("again", "another sesame")];
    of_wang.act(Button::post(password, ""), &new).await;
    buttons.pressed_by(&of_wang);
    chrome.quit().await;
    let change = "/settings/users/change";
    buttons.open(users).await;
    buttons.act(Button::post(change, "remove").about("name"), &[]).await;
}

/// Connections, users, tokens and sessions.
async fn console_settings(buttons: &mut Buttons<'_>) {
    for what in ["registry", "traces"] {
        buttons.open("/settings").await;
        buttons.act(Button::post("/settings/checks", what).about("registry"), &[]).await;
    }
    let users = "/settings/users";
    buttons.open(users).await;
    buttons.press(Button::post(users, "add"), &[("name", "li"), ("role", "viewer")]).await;
    assert!(buttons.chrome.text().await.contains("The password of li. It is shown this once"));
    let change = "/settings/users/change";
    buttons.open(users).await;
    buttons.act(Button::post(change, "change").about("name"), &[("role", "operator")]).await;
    buttons.press(Button::post(change, "password").about("name"), &[]).await;
    assert!(buttons.chrome.text().await.contains("The password of li. It is shown this once"));
    buttons.act(Button::post(change, "remove").about("name"), &[]).await;
    buttons.wait_says(users, "no user li", |text| !text.contains("li\n")).await;
    let tokens = "/settings/tokens";
    buttons.open(tokens).await;
    buttons.press(Button::post(tokens, "make"), &[("name", "deploy"), ("role", "viewer")]).await;
    assert!(buttons.chrome.text().await.contains("ejt_"));
    buttons.open(tokens).await;
    buttons.act(Button::post("/settings/tokens/removal", "").about("name"), &[]).await;
    // The session that began last is that of an operator who left without a logout.
    let sessions = "/settings/sessions";
    buttons.open(sessions).await;
    buttons.act(Button::post("/settings/sessions/end", "").about("id"), &[]).await;
    buttons.open("/access").await;
    let text = buttons.chrome.text().await;
    assert!(text.contains("added a user") && text.contains("ended a session"), "{text}");
}

/// What cannot be undone: a job, then all.
async fn leave_and_remove(buttons: &mut Buttons<'_>, server: &str) {
    let job = "/r/default/jobs/failing";
    buttons.open(job).await;
    buttons.act(Button::post(&format!("{job}/shutdown"), "").about("server"), &[]).await;
    buttons.wait_says(job, "that no instance is online", |text| text.contains("No instance is online")).await;
    buttons.act(Button::post(&format!("{job}/servers/removal"), "").about("server"), &[]).await;
    buttons.act(Button::post(&format!("{job}/removal"), ""), &[]).await;
    buttons.wait_says(JOBS, "no such job", |text| !text.contains("failing")).await;

    buttons.open(server).await;
    buttons.act(Button::post(&format!("{server}/shutdown"), ""), &[]).await;
    buttons.wait_says("/r/default/servers", "no instance", |text| !text.contains("@-@")).await;
    buttons.open(server).await;
    buttons.press(Button::post(&format!("{server}/removal"), ""), &[]).await;
    buttons.wait_says("/r/default/servers", "no server", |text| !text.contains("127.") && !text.contains("@-@")).await;
}
