//! A reader who has a keyboard and no mouse.

use serde_json::{Value, json};

use super::chrome::Chrome;
use super::killed::wait_shown;
use super::stage::{PASSWORD, Stage};

const JOB: &str = "/r/default/jobs/nightly";

/// The keys, as WebDriver writes them.
const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

/// How often a reader presses Tab on a page at most.
const STOPS: usize = 120;

/// What has the focus, and whether that can be seen: its outline differs from that of an element without the focus.
const FOCUS: &str = "const at = document.activeElement, style = getComputedStyle(at);
    return { tag: at.tagName, name: at.name || '', value: at.value || '', text: at.innerText || '',
        href: at.getAttribute('href') || '', folded: at.tagName == 'SUMMARY' && !at.parentElement.open,
        main: !!at.closest('main'), seen: style.outlineStyle != 'none' && parseFloat(style.outlineWidth) > 0 }";

/// Logs in, goes to a job, disables it and enables it again.
pub async fn is_enough() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.go("/login").await;
    for (field, text) in [("name", "admin"), ("password", PASSWORD)] {
        go_to(&chrome, field, |focus| focus["name"] == field).await;
        for key in text.chars() {
            chrome.session.press(key).await;
        }
    }
    chrome.session.press(ENTER).await;
    wait_shown(&chrome, |text| text.contains("Overview")).await;
    go_to(&chrome, "the list of jobs", |focus| focus["href"] == "/r/default/jobs").await;
    chrome.session.press(ENTER).await;
    wait_shown(&chrome, |text| text.contains("nightly")).await;

    // The first stop leads past the navigation.
    chrome.session.press(TAB).await;
    assert_eq!(focus(&chrome).await["href"], "#main");
    chrome.session.press(ENTER).await;
    chrome.session.press(TAB).await;
    assert_eq!(focus(&chrome).await["main"], json!(true), "it led into the content");
    go_to(&chrome, "the job", |focus| focus["href"] == JOB).await;
    chrome.session.press(ENTER).await;
    for (action, shows) in [("disable", true), ("enable", false)] {
        wait_shown(&chrome, |text| text.contains("nightly") && text.contains("DISABLED") != shows).await;
        go_to(&chrome, action, |focus| focus["value"] == action).await;
        chrome.session.press(ENTER).await;
        wait_shown(&chrome, |text| text.contains("DISABLED") == shows).await;
    }
    assert!(chrome.complaints().await.is_empty());
    chrome.quit().await;
}

/// Presses Tab until the focus is there. What is folded on the way is unfolded.
async fn go_to(chrome: &Chrome, what: &str, is_there: impl Fn(&Value) -> bool) {
    let mut passed = Vec::new();
    for _ in 0..STOPS {
        let focus = focus(chrome).await;
        // Before the first stop, and behind the last one, nothing of the page has it.
        let is_seen = focus["seen"] == json!(true) || focus["tag"] == "BODY";
        assert!(is_seen, "the focus is not seen: {focus}");
        if is_there(&focus) {
            return;
        }
        if focus["folded"] == json!(true) {
            chrome.session.press(ENTER).await;
        }
        passed.push(format!("{} {}", focus["tag"], focus["text"]));
        chrome.session.press(TAB).await;
    }
    panic!("Tab does not lead to {what}: {passed:#?}");
}

async fn focus(chrome: &Chrome) -> Value {
    chrome.eval(FOCUS).await
}
