//! The registry center goes away and comes back.

use super::chrome::Chrome;
use super::killed::wait_shown;
use super::stage::Stage;
use super::{findings, installed};

/// Pages that are kept up to date, each with what it has to show all the time.
const PAGES: [(&str, &str); 4] = [
    ("/r/default", "nightly"),
    ("/r/default/jobs", "nightly"),
    ("/r/default/jobs/nightly", "Asia/Shanghai"),
    ("/r/default/servers", "@-@"),
];

const LOST: &str = "registry center is lost";

pub async fn is_away_and_back() {
    let stage = Stage::start().await;
    let chrome = Chrome::start(&stage.address).await;
    chrome.log_in("admin").await;
    for (page, shows) in PAGES {
        chrome.go(page).await;
        wait_shown(&chrome, |text| text.contains(shows) && !text.contains(LOST)).await;
    }
    // The page that is open says it by itself.
    stage.zookeeper.stop();
    wait_shown(&chrome, |text| text.contains(LOST)).await;
    let mut wrong = Vec::new();
    for (page, shows) in PAGES {
        chrome.go(page).await;
        let text = chrome.text().await;
        assert!(text.contains(shows) && text.contains(LOST), "{page} shows what was known, and since when:\n{text}");
        wrong.extend(findings::of_page(&chrome, &installed::axe(), &format!("lost{}", page.replace('/', "-"))).await);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    chrome.go("/r/default/jobs").await;
    stage.zookeeper.resume().expect("ZooKeeper starts again");
    wait_shown(&chrome, |text| text.contains("nightly") && !text.contains(LOST)).await;
    for (page, shows) in PAGES {
        chrome.go(page).await;
        wait_shown(&chrome, |text| text.contains(shows) && !text.contains(LOST)).await;
    }
    chrome.quit().await;
}
