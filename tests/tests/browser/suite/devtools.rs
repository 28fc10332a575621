//! Features of chromedriver beyond WebDriver: commands of the DevTools, and logs of the browser.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::webdriver::Session;

/// A request of the browser.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub url: String,
}

/// The capability that lets the browser keep the logs that are read here.
pub fn logs() -> Value {
    json!({ "browser": "ALL", "performance": "ALL" })
}

/// Shows pages as in a window of this width.
pub async fn set_width(session: &Session, width: u32) {
    let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
    devtools(session, "Emulation.setDeviceMetricsOverride", size).await;
}

/// Shows pages as to a reader who wants nothing to move.
pub async fn keep_still(session: &Session) {
    let media = json!({ "features": [{ "name": "prefers-reduced-motion", "value": "reduce" }] });
    devtools(session, "Emulation.setEmulatedMedia", media).await;
}

/// Lets pages run no script, as a browser with scripts switched off. Those of the tests run all the same.
pub async fn forbid_scripts(session: &Session) {
    devtools(session, "Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
}

/// Makes the tab the one that a reader looks at.
pub async fn bring_to_front(session: &Session) {
    devtools(session, "Page.bringToFront", json!({})).await;
}

/// Opens a page in a tab behind the one that a reader looks at, as a click with Ctrl does.
pub async fn open_behind(session: &Session, url: &str) -> String {
    text(&devtools(session, "Target.createTarget", json!({ "url": url, "background": true })).await["targetId"])
}

/// A picture of the whole page, also of what a window does not show, as PNG.
pub async fn whole_page(session: &Session) -> Vec<u8> {
    let picture = devtools(session, "Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await;
    STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("Base64")
}

/// What the browser complained about since the last call: errors, and what the policy of the pages forbids.
pub async fn complaints(session: &Session) -> Vec<String> {
    let entries = log(session, "browser").await;
    let is_loud = |entry: &&Value| ["SEVERE", "WARNING"].iter().any(|level| entry["level"] == json!(level));
    entries
        .iter()
        .filter(is_loud)
        .map(|entry| format!("{}: {}", text(&entry["level"]), text(&entry["message"])))
        .collect()
}

/// The requests since the last call.
pub async fn requests(session: &Session) -> Vec<Request> {
    let entries = log(session, "performance").await;
    let events = entries.iter().filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok());
    let sent = events.filter(|event| event["message"]["method"] == "Network.requestWillBeSent");
    let request = |event: Value| {
        let request = &event["message"]["params"]["request"];
        Request { method: text(&request["method"]), url: text(&request["url"]) }
    };
    sent.map(request).collect()
}

async fn devtools(session: &Session, command: &str, parameters: Value) -> Value {
    session.ask("goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await
}

async fn log(session: &Session, kind: &str) -> Vec<Value> {
    let entries = session.ask("se/log", json!({ "type": kind })).await;
    entries.as_array().expect("entries of a log").clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
