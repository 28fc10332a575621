//! The commands of README.md that carry a first run.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::SchedulerProcess;
use elasticjob_tests::until::until;
use elasticjob_tests::zookeeper::ZookeeperServer;

use super::killed;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(60);

/// The address of the scheduler that the page starts.
const ADDRESS: &str = "localhost:8899";

/// Shows the words of `curl` as a shell hands them over, one after the other, so that the test needs no such program.
const SHOW: &str = "curl() { for word; do printf '%s\\0' \"$word\"; done; printf -- '--next\\0'; }\n";

/// A request of `curl`.
struct Request {
    body: Option<String>,
    path: String,
}

/// The requests of the commands, as a shell in the clone reads them.
fn requests(commands: &str, clone: &Path) -> Vec<Request> {
    let shell = Command::new("sh").args(["-ec", &format!("{SHOW}{commands}")]).current_dir(clone).output();
    let shell = shell.expect("a shell");
    assert!(shell.status.success(), "{}", String::from_utf8_lossy(&shell.stderr));
    let said = String::from_utf8(shell.stdout).expect("a text");
    let (mut requests, mut body, mut path) = (Vec::new(), None, None);
    let mut words = said.split_terminator('\0');
    while let Some(word) = words.next() {
        match word {
            "-d" => body = words.next().map(str::to_owned),
            "--next" => {
                let path = path.take().expect("an address comes first");
                requests.push(Request { body: body.take(), path });
            }
            address => path = Some(address.strip_prefix(ADDRESS).expect("it is of the scheduler").to_owned()),
        }
    }
    requests
}

fn answer(scheduler: &SchedulerProcess, request: &Request) -> (u16, String) {
    let method = if request.body.is_some() { "POST" } else { "GET" };
    let answer = scheduler.call(method, &request.path, request.body.as_deref().unwrap_or_default());
    answer.expect("the scheduler answers")
}

/// The first command is a scheduler of the test, with a registry center; all that it is sent is as the page has it.
pub async fn carries_a_first_run(server: Arc<ZookeeperServer>) {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the workspace");
    let readme = std::fs::read_to_string(clone.join("README.md")).expect("the page");
    let start = "cargo run -p elasticjob-cli -- cloud --carrier process --no-authentication\n";
    let (_, commands) = readme.split_once(start).expect("the page starts a scheduler");
    let (commands, _) = commands.split_once("```").expect("the end of the block");
    let requests = requests(commands, clone);
    let [app, job, log] = &requests[..] else { panic!("{} requests and not three:\n{commands}", requests.len()) };

    let folder = TemporaryFolder::new("readme").expect("a folder");
    let carrier = ["--carrier", "process"].map(str::to_owned).to_vec();
    let program = killed::program(&server, folder.path().to_owned(), "readme", carrier);
    let scheduler = program.start();
    for registration in [app, job] {
        assert_eq!(answer(&scheduler, registration), (200, "true".to_owned()), "{}", registration.path);
    }
    // Before the first fire it has no log.
    let log_of_item = || answer(&scheduler, log);
    let has_run = || {
        let (status, said) = log_of_item();
        (status == 200 && said.starts_with("item 1 of the fire of ")).then_some(())
    };
    until(LIMIT, "a run of the item", || format!("{:?}\n{}", log_of_item(), program.logs()), has_run).await;
}
