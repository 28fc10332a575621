//! The main job: it prints a line for each sharding item every five seconds.
//!
//! ```text
//! cargo run --bin quickstart                      # until Ctrl-C, on the embedded registry
//! cargo run --bin quickstart -- --console         # with the web console at http://127.0.0.1:8899/
//! cargo run --bin quickstart -- --fires 2         # ends after two fires
//! ELASTICJOB_REG_CENTER_SERVER_LISTS=localhost:2181 cargo run --bin quickstart
//! ```

use std::io::Write;

use elasticjob_starter::prelude::*;

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 3, params = "0=Beijing,1=Shanghai,2=Guangzhou")]
async fn quickstart(context: ShardingContext) -> JobResult {
    let scheduled = context.scheduled_at().to_rfc3339();
    let item = context.sharding_item();
    let parameter = context.sharding_parameter().unwrap_or_default();
    let instance = context.instance_id();
    writeln!(std::io::stdout(), "{scheduled} item={item} parameter={parameter} instance={instance}")?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    let Wanted { fires, console } = wanted(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("{problem}\nusage: quickstart [--console] [--fires N] [--elasticjob.KEY=VALUE ...]");
        std::process::exit(2);
    });
    init_logging()?;
    let settings = console.then_some("--elasticjob.console.port=8899".to_owned());
    let jobs = ElasticJobApp::builder().args(std::env::args().skip(1).chain(settings));
    let Some(fires) = fires else { return jobs.run().await };
    jobs.run_with(async |app| {
        if app.is_enabled() {
            let mut status = app.schedule_job("quickstartScheduleJobBootstrap")?.status();
            // An error means that the job has ended; then there is nothing to wait for.
            let _ = status.wait_for(|status| status.fires >= fires).await;
        }
        Ok(())
    })
    .await
}

/// What the arguments ask for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// The number of fires after which the program ends; `None` for never.
    fires: Option<u64>,
    /// Whether the web console is opened.
    console: bool,
}

fn wanted(arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let mut wanted = Wanted::default();
    let mut arguments = arguments.filter(|argument| !argument.starts_with("--elasticjob."));
    while let Some(argument) = arguments.next() {
        if argument == "--console" {
            wanted.console = true;
            continue;
        }
        let value = match argument.strip_prefix("--fires") {
            Some("") => arguments.next().ok_or("--fires needs a number")?,
            Some(rest) if rest.starts_with('=') => rest[1..].to_owned(),
            _ => return Err(format!("unknown argument '{argument}'")),
        };
        let number = value.parse::<u64>().ok().filter(|number| *number > 0);
        wanted.fires = Some(number.ok_or_else(|| format!("--fires '{value}' is not a number from 1"))?);
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Wanted, String> {
        wanted(arguments.iter().map(|argument| (*argument).to_owned()))
    }

    #[test]
    fn the_number_of_fires_is_read_and_settings_are_left_to_the_starter() {
        assert_eq!(parsed(&[]), Ok(Wanted::default()));
        let two = Ok(Wanted { fires: Some(2), console: false });
        assert_eq!(parsed(&["--elasticjob.enabled=false", "--fires", "2"]), two);
        assert_eq!(parsed(&["--fires=3", "--console"]), Ok(Wanted { fires: Some(3), console: true }));
        for wrong in [&["--fires"][..], &["--fires", "0"], &["--fires", "x"], &["--firesx"], &["2"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
