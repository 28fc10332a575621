//! One client of the dump port: its command, and the answer to it.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::{Instant, timeout, timeout_at};

use super::service::DumpService;
use super::{Addresses, Nodes, privacy, written};
use crate::ident::JobName;
use crate::operations::OperationError;

/// The longest command, in bytes.
const LONGEST: u64 = 1024;

/// The command for all jobs.
const ALL: &str = "dump";

/// The start of the command for one job; the name of the job follows.
const DUMP: &str = "dump@";

const USAGE: &str = "send one line: 'dump@' and the name of a job, or 'dump' for all jobs";

/// The command of a client.
enum Command {
    All,
    Job(JobName),
}

pub(super) struct Conversation<'s, S> {
    stream: BufReader<S>,
    service: &'s DumpService,
}

impl<'s, S: AsyncRead + AsyncWrite + Unpin> Conversation<'s, S> {
    pub fn new(stream: S, service: &'s DumpService) -> Self {
        Self { stream: BufReader::new(stream), service }
    }

    /// Reads the command, answers it, and ends the connection.
    pub async fn hold(mut self) -> io::Result<()> {
        let limit = self.service.limit();
        let answer = match timeout(limit, self.command()).await {
            Ok(Ok(command)) => self.service.answer(&command).await,
            Ok(Err(Wrong::Command(message))) => message,
            Ok(Err(Wrong::Connection(error))) => return Err(error),
            Err(_) => format!("no command came within {limit:?}: {USAGE}"),
        };
        timeout(limit, self.send(&answer)).await.map_err(|_| io::ErrorKind::TimedOut)??;
        // Reads the rest: when a connection is closed before everything that came was read, the answer is lost.
        timeout(limit, tokio::io::copy(&mut self.stream, &mut tokio::io::sink())).await.map_or(Ok(0), |read| read)?;
        Ok(())
    }

    async fn command(&mut self) -> Result<Command, Wrong> {
        let mut line = Vec::new();
        (&mut self.stream).take(LONGEST).read_until(b'\n', &mut line).await?;
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < LONGEST;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\n', '\r']);
        if !is_whole {
            return Err(Wrong::Command(format!("the command is too long: {USAGE}")));
        }
        match line.strip_prefix(DUMP) {
            _ if line == ALL => Ok(Command::All),
            Some(job) => match JobName::new(job) {
                Ok(job) => Ok(Command::Job(job)),
                Err(error) => Err(Wrong::Command(format!("{error}; {USAGE}"))),
            },
            None => Err(Wrong::Command(format!("unknown command '{}': {USAGE}", line.escape_debug()))),
        }
    }

    async fn send(&mut self, answer: &str) -> io::Result<()> {
        self.stream.write_all(answer.as_bytes()).await?;
        if !answer.ends_with('\n') {
            self.stream.write_all(b"\n").await?;
        }
        self.stream.shutdown().await
    }
}

impl DumpService {
    /// The dump of a job, or of all jobs, or the reason why there is none.
    async fn answer(&self, command: &Command) -> String {
        let until = Instant::now() + self.limit();
        let Ok(_turn) = timeout_at(until, self.turn()).await else {
            return format!("others were being answered for {:?}; ask again later", self.limit());
        };
        let dump = async {
            match command {
                Command::All => self.dump_all().await,
                Command::Job(job) => self.dump(job).await,
            }
        };
        match timeout_at(until, dump).await {
            Ok(Ok(dump)) => dump,
            Ok(Err(error)) => privacy::hide(&error.to_string(), std::iter::empty()),
            Err(_) => format!("the registry center does not answer within {:?}; ask again later", self.limit()),
        }
    }

    async fn dump(&self, job: &JobName) -> Result<String, OperationError> {
        let mut known = Vec::new();
        for registry in self.registries() {
            match registry.dump(job, Addresses::Hidden).await {
                Err(OperationError::NoSuchJob { jobs, .. }) => known.extend(jobs),
                other => return other,
            }
        }
        Err(OperationError::NoSuchJob { job: job.clone(), jobs: known })
    }

    /// All jobs of all registry centers; of several jobs with one name the first.
    async fn dump_all(&self) -> Result<String, OperationError> {
        let mut all: Vec<Nodes> = Vec::new();
        for registry in self.registries() {
            for job in registry.job_names().await? {
                if !all.iter().any(|known| known.job == job) {
                    // A job that does not exist any more was removed meanwhile.
                    all.extend(registry.nodes(&job).await?);
                }
            }
        }
        Ok(match all.is_empty() {
            true => "there are no jobs".to_owned(),
            false => written(all, Addresses::Hidden).await,
        })
    }
}

enum Wrong {
    Command(String),
    Connection(io::Error),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Connection(error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::{DuplexStream, duplex};

    use super::super::service::STEP_LIMIT;
    use super::*;
    use crate::registry::memory::MemoryRegistry;
    use crate::registry::{CreateMode, RegistryCenter, Transaction};

    /// A client whose connection holds a few bytes, and the result of the conversation with it.
    async fn client() -> (DuplexStream, impl Future<Output = io::Result<()>>) {
        let registry = Arc::new(MemoryRegistry::new().connect());
        let mut transaction = Transaction::new();
        transaction.create("/settle", "", CreateMode::Persistent);
        transaction.create("/settle/config", "x".repeat(1000), CreateMode::Persistent);
        registry.commit(transaction).await.unwrap();
        let service = DumpService::new(registry, 0);
        let (client, stream) = duplex(64);
        (client, async move { Conversation::new(stream, &service).hold().await })
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_take_its_answer_is_cut_off() {
        let (mut client, conversation) = client().await;
        client.write_all(b"dump@settle\n").await.unwrap();
        let ended = timeout(2 * STEP_LIMIT, conversation).await.expect("it is cut off in time");
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let mut taken = String::new();
        client.read_to_string(&mut taken).await.unwrap();
        assert_eq!(taken.len(), 64, "{taken}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_keeps_its_side_open_is_not_waited_for() {
        let (mut client, conversation) = client().await;
        client.write_all(b"dump@settle\n").await.unwrap();
        let mut taken = String::new();
        let ended = timeout(2 * STEP_LIMIT, conversation);
        let (ended, read) = tokio::join!(ended, client.read_to_string(&mut taken));
        assert!(matches!(ended, Ok(Ok(()))) && read.unwrap() > 1000, "{taken}");
    }

    #[tokio::test]
    async fn a_client_that_sends_too_much_gets_its_answer_all_the_same() {
        let (client, conversation) = client().await;
        let (mut reading, mut writing) = tokio::io::split(client);
        let write = async {
            writing.write_all(&[b'x'; 100_000]).await.unwrap();
            writing.shutdown().await.unwrap();
        };
        let mut answer = String::new();
        let (ended, read, ()) = tokio::join!(conversation, reading.read_to_string(&mut answer), write);
        read.unwrap();
        assert!(ended.is_ok() && answer.starts_with("the command is too long: send one line"), "{answer}");
    }
}
