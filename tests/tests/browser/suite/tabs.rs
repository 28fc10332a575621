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

/// Tabs that a reader opens behind the page, to look at them later, end the streams that their pages open.
pub async fn opened_behind() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("admin").await;
    chrome.go(JOB).await;
    wait_streams(&stage.address).await;
    let before = opened_streams(&metrics(&stage.address).await);
    let mut tabs = Vec::new();
    for _ in 1..TABS {
        tabs.push(devtools::open_behind(&chrome.session, &format!("{}{JOB}", stage.address)).await);
    }
    let deadline = Instant::now() + LIMIT;
    // The driver looks at no tab meanwhile: it would show it.
    while opened_streams(&metrics(&stage.address).await) < before + tabs.len() as u64 {
        assert!(Instant::now() < deadline, "a page behind opens no stream");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    wait_streams(&stage.address).await;
    // One of them is looked at, and changes by itself.
    chrome.session.switch_to(&tabs[0]).await;
    devtools::bring_to_front(&chrome.session).await;
    act(&chrome, "disable").await;
    wait_shown(&chrome, |text| text.contains("DISABLED")).await;
    act(&chrome, "enable").await;
    wait_shown(&chrome, |text| !text.contains("DISABLED")).await;
    chrome.quit().await;
}

/// Waits until one tab has a stream, the one in front.
async fn wait_streams(address: &str) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let text = metrics(address).await;
        let streams = text.lines().find_map(|line| line.strip_prefix("elasticjob_console_streams "));
        if streams == Some("1.0") {
            return;
        }
        assert!(Instant::now() < deadline, "{streams:?} streams are open for {TABS} tabs");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// How many streams were opened since the console started.
pub fn opened_streams(metrics: &str) -> u64 {
    let of_streams =
        |line: &&str| line.starts_with("elasticjob_console_http_requests_total{route=\"/r/{registry}/events\"");
    let count = |line: &str| line.rsplit(' ').next().and_then(|count| count.parse::<f64>().ok()).expect("a number");
    metrics.lines().filter(of_streams).map(count).sum::<f64>() as u64
}

pub async fn metrics(address: &str) -> String {
    let answer = reqwest::get(format!("{address}/metrics")).await.expect("the console answers");
    answer.text().await.expect("a text")
}

/// Sends what a button of the page sends, and stays on the page.
async fn act(chrome: &Chrome, action: &str) {
    let script = "const [path, action, done] = arguments;
        fetch(path, { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' }).then(
            answer => done(answer.type), error => done(String(error)))";
    let answer = chrome.eval_async(script, vec![json!(JOB), json!(action)]).await;
    assert_eq!(answer, json!("opaqueredirect"), "it is done");
}
