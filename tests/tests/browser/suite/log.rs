//! The log of a run grows on its page while the job logs.

use std::time::{Duration, Instant};

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::killed::wait_shown;
use super::processes::LINES;
use super::stage::{LIMIT, Stage};
use super::{findings, installed};

const JOB: &str = "/r/default/jobs/archive";

pub async fn is_shown() {
    let stage = Stage::start().await;
    let chrome = at_a_new_fire(&stage).await;
    let fire = chrome.session.url().await.replace(&chrome.address, "");
    follow_when_there(&chrome, &fire, "tbody a[href*='/log/']").await;
    let line = |number: u32| format!("part {number} of {LINES} <b>is</b> archived rows={}", number * 100);
    // It begins before the last line is there, and the rest comes by itself.
    let begin = chrome.text().await;
    assert!(begin.contains("The run goes on") && !begin.contains(&line(LINES)), "{begin}");
    wait_shown(&chrome, |text| text.contains(&line(LINES)) && text.contains("The end of the log")).await;
    wait_shown(&chrome, |text| text.contains("Succeeded")).await;
    let text = chrome.text().await;
    for number in 1..=LINES {
        assert_eq!(text.matches(&line(number)).count(), 1, "each line once\n{text}");
    }
    let wrong = findings::of_page(&chrome, &installed::axe(), "log").await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    chrome.quit().await;
}

/// The page of a fire changes by itself while an item of it runs.
pub async fn fire_is_followed() {
    let stage = Stage::start().await;
    let chrome = at_a_new_fire(&stage).await;
    let begin = chrome.text().await;
    assert!(begin.contains("Running") && !begin.contains("Succeeded"), "{begin}");
    wait_shown(&chrome, |text| text.contains("Succeeded") && !text.contains("Running")).await;
    assert!(chrome.complaints().await.is_empty());
    chrome.quit().await;
}

/// An operator runs the job, and looks at the page of the fire.
async fn at_a_new_fire(stage: &Stage) -> Chrome {
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("operator").await;
    let mut buttons = Buttons::new(&chrome);
    buttons.open(JOB).await;
    buttons.act(Button::post(JOB, "trigger"), &[]).await;
    follow_when_there(&chrome, &format!("{JOB}/runs"), "tbody th a").await;
    chrome
}

/// Opens a page again until it has a link, and clicks it.
async fn follow_when_there(chrome: &Chrome, page: &str, selector: &str) {
    let deadline = Instant::now() + LIMIT;
    let found = format!("return document.querySelector(\"main {selector}\") != null");
    chrome.go(page).await;
    while chrome.eval(&found).await != serde_json::json!(true) {
        assert!(Instant::now() < deadline, "{page} has no {selector}\n{}", chrome.text().await);
        tokio::time::sleep(Duration::from_millis(100)).await;
        chrome.go(page).await;
    }
    chrome.session.find(&format!("main {selector}")).await.click().await;
}
