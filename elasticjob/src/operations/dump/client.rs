//! Asking the dump port of an instance, of either implementation.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::ident::JobName;

/// A dump port serves one client at a time in Java, so the answer may take a while.
const PATIENCE: Duration = Duration::from_secs(10);

/// More than any job's nodes take; what sends more is no dump port.
const LIMIT: u64 = 64 << 20;

/// Why a dump port gave no dump.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// Nobody answered, or not to the end.
    #[error("the dump port at {address} did not answer: {why}")]
    NoAnswer {
        /// Where it was looked for.
        address: String,
        /// What happened.
        why: String,
    },
    /// It answers something else.
    #[error("the dump port at {address} gives no dump: {why}")]
    Refused {
        /// Who was asked.
        address: String,
        /// What it says.
        why: String,
    },
    /// It answers nothing: that of Java does so where the namespace has no such job.
    #[error("the dump port at {address} gives no dump: it knows no job '{job}'")]
    Nothing {
        /// Who was asked.
        address: String,
        /// The job.
        job: JobName,
    },
}

/// Asks a dump port, `host:port`, for a job. Its answer is what it sees, with hidden addresses.
///
/// # Errors
/// [`DumpError`] after 10 s at the latest.
pub async fn ask(address: &str, job: &JobName) -> Result<String, DumpError> {
    let no_answer = |why: String| DumpError::NoAnswer { address: address.to_owned(), why };
    let talk = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(format!("dump@{job}\n").as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(LIMIT + 1).read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = match timeout(PATIENCE, talk).await {
        Ok(answer) => answer.map_err(|error| no_answer(error.to_string()))?,
        Err(_) => return Err(no_answer(format!("no end of the answer within {} s", PATIENCE.as_secs()))),
    };
    if answer.len() as u64 > LIMIT {
        let why = format!("its answer is longer than {} MiB, which no dump is", LIMIT >> 20);
        return Err(DumpError::Refused { address: address.to_owned(), why });
    }
    let text = String::from_utf8(answer).map_err(|_| no_answer("it sends no text".to_owned()))?;
    if text.trim().is_empty() {
        return Err(DumpError::Nothing { address: address.to_owned(), job: job.clone() });
    }
    // Every line of a dump is about a node, but for those that go on with its data.
    match text.starts_with('/') {
        true => Ok(text),
        false => Err(DumpError::Refused { address: address.to_owned(), why: text.trim_end().to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, BufReader};
    use tokio::net::TcpListener;

    use super::*;

    async fn answered(answer: &str) -> (String, Result<String, DumpError>) {
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = port.local_addr().unwrap().to_string();
        let serve = async {
            let (stream, _) = port.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            // Who has had enough goes.
            let _ = stream.write_all(answer.as_bytes()).await;
            line
        };
        let job = JobName::new("job").unwrap();
        tokio::join!(serve, ask(&address, &job))
    }

    #[tokio::test]
    async fn the_port_is_asked_with_one_line_and_read_to_the_end() {
        let (asked, answer) = answered("/job/sharding | \n").await;
        assert_eq!((asked.as_str(), answer.unwrap().as_str()), ("dump@job\n", "/job/sharding | \n"));
    }

    #[tokio::test]
    async fn an_answer_without_end_is_not_returned_as_a_dump() {
        let mut answer = "/job/sharding | \n".to_owned();
        answer.push_str(&"x".repeat(usize::try_from(LIMIT).unwrap()));
        let (_, refused) = answered(&answer).await;
        let Err(refused @ DumpError::Refused { .. }) = refused else { panic!("it is cut off") };
        assert!(refused.to_string().ends_with("its answer is longer than 64 MiB, which no dump is"), "{refused}");
    }

    #[tokio::test]
    async fn an_unknown_job_and_a_port_where_nobody_listens_are_errors() {
        let (_, answer) = answered("\n").await;
        assert!(matches!(answer, Err(DumpError::Nothing { .. })), "{answer:?}");
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
        let refused = ask(&closed, &JobName::new("job").unwrap()).await.unwrap_err().to_string();
        assert!(refused.contains(&closed), "{refused}");
    }
}
