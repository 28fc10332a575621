//! More tabs than HTTP/1.1 has connections for: a browser opens six to an origin, and each stream of events takes one. So a tab
//! in the background has none.

use std::time::{Duration, Instant};

use serde_json::json;

use super::chrome::Chrome;
use super::devtools;
use super::killed::wait_shown;
use super::stage::{LIMIT, Stage};

const TABS: usize = 7;

const JOB: &str = "/r/default/jobs/nightly";

/// What the page was since it was loaded.
const FOLLOW: &str = "window.was = [document.visibilityState];
    document.addEventListener('visibilitychange', () => window.was.push(document.visibilityState))";

pub async fn all_work() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("admin").await;
    chrome.go(JOB).await;
    chrome.eval(FOLLOW).await;
    let mut tabs = vec![chrome.session.tab().await];
    for tab in 1..TABS {
        tabs.push(chrome.session.open_tab().await);
        chrome.session.switch_to(&tabs[tab]).await;
        devtools::bring_to_front(&chrome.session).await;
        chrome.go(JOB).await;
        chrome.eval(FOLLOW).await;
        assert!(chrome.text().await.contains("nightly"), "tab {tab} is loaded");
    }
    wait_streams(&stage.address).await;
    // The last one changes by itself, and so does the first one when the reader comes back to it.
    act(&chrome, "disable").await;
    wait_shown(&chrome, |text| text.contains("DISABLED")).await;
    chrome.session.switch_to(&tabs[0]).await;
    devtools::bring_to_front(&chrome.session).await;
    wait_shown(&chrome, |text| text.contains("DISABLED")).await;
    assert_eq!(chrome.eval("return window.was").await, json!(["visible", "hidden", "visible"]));
    act(&chrome, "enable").await;
    wait_shown(&chrome, |text| !text.contains("DISABLED")).await;
    wait_streams(&stage.address).await;
    chrome.quit().await;
}

/// Waits until one tab has a stream, the one in front.
async fn wait_streams(address: &str) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let answer = reqwest::get(format!("{address}/metrics")).await.expect("the console answers");
        let text = answer.text().await.expect("a text");
        let streams = text.lines().find_map(|line| line.strip_prefix("elasticjob_console_streams "));
        if streams == Some("1.0") {
            return;
        }
        assert!(Instant::now() < deadline, "{streams:?} streams are open for {TABS} tabs");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Sends what a button of the page sends, and stays on the page.
async fn act(chrome: &Chrome, action: &str) {
    let script = "const [path, action, done] = arguments;
        fetch(path, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' }).then(
            answer => done(answer.type), error => done(String(error)))";
    let answer = chrome.eval_async(script, vec![json!(JOB), json!(action)]).await;
    assert_eq!(answer, json!("opaqueredirect"), "it is done");
}
