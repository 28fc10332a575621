//! A job that a Java instance shares with a Rust one.

use std::time::{Duration, Instant};

use super::chrome::Chrome;
use super::stage::{LIMIT, Stage};
use super::{findings, installed};

const JOB: &str = "/r/default/jobs/settle";

/// The cells of the tables of the page.
const TABLES: &str = "return [...document.querySelectorAll('main table')].map(table =>
    [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText)))";

/// The column of the owner of an item.
const OWNER: usize = 3;

pub async fn is_shown_with_its_items() {
    let mut stage = Stage::start_beside_java().await;
    let java = stage.java.as_ref().expect("Java tests are asked for").pid();
    let [java, rust] = [java, stage.jobs.pid()].map(|pid| format!("@-@{pid}"));
    // Two instances are left for the two items.
    stage.others.kill();
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("viewer").await;
    chrome.go(JOB).await;
    let deadline = Instant::now() + LIMIT;
    loop {
        let tables: Vec<Vec<Vec<String>>> = serde_json::from_value(chrome.eval(TABLES).await).expect("texts");
        let [map, items, others @ ..] = &tables[..] else { panic!("a table is missing: {tables:?}") };
        let owned =
            |id: &str| items.iter().filter(|item| item.get(OWNER).is_some_and(|owner| owner.ends_with(id))).count();
        let is_listed = others.iter().flatten().flatten().any(|cell| cell.contains(&java));
        let is_mapped = |id: &str| map.iter().any(|row| row[0].contains(id) && row[1].ends_with(": 1"));
        if (owned(&java), owned(&rust), is_listed) == (1, 1, true) && is_mapped(&java) && is_mapped(&rust) {
            break;
        }
        assert!(Instant::now() < deadline, "the Java instance {java} has no item: {tables:#?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let wrong = findings::of_page(&chrome, &installed::axe(), "java").await;
    assert!(wrong.is_empty(), "{wrong:#?}");
    chrome.quit().await;
}
