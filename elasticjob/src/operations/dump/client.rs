//! Asks the dump port of an instance of either implementation.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::ident::JobName;

/// How long the answer may take. A dump port of Java serves one client at a time.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The largest answer, in bytes: more than the nodes of any job take. A port that sends more is no dump port.
const LIMIT: u64 = 64 << 20;

/// The reason why a dump port gave no dump.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DumpError {
    /// The port did not answer, or not to the end.
    #[error("the dump port at {address} did not answer: {why}")]
    NoAnswer {
        /// The address of the port.
        address: String,
        /// The cause.
        why: String,
    },
    /// The port answers something else.
    #[error("the dump port at {address} gives no dump: {why}")]
    Refused {
        /// The address of the port.
        address: String,
        /// The text of the answer.
        why: String,
    },
    /// The answer is empty: Java's dump port answers so when the namespace has no such job.
    #[error("the dump port at {address} gives no dump: it knows no job '{job}'")]
    Nothing {
        /// The address of the port.
        address: String,
        /// The job.
        job: JobName,
    },
}

/// Asks the dump port at `host:port` for a job. The answer shows the nodes as that instance sees them, with hidden
/// addresses.
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
    let answer = match timeout(ANSWER_LIMIT, talk).await {
        Ok(answer) => answer.map_err(|error| no_answer(error.to_string()))?,
        Err(_) => return Err(no_answer(format!("no end of the answer within {} s", ANSWER_LIMIT.as_secs()))),
    };
    if answer.len() as u64 > LIMIT {
        let why = format!("its answer is longer than {} MiB, which no dump is", LIMIT >> 20);
        return Err(DumpError::Refused { address: address.to_owned(), why });
    }
    let text = String::from_utf8(answer).map_err(|_| no_answer("it sends no text".to_owned()))?;
    if text.trim().is_empty() {
        return Err(DumpError::Nothing { address: address.to_owned(), job: job.clone() });
    }
    // Every line of a dump begins with the path of a node, except lines that continue the data of a node.
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
            // The client may have closed the connection.
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
