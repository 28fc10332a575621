//! `docs/settings.md` says what the code says: its tables and examples are made from the schema that settings are read
//! with, and what the examples say is read, in each of their forms, as the same.
//!
//! After a change of a setting, `ELASTICJOB_WRITE_DOCS=1 cargo test -p elasticjob-tests --test docs settings_reference` writes
//! the page again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use elasticjob::config::JobConfiguration;
use elasticjob::ident::JobName;
use elasticjob_starter::settings::{SettingReference, Settings, Sources, reference};

const PAGE: &str = "docs/settings.md";
const BEGIN: &str = "<!-- settings of ";
const END: &str = "<!-- end of settings -->\n";

fn page() -> (PathBuf, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(PAGE);
    let text = fs::read_to_string(&file).unwrap();
    (file, text)
}

/// The settings below one of these names.
fn settings_of(sections: &str) -> Vec<SettingReference> {
    let sections: Vec<&str> = sections.split(' ').collect();
    reference().into_iter().filter(|setting| sections.contains(&setting.path[0])).collect()
}

fn row(setting: &SettingReference) -> String {
    let mut meaning = setting.meaning.to_owned();
    if let Some(link) = setting.see {
        meaning.push_str(&format!(" See {link}."));
    }
    if let Some(short) = setting.short_in_attribute {
        meaning.push_str(&format!(" Short in the attribute: `{short}`."));
    }
    for alias in setting.aliases {
        meaning.push_str(&format!(" Older name: `{alias}`."));
    }
    if let Some(other) = setting.instead_of {
        meaning.push_str(&format!(" Not together with `{other}`."));
    }
    let default = setting.default.map_or_else(|| setting.otherwise.to_owned(), |value| format!("`{value}`"));
    let cells = [&format!("`{}`", setting.key()), &setting.value, &default, &meaning];
    assert!(cells.iter().all(|cell| !cell.contains('|')), "a cell of a table: {cells:?}");
    format!("| {} | {} | {} | {} |\n", cells[0], cells[1], cells[2], cells[3])
}

/// The same example in each form; what excludes another one is a comment.
fn yaml(settings: &[SettingReference]) -> String {
    let mut text = String::from("elasticjob:\n");
    let mut open: Vec<&str> = Vec::new();
    for setting in settings.iter().filter(|setting| setting.in_files) {
        // The key of a property is one key, however many dots it has.
        let (last, sections) = setting.path.split_last().unwrap();
        let common = open.iter().zip(sections).take_while(|(open, section)| open == section).count();
        for (depth, section) in sections.iter().enumerate().skip(common) {
            text.push_str(&format!("{}{section}:\n", "  ".repeat(depth + 1)));
        }
        open = sections.to_vec();
        let comment = setting.instead_of.map_or("", |_| "# ");
        text.push_str(&format!("{}{comment}{last}: {}\n", "  ".repeat(sections.len() + 1), setting.example));
    }
    text
}

fn lines(settings: &[SettingReference], line: impl Fn(&SettingReference) -> String) -> String {
    let comment = |setting: &SettingReference| setting.instead_of.map_or("", |_| "# ");
    settings.iter().map(|setting| format!("{}{}\n", comment(setting), line(setting))).collect()
}

fn block(sections: &str) -> String {
    let settings = settings_of(sections);
    let in_files: Vec<SettingReference> = settings.iter().filter(|setting| setting.in_files).cloned().collect();
    let rows: String = settings.iter().map(row).collect();
    let properties = lines(&in_files, |setting| format!("{}={}", setting.key(), setting.example));
    let environment = lines(&settings, |setting| format!("{}={}", setting.variable(), setting.example));
    format!(
        "| setting | value | default | meaning |\n|---|---|---|---|\n{rows}\n```yaml\n{}```\n\n```properties\n{properties}```\n\n\
         ```dotenv\n{environment}```\n",
        yaml(&settings)
    )
}

/// The page with its blocks generated again, and the sections that they are of.
fn with_blocks(page: &str) -> (String, Vec<String>) {
    let mut sections = Vec::new();
    let mut parts = page.split(BEGIN);
    let mut made = parts.next().unwrap().to_owned();
    for part in parts {
        let (names, rest) = part.split_once(" -->\n").expect("a block says of which sections it is");
        let (_, rest) = rest.split_once(END).unwrap_or_else(|| panic!("the block of {names} has no end"));
        made.push_str(&format!("{BEGIN}{names} -->\n{}{END}{rest}", block(names)));
        sections.extend(names.split(' ').map(str::to_owned));
    }
    (made, sections)
}

#[test]
fn the_page_says_what_the_code_says() {
    let (file, page) = page();
    let (made, sections) = with_blocks(&page);
    let known: BTreeSet<String> = reference().iter().map(|setting| setting.path[0].to_owned()).collect();
    assert_eq!(sections.iter().cloned().collect::<BTreeSet<String>>(), known, "each section once on {PAGE}");
    assert_eq!(sections.len(), known.len(), "each section once on {PAGE}");
    if made == page {
        return;
    }
    if std::env::var_os("ELASTICJOB_WRITE_DOCS").is_some() {
        fs::write(file, made).unwrap();
        return;
    }
    let missing = made.lines().filter(|line| !page.lines().any(|known| known == *line));
    let differing: Vec<&str> = missing.collect();
    panic!("{PAGE} does not say what the code says; ELASTICJOB_WRITE_DOCS=1 writes it again\n{}", differing.join("\n"));
}

#[test]
fn every_setting_has_a_meaning_an_example_and_what_holds_without_it() {
    for setting in reference() {
        let key = setting.key();
        assert!(setting.meaning.ends_with('.'), "{key}: {}", setting.meaning);
        assert!(!setting.example.is_empty(), "{key}");
        assert_ne!(setting.default.unwrap_or(setting.otherwise), "", "{key}");
    }
}

/// What settings come to where nothing is given but what is required and these arguments.
fn effective(arguments: &[String]) -> String {
    let required = [
        "--elasticjob.reg-center.server-lists=a:1",
        "--elasticjob.reg-center.namespace=n",
        "--elasticjob.tracing.type=OWN",
        "--elasticjob.jobs.settle.sharding-total-count=3",
        "--elasticjob.dump.port=0",
        "--elasticjob.console-users.ops.password-hash=any",
        "--elasticjob.console-users.ops.role=viewer",
        "--elasticjob.console-tokens.scraper.token-hash=any",
        "--elasticjob.console-tokens.scraper.role=viewer",
        "--elasticjob.console-groups.ops.role=viewer",
        "--elasticjob.console-oidc.issuer=https://id.example.com",
        "--elasticjob.console-oidc.client-id=console",
        "--elasticjob.console-oidc.public-url=https://jobs.example.com",
    ];
    let arguments = required.into_iter().map(str::to_owned).chain(arguments.iter().cloned());
    let settings = Settings::load(&Sources::of_arguments(arguments), &[]).unwrap();
    let job = JobConfiguration::from_settings(JobName::new("settle").unwrap(), &settings.jobs[0].settings).unwrap();
    let numbers = (job.max_late_begin_seconds(), job.max_time_diff_seconds(), job.reconcile_interval_minutes());
    let flags = [
        job.monitor_execution(),
        job.failover(),
        job.misfire(),
        job.static_sharding(),
        job.disabled(),
        job.overwrite(),
    ];
    let types = (job.sharding_strategy_type(), job.thread_pool_type(), job.error_handler_type());
    let tracing = settings.tracing.map(|tracing| (tracing.queue_size, tracing.run_log));
    let dump = settings.dump.map(|dump| dump.address);
    let metrics = (settings.metrics.address, settings.metrics.max_jobs);
    let console = settings.console;
    let (user, token) = (&console.users["ops"].grant, &console.tokens["scraper"].grant);
    let (group, oidc) = (&console.groups[0].2, console.oidc.as_ref().unwrap());
    let of_groups = (&console.proxy_groups_header, &oidc.scopes, &oidc.groups_claim, &group.registries, &group.jobs);
    let console = (
        of_groups,
        (console.address, console.base_path, console.language, console.secure_cookies),
        (console.read_only, console.require_reason),
        (console.max_streams, console.max_streams_of_caller),
        (&user.registries, &user.jobs, &token.registries, &token.jobs),
    );
    let program = (settings.enabled, settings.shutdown_grace, settings.reg_center.zookeeper());
    format!("{numbers:?} {flags:?} {types:?} {tracing:?} {dump:?} {console:?} {metrics:?} {program:?}")
}

#[test]
fn a_default_is_what_holds_when_nothing_is_given() {
    let mut tried = 0;
    for setting in reference() {
        let Some(default) = setting.default else { continue };
        let key = setting.key();
        assert_eq!(effective(&[format!("--{key}={default}")]), effective(&[]), "{key}");
        // Or a wrong default would not be seen.
        let other = if default == "true" { "false" } else { setting.example };
        assert_ne!(effective(&[format!("--{key}={other}")]), effective(&[]), "{key}");
        tried += 1;
    }
    assert!(tried > 15, "{tried}");
}

/// A folder with nothing in it but these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings_reference").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    folder
}

/// What was read, without the places and files it was read from.
fn read(sources: &Sources) -> String {
    let mut settings = Settings::load(sources, &["settle"]).unwrap_or_else(|errors| panic!("{errors:?}"));
    settings.files.clear();
    let text = format!("{settings:?}");
    let places = text.split("Origin(\"").map(|part| part.split_once("\")").map_or(part, |(_, rest)| rest));
    let first = text.split("Origin(\"").next().unwrap().to_owned();
    places.skip(1).fold(first, |text, part| text + part)
}

/// Files that the example of the profiles names.
const PROFILES: [(&str, &str); 2] =
    [("application-production.yaml", "elasticjob: {}\n"), ("application-berlin.yaml", "elasticjob: {}\n")];

/// The page with files of TLS that are there, as they are read with the settings.
#[cfg(feature = "zookeeper-tls")]
fn with_files_of_tls(page: &str) -> String {
    let made = rcgen::generate_simple_self_signed(["settle".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let files = [("zookeeper-ca.pem", certificate.as_str()), ("settle.pem", &certificate), ("settle.key", &key)];
    page.replace("/etc/settle/", &format!("{}/", folder("tls", &files).display()))
}

/// The page without TLS, which this build refuses.
#[cfg(not(feature = "zookeeper-tls"))]
fn with_files_of_tls(page: &str) -> String {
    let in_yaml = page.replace("tls:\n      enabled: true", "tls:\n      enabled: false");
    in_yaml.replace("tls.enabled=true", "tls.enabled=false").replace("TLS_ENABLED=true", "TLS_ENABLED=false")
}

#[test]
fn the_examples_of_the_page_mean_the_same_in_every_form() {
    let (_, page) = page();
    let (made, _) = with_blocks(&page);
    let made = with_files_of_tls(&made);
    let mut tried = 0;
    for part in made.split(BEGIN).skip(1) {
        let block = part.split(END).next().unwrap();
        let code = |language: &str| {
            let (_, rest) = block.split_once(&format!("```{language}\n")).expect("each form has an example");
            rest.split_once("```").unwrap().0
        };
        let with_profiles = |file, text| [&[(file, text)], PROFILES.as_slice()].concat();
        let yaml = folder("yaml", &with_profiles("application.yaml", code("yaml")));
        let properties = folder("properties", &with_profiles("application.properties", code("properties")));
        let variables = code("dotenv").lines().filter(|line| !line.starts_with('#'));
        let variables = variables.filter(|line| !line.contains("CONFIG_LOCATION"));
        let variables = variables.map(|line| line.split_once('=').unwrap());
        let environment = Sources::in_folder(folder("environment", &PROFILES)).environment(variables);
        let arguments: Vec<String> =
            code("properties").lines().filter(|line| !line.starts_with('#')).map(|line| format!("--{line}")).collect();
        let arguments = Sources::in_folder(folder("arguments", &PROFILES)).arguments(arguments);
        let settings = Settings::load(&Sources::in_folder(&yaml), &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        for job in settings.jobs {
            JobConfiguration::from_settings(JobName::new(&job.name).unwrap(), &job.settings).unwrap();
        }
        let expected = read(&Sources::in_folder(yaml));
        assert_eq!(read(&Sources::in_folder(properties)), expected);
        assert_eq!(read(&environment), expected);
        assert_eq!(read(&arguments), expected);
        assert_ne!(expected, read(&Sources::in_folder(folder("nothing", &[]))), "the examples say something: {block}");
        tried += 1;
    }
    assert_eq!(tried, 11, "blocks of the page");
}
