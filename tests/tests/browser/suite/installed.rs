//! The tools for tests besides Cargo.

use std::fs;
use std::path::PathBuf;

use elasticjob_tests::databases::{DatabaseServer, Kind};
use elasticjob_tests::java_peer::target_folder;
use elasticjob_tests::programs;
use elasticjob_tests::zookeeper::ZookeeperServer;

/// Where `tests/run` puts the rules of accessibility, in the target folder.
const AXE: &str = "tools/axe.min.js";

/// Why there is no browser, or nothing for it to look at.
pub fn missing() -> Option<String> {
    let problems = [
        programs::find("chromium", "chromium").err().map(|missing| missing.to_string()),
        programs::find("chromedriver", "chromium-driver").err().map(|missing| missing.to_string()),
        ZookeeperServer::find().err().map(|missing| missing.to_string()),
        DatabaseServer::find(Kind::Postgresql).err().map(|missing| missing.to_string()),
        (!axe_file().is_file()).then(|| format!("no {AXE} in the target folder; tests/run fetches it")),
    ];
    problems.into_iter().flatten().next()
}

/// Why there is no proxy.
pub fn no_nginx() -> Option<String> {
    programs::find("nginx", "nginx").err().map(|missing| missing.to_string())
}

fn axe_file() -> PathBuf {
    target_folder().expect("a target folder").join(AXE)
}

/// The script with the rules of accessibility.
pub fn axe() -> String {
    fs::read_to_string(axe_file()).expect("tests/run fetches it")
}

/// The folder for pictures of the pages.
pub fn pictures() -> PathBuf {
    let folder = target_folder().expect("a target folder").join("tests").join("browser");
    fs::create_dir_all(&folder).expect("a folder for pictures");
    folder
}
