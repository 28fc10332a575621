//! A missed fire is explained after the fact.

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::stage::Stage;
use super::{findings, installed};

const JOB: &str = "/r/default/jobs/settle";
const RUNS: &str = "/r/default/jobs/settle/runs?limit=200";

pub async fn is_explained() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("admin").await;
    let mut buttons = Buttons::new(&chrome);
    buttons.open(JOB).await;
    buttons.act(Button::post(JOB, "disable"), &[("reason", "kernel update")]).await;
    let decisions = "/r/default/history/decisions?job=settle&kind=SKIPPED";
    let cause = "not run here: the server is disabled";
    buttons.wait_says(decisions, "that a fire was skipped", |text| text.contains(cause)).await;
    buttons.open(JOB).await;
    buttons.act(Button::post(JOB, "enable"), &[]).await;
    buttons.wait_says(JOB, "no DISABLED", |text| !text.contains("DISABLED")).await;
    // It runs again, and why it did not then is still known.
    buttons.open(decisions).await;
    assert!(chrome.text().await.contains(cause));
    // The list of runs has a line for those that are missing, with the way to the cause.
    buttons.wait_says(RUNS, "that fires have no run", |text| text.contains("No run recorded")).await;
    let wrong = findings::of_page(&chrome, &installed::axe(), "missed").await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    chrome.session.find("main tr.gap th a").await.click().await;
    let text = chrome.text().await;
    assert!(text.contains("No run recorded") && text.contains(cause), "{text}");
    chrome.quit().await;
}
