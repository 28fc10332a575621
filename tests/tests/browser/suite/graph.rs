//! A run of jobs that run after others is followed in the picture, which changes by itself.

use std::time::Instant;

use serde_json::json;

use super::chrome::Chrome;
use super::killed::wait_shown;
use super::stage::{LIMIT, Stage};

/// A character that some proxy might read in its own way is encoded.
const GRAPH: &str = "/r/default/jobs/feed%5Freport/graph";

/// Each job of the chain, and how its fire ends.
const ENDS: [(&str, &str); 4] = [
    ("feed", "● Succeeded"),
    ("feed_check", "✖ Failed 1/1"),
    ("feed_report", "● Succeeded"),
    ("feed_ledger", "■ Skipped"),
];

/// The texts of the boxes, each a line.
const BOXES: &str = "return [...document.querySelectorAll('svg a')]
    .map(box => [...box.querySelectorAll('text')].map(text => text.textContent).join(': ')).join('\\n')";

pub async fn is_followed() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("viewer").await;
    chrome.go("/r/default/jobs/feed_report").await;
    let tab = "return document.querySelector('.tabs a[href$=\"/graph\"]').getAttribute('href')";
    assert_eq!(chrome.eval(tab).await, json!(GRAPH));
    chrome.go(GRAPH).await;
    wait_shown(&chrome, |text| text.contains("Job feed_check failed, and this job runs when it succeeded.")).await;
    let shown = "return [document.querySelector('h2 time').textContent,
        document.querySelector('main details.menu [aria-current]').getAttribute('href')]";
    let shown = chrome.eval(shown).await;
    let (fire, link) = (shown[0].as_str().expect("a fire"), shown[1].as_str().expect("its link"));

    // The next fire comes to the same page, which is not loaded again.
    chrome.eval("window.same = true").await;
    wait_shown(&chrome, |text| !text.contains(&format!("The fire of {fire}"))).await;
    assert_eq!(chrome.eval("return window.same").await, json!(true));

    // The one before can be looked at. The traces have how it ended, a little after the registry center.
    let deadline = Instant::now() + LIMIT;
    loop {
        chrome.go(link).await;
        let boxes = chrome.eval(BOXES).await;
        let boxes = boxes.as_str().unwrap_or_default();
        let says = |(job, state): &(&str, &str)| boxes.lines().any(|line| line.starts_with(&format!("{job}: {state}")));
        if ENDS.iter().all(says) {
            break;
        }
        assert!(Instant::now() < deadline, "the fire {fire} is shown as\n{boxes}");
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    assert!(chrome.complaints().await.is_empty());
    chrome.quit().await;
}
