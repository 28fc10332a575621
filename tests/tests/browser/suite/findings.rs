//! Finds what is wrong with the page in the browser.

use serde_json::{Value, json};

use super::chrome::Chrome;
use super::devtools::Request;
use super::installed;

/// Rules that give findings which count, once they are of one of these impacts.
const IMPACTS: [&str; 2] = ["serious", "critical"];

/// The widths of windows that pages have to fit.
const WIDTHS: [u32; 2] = [1280, 360];

/// Runs the rules of accessibility; each finding with the place it is about.
const RUN_AXE: &str = "const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then(
        found => done(found.violations.flatMap(rule => rule.nodes.map(node => (
            { impact: node.impact || rule.impact, text: rule.id + ' at ' + node.target.join(' ') + ': ' + node.failureSummary }
        )))),
        error => done([{ impact: 'critical', text: 'axe: ' + error }]))";

/// Everything that is wrong with the page in its language: in each theme and width, and what the browser says. Keeps a
/// picture of each.
pub async fn of_page(chrome: &Chrome, axe: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    chrome.eval(axe).await;
    for width in WIDTHS {
        chrome.set_width(width).await;
        let wide = chrome.eval("return document.documentElement.scrollWidth").await.as_u64().unwrap_or(u64::MAX);
        if wide > u64::from(width) {
            found.push(format!("a window of {width} px has to be scrolled: the page has {wide} px"));
        }
        for theme in ["light", "dark"] {
            chrome.eval(&format!("document.documentElement.dataset.theme = '{theme}'")).await;
            let findings = chrome.eval_async(RUN_AXE, vec![]).await;
            let findings = findings.as_array().cloned().unwrap_or_default().into_iter();
            let counts = |finding: &Value| IMPACTS.iter().any(|impact| finding["impact"] == json!(impact));
            chrome.whole_page(&installed::pictures().join(format!("{name}-{width}-{theme}.png"))).await;
            found.extend(findings.filter(counts).map(|one| format!("{theme}, {width} px: {}", one["text"])));
        }
    }
    chrome.set_width(WIDTHS[0]).await;
    found.extend(chrome.complaints().await);
    found
}

/// The requests that went to another host.
pub fn foreign(chrome: &Chrome, requests: &[Request]) -> Vec<String> {
    // The browser's own pages, such as the one that it begins with, come from itself.
    let own = ["data:", "about:", "chrome:"];
    let is_foreign = |request: &&Request| {
        chrome.path_of(&request.url).is_none() && !own.iter().any(|scheme| request.url.starts_with(scheme))
    };
    requests.iter().filter(is_foreign).map(|request| format!("a request to {}", request.url)).collect()
}
