//! A process that is killed with SIGKILL is seen in the console.

use std::time::{Duration, Instant};

use super::chrome::Chrome;
use super::stage::{LIMIT, Stage};

pub async fn is_seen() {
    let mut stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("viewer").await;
    chrome.go("/r/default/jobs/nightly").await;
    let instance = format!("@-@{}", stage.jobs.pid());
    wait_shown(&chrome, |text| text.contains(&instance)).await;
    stage.jobs.kill();
    wait_shown(&chrome, |text| !text.contains(&instance) && text.contains(&format!("@-@{}", stage.others.pid()))).await;
    assert!(chrome.complaints().await.is_empty());
    chrome.quit().await;
}

/// Waits until the page shows something. It does so by itself: nothing is pressed, and it is not loaded again.
pub async fn wait_shown(chrome: &Chrome, is_shown: impl Fn(&str) -> bool) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let text = chrome.text().await;
        if is_shown(&text) {
            return;
        }
        assert!(Instant::now() < deadline, "it is not shown:\n{text}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
