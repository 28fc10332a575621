//! A page whose session ends while it is open.

use std::time::{Duration, Instant};

use serde_json::json;

use super::chrome::Chrome;
use super::stage::{LIMIT, Stage};
use super::tabs::{metrics, opened_streams};

/// How long the page is looked at after it said so, and how often it may ask for its stream meanwhile.
const LOOKED_AT: Duration = Duration::from_secs(6);
const ASKS: u64 = 5;

/// Another tab logs out: the page says so, keeps what it shows, and asks less and less often.
pub async fn is_said() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("admin").await;
    chrome.go("/r/default/jobs/nightly").await;
    let log_out = "const done = arguments[0];
        fetch('/logout', { method: 'POST', body: new URLSearchParams(), redirect: 'manual' }).then(answer => done(answer.type))";
    assert_eq!(chrome.eval_async(log_out, vec![]).await, json!("opaqueredirect"), "it is done");
    let deadline = Instant::now() + LIMIT;
    while chrome.eval("return document.getElementById('logged-out').hidden").await != json!(false) {
        assert!(Instant::now() < deadline, "the page does not say that its session has ended");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let text = chrome.text().await;
    assert!(text.contains("nightly"), "it stays as it is\n{text}");
    let before = opened_streams(&metrics(&stage.address).await);
    tokio::time::sleep(LOOKED_AT).await;
    let asked = opened_streams(&metrics(&stage.address).await) - before;
    assert!(asked <= ASKS, "it asked {asked} times in {LOOKED_AT:?}");
    chrome.quit().await;
}
