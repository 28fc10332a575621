//! The help: meanings of words and states, and rights of roles.

use askama::Template;
use axum::response::Response;
use elasticjob::operations::alarms::AlarmKind;
use elasticjob::operations::{JobState, ShardState};
use i18n_embed_fl::fl;

use super::chart::sign::Sign;
use super::{Layout, alarms, fires, jobs, page};
use crate::access::Role;
use crate::here::Who;
use crate::text::{Text, t};

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    layout: Layout,
    words: Vec<(String, String)>,
    jobs: Vec<(JobState, String)>,
    items: Vec<(ShardState, String)>,
    ends: Vec<(Sign, String)>,
    alarms: Vec<(String, String)>,
    roles: Vec<(Role, String)>,
}

fn words(text: &Text) -> Vec<(String, String)> {
    let loader = text.loader();
    vec![
        (fl!(loader, "help-registry-center"), fl!(loader, "help-registry-center-is")),
        (fl!(loader, "job"), fl!(loader, "help-job-is")),
        (fl!(loader, "fire"), fl!(loader, "help-fire-is")),
        (fl!(loader, "item"), fl!(loader, "help-item-is")),
        (fl!(loader, "instance"), fl!(loader, "help-instance-is")),
        (fl!(loader, "server"), fl!(loader, "help-server-is")),
        (fl!(loader, "leader"), fl!(loader, "help-leader-is")),
        (fl!(loader, "source-failover"), fl!(loader, "help-failover-is")),
        (fl!(loader, "source-misfire"), fl!(loader, "help-misfire-is")),
        (fl!(loader, "one-off"), fl!(loader, "one-off-detail")),
    ]
}

fn job_state(text: &Text, state: JobState) -> String {
    let loader = text.loader();
    match state {
        JobState::Ok => fl!(loader, "help-job-ok"),
        JobState::Crashed => fl!(loader, "concern-crashed-about"),
        JobState::Disabled => fl!(loader, "help-job-disabled"),
        JobState::ShardingFlag => fl!(loader, "help-job-sharding-flag"),
        JobState::ConfigurationRefused => fl!(loader, "concern-configuration-refused-about"),
        JobState::Failing => fl!(loader, "concern-failing-about"),
        // The library may have more than this page knows.
        _ => String::new(),
    }
}

fn item_state(text: &Text, state: ShardState) -> String {
    let loader = text.loader();
    match state {
        ShardState::Running => fl!(loader, "help-item-running"),
        ShardState::Pending => fl!(loader, "help-item-pending"),
        ShardState::Disabled => fl!(loader, "help-item-disabled"),
        ShardState::ShardingFlag => fl!(loader, "help-item-sharding-flag"),
        // The library may have more than this page knows.
        _ => String::new(),
    }
}

fn role(text: &Text, role: Role) -> String {
    let loader = text.loader();
    match role {
        Role::Viewer => fl!(loader, "help-viewer"),
        Role::Operator => fl!(loader, "help-operator"),
        Role::Editor => fl!(loader, "help-editor"),
        Role::Admin => fl!(loader, "help-admin"),
    }
}

pub(crate) async fn show(who: Who) -> Response {
    let text = &who.text;
    let items = [ShardState::Running, ShardState::Pending, ShardState::Disabled, ShardState::ShardingFlag];
    page(&HelpPage {
        layout: Layout::of_console(&who),
        words: words(text),
        jobs: JobState::ALL.map(|state| (state, job_state(text, state))).into(),
        items: items.map(|state| (state, item_state(text, state))).into(),
        ends: fires::legend(text, Sign::ALL.into_iter()),
        alarms: AlarmKind::all().map(|kind| (alarms::name(text, kind), alarms::about(text, kind))).collect(),
        roles: Role::ALL.map(|one| (one, role(text, one))).into(),
    })
}

#[cfg(test)]
mod tests {
    use elasticjob::operations::JobState;
    use elasticjob::registry::memory::MemoryRegistry;

    use super::job_state;
    use crate::testing::{call, console_of, cookie_of, request};
    use crate::text::{Language, Texts};

    #[test]
    fn every_state_of_a_job_has_a_meaning_in_each_language() {
        let texts = Texts::load().expect("they load");
        for language in Language::ALL {
            for state in JobState::ALL {
                assert_ne!(job_state(texts.of(language), state), "", "{state:?} in {language}");
            }
        }
    }

    #[tokio::test]
    async fn a_viewer_reads_the_help_and_it_asks_no_other_host() {
        let console = console_of(&MemoryRegistry::new());
        let viewer = cookie_of(&console, "viewer").await;
        let page = call(&console, request("GET", "/help", Some(&viewer))).await;
        assert_eq!(page.status, 200);
        for part in ["SHARDING_FLAG", "CRASHED", "operator", "Runs long"] {
            assert!(page.body.contains(part), "{part}: {}", page.body);
        }
        assert!(!page.body.contains("https://"), "{}", page.body);
    }
}
