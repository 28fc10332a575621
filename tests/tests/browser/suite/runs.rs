//! From the timeline by links to a fire and its records.

use std::time::{Duration, Instant};

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::past;
use super::stage::{LIMIT, Stage};

const TIMELINE: &str = "/r/default/timeline";
const RUNS: &str = "/r/default/jobs/nightly/runs";

pub async fn are_found() {
    let stage = Stage::start().await;
    past::write(&stage.database).await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("viewer").await;
    let mut buttons = Buttons::new(&chrome);
    buttons.open(TIMELINE).await;
    buttons.press(Button::get(TIMELINE), &[("q", "settle")]).await;
    assert_eq!(count(&chrome, "tbody tr").await, 1, "{}", chrome.text().await);
    assert_ne!(count(&chrome, "tbody .bar.ok").await, 0, "runs of the last minute have bars");
    follow(&chrome, "tbody th a").await;
    assert!(chrome.session.url().await.contains("/jobs/settle/runs?from="), "the runs of that time are shown");
    follow(&chrome, "tbody th a").await;
    wait_bars(&chrome, 2).await;

    buttons.open(RUNS).await;
    let [from, until] = [6, 4].map(|night| past::fire(night).format("%Y-%m-%dT00:00").to_string());
    buttons.press(Button::get(RUNS), &[("from", &from), ("until", &until)]).await;
    assert_eq!(count(&chrome, ".dot").await, 2, "two nights are between\n{}", chrome.text().await);
    follow(&chrome, "svg a:has(.dot.bad)").await;
    let text = chrome.text().await;
    assert!(text.contains("account 4711"), "the cause is shown\n{text}");
    follow(&chrome, ".pager a").await;
    assert_eq!(count(&chrome, "tbody tr").await, 4, "three items, of which one ran again\n{}", chrome.text().await);
    let complaints = chrome.complaints().await;
    assert!(complaints.is_empty(), "{complaints:#?}");
    chrome.quit().await;
}

/// How many elements of the page a CSS selector finds.
async fn count(chrome: &Chrome, selector: &str) -> u64 {
    let count = chrome.eval(&format!("return document.querySelectorAll('main {selector}').length")).await;
    count.as_u64().expect("a count")
}

/// Clicks the first link that a CSS selector finds.
async fn follow(chrome: &Chrome, selector: &str) {
    chrome.session.find(&format!("main {selector}")).await.click().await;
}

/// Waits until each item of a fire has a bar. It is the newest fire: the run of an item may not be traced yet.
async fn wait_bars(chrome: &Chrome, items: u64) {
    let (url, deadline) = (chrome.session.url().await, Instant::now() + LIMIT);
    while count(chrome, "svg .bar").await != items {
        assert!(Instant::now() < deadline, "each item has a bar\n{}", chrome.text().await);
        tokio::time::sleep(Duration::from_millis(200)).await;
        chrome.session.open(&url).await;
    }
}
