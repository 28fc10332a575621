//! Why a fire was missed is known after the fact.

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::stage::Stage;

const JOB: &str = "/r/default/jobs/settle";

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
    chrome.quit().await;
}
