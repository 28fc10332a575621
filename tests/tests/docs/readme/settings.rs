//! Settings that the pages name exist, and settings that they show can be used.

use std::fs;
use std::path::{Path, PathBuf};

use elasticjob::config::{Invalid, JobConfiguration};
use elasticjob::ident::JobName;
use elasticjob::spi::Catalog;
use elasticjob_starter::settings::{SettingError, Settings, Sources};

use super::pages::{Page, root};

/// The job of the example of README.md, whose function has the settings that its file does not give.
const WITH_FUNCTION: &str = "sync_orders";
/// The job of the examples on the page of settings.
const OF_PAGE: &str = "settle";

/// The problem with the name of a setting, if it does not exist.
fn unknown(key: &str) -> Option<String> {
    let sources = Sources::in_folder(env!("CARGO_TARGET_TMPDIR")).arguments([format!("--{key}=0")]);
    let problems = Settings::load(&sources, &[]).err().unwrap_or_default();
    let unknown = |problem: &SettingError| matches!(problem, SettingError::UnknownKey { .. });
    problems.iter().find(|problem| unknown(problem)).map(ToString::to_string)
}

/// Whether a text looks like the name of a setting without its section, and is not the name of a package.
fn is_setting_name(text: &str) -> bool {
    let mut words = text.split('-');
    let are_words = words.clone().all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    are_words && text.contains('-') && words.next() != Some("elasticjob")
}

/// Whether the starter has a feature of that name.
fn is_feature(name: &str) -> bool {
    let manifest = fs::read_to_string(root().join("elasticjob-starter/Cargo.toml")).expect("a manifest");
    manifest.lines().any(|line| line.starts_with(&format!("{name} = [")))
}

#[test]
fn every_setting_that_the_pages_name_exists() {
    let mut wrong = Vec::new();
    let mut found = 0;
    for page in Page::for_users() {
        for span in page.code_spans() {
            let name = span.split([':', '=']).next().unwrap_or_default().trim_start_matches("--");
            let mut problems = Vec::new();
            if let Some(variable) = name.strip_prefix("ELASTICJOB_") {
                let sources = Sources::in_folder(env!("CARGO_TARGET_TMPDIR")).environment([(name, "x")]);
                let settings = Settings::load(&sources, &[WITH_FUNCTION, OF_PAGE]);
                let warnings = settings.iter().flat_map(|settings| &settings.warnings);
                problems.extend(warnings.map(|warning| format!("{variable}: {warning}")));
            } else if name.starts_with("elasticjob.") {
                problems.extend(unknown(name));
            } else if is_setting_name(name) && !span.starts_with("--") {
                let elsewhere = ["reg-center", "tracing"];
                let of_job = unknown(&format!("elasticjob.jobs.any.{name}"));
                let is_unknown = |section| unknown(&format!("elasticjob.{section}.{name}")).is_some();
                problems.extend(of_job.filter(|_| !is_feature(name) && elsewhere.into_iter().all(is_unknown)));
            } else {
                continue;
            }
            wrong.extend(problems.into_iter().map(|problem| format!("{}: {problem}", page.name)));
            found += 1;
        }
    }
    assert!(found > 30, "the pages name settings: {found}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// An empty folder with a file of settings.
fn folder(name: &str, yaml: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings_of_pages").join(name);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("application.yaml"), yaml).expect("a file of settings");
    folder
}

/// The problems of a job, as a start reports them.
fn problems(job: &JobConfiguration) -> Vec<Invalid> {
    let catalog = Catalog::builder().build().expect("built-in types have names of their own");
    let mut problems = catalog.problems(job);
    if let Some(kind) = job.job_type() {
        let kind = catalog.job_types().get(kind).expect("the type of a job exists");
        problems.extend(kind.handler().check().problems(job));
    }
    problems
}

#[test]
fn every_file_of_settings_that_the_pages_show_can_be_used() {
    let mut found = 0;
    for page in Page::for_users() {
        for (number, yaml) in page.blocks("yaml").into_iter().enumerate() {
            let place = format!("{}, yaml block {}", page.name, number + 1);
            let folder = folder(&format!("{}-{number}", page.name.replace(['/', '.'], "-")), &yaml);
            let sources = Sources::in_folder(folder).environment([("MAIL_PASSWORD", "secret")]);
            let settings =
                Settings::load(&sources, &[WITH_FUNCTION]).unwrap_or_else(|errors| panic!("{place}: {errors:?}"));
            assert!(settings.warnings.is_empty(), "{place}: {:?}", settings.warnings);
            for job in settings.jobs.iter().filter(|job| job.name != WITH_FUNCTION) {
                let name = JobName::new(&job.name).expect("a valid name");
                let job = JobConfiguration::from_settings(name, &job.settings)
                    .unwrap_or_else(|problems| panic!("{place}: {problems:?}"));
                assert_eq!(problems(&job), [], "{place}");
            }
            found += 1;
        }
    }
    assert!(found > 3, "the pages show files of settings");
}

#[test]
fn every_feature_that_the_pages_switch_on_exists() {
    let mut found = 0;
    for page in Page::for_users() {
        let blocks = page.blocks("toml").into_iter();
        for line in blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()) {
            let Some((_, features)) =
                line.strip_prefix("elasticjob-starter = ").and_then(|line| line.split_once("features = ["))
            else {
                continue;
            };
            for feature in features.split('"').skip(1).step_by(2) {
                assert!(is_feature(feature), "{}: there is no feature {feature}", page.name);
                found += 1;
            }
        }
    }
    assert!(found > 0, "the pages switch on features");
}
