//! A missed fire is explained after the fact.

use chrono::TimeDelta;

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::stage::Stage;
use super::{findings, installed, past};

const JOB: &str = "/r/default/jobs/settle";
const WHY: &str = "/r/default/jobs/nightly/why";
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
    at_three_in_the_night(&chrome, &stage).await;
    chrome.quit().await;
}

/// The page Why, asked days later about the night in which a job did not run.
async fn at_three_in_the_night(chrome: &Chrome, stage: &Stage) {
    const MISSED: u32 = 3;
    past::write_but(&stage.database, Some(MISSED)).await;
    let mut buttons = Buttons::new(chrome);
    for (night, is_missed) in [(MISSED, true), (MISSED - 1, false)] {
        buttons.open(WHY).await;
        let at = past::fire(night) + TimeDelta::hours(8);
        buttons.press(Button::get(WHY), &[("at", &at.format("%Y-%m-%dT%H:%M").to_string())]).await;
        let text = chrome.text().await;
        assert!(text.contains(&format!("The fire of {} 03:00:00+08:00", at.format("%Y-%m-%d"))), "{text}");
        assert_eq!(text.contains(past::MISSED), is_missed, "{text}");
        assert_eq!(text.contains("Succeeded"), !is_missed, "{text}");
    }
}
