//! Two operators change the same configuration.

use super::buttons::{Button, Buttons};
use super::chrome::Chrome;
use super::stage::Stage;
use super::{findings, installed};

const EDIT: &str = "/r/default/jobs/nightly/configuration/edit";
const STORED: &str = "/r/default/jobs/nightly/configuration";

pub async fn lose_nothing() {
    let stage = Stage::start().await;
    let (one, other) = (Chrome::start(&stage.address).await, Chrome::start(&stage.address).await);
    let mut forms = [Buttons::new(&one), Buttons::new(&other)];
    for form in &mut forms {
        form.chrome.log_in("admin").await;
        form.open(EDIT).await;
    }
    let [first, second] = &mut forms;
    let preview = || Button::post(EDIT, "preview");
    let save = || Button::post(EDIT, "save");
    first.press(preview(), &[("cron", "0 0 4 * * ?"), ("label", "books")]).await;
    first.act(save(), &[]).await;
    // The second one began before that: nothing is written, and the page has three texts of what both changed.
    second.press(preview(), &[("description", "by night"), ("label", "ledger")]).await;
    let text = other.text().await;
    assert!(text.contains("Nothing was changed") && text.contains("Changed meanwhile"), "{text}");
    let rows = "return [...document.querySelectorAll('#meanwhile tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))";
    let rows = other.eval(rows).await;
    let expected = serde_json::json!([
        ["cron", "0 0 3 * * ?", "0 0 4 * * ?", "0 0 3 * * ?", "what is stored now"],
        ["label", "", "books", "ledger", "yours: both changed it"],
    ]);
    assert_eq!(rows, expected, "{text}");
    let wrong = findings::of_page(&other, &installed::axe(), "meanwhile").await;
    // The browser says that the answer was 412.
    let wrong: Vec<_> = wrong.into_iter().filter(|found| !found.contains("412")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    second.press(preview(), &[]).await;
    second.act(save(), &[]).await;
    second.open(STORED).await;
    let stored = other.text().await;
    for part in ["0 0 4 * * ?", "by night", "ledger"] {
        assert!(stored.contains(part), "{part} is lost:\n{stored}");
    }
    one.quit().await;
    other.quit().await;
}
