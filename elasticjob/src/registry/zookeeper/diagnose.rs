//! Examines a server that cannot be used, and finds the reason, which the ZooKeeper client library does not report.

use std::io;
use std::time::Duration;

use elasticjob_syntax::message::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};

use super::config::host;
use super::tls::Loaded;
use crate::texts;

/// Asks a server for its state. With the line break it is as long as the head of a TLS message: a port with TLS waits
/// for that much before it refuses.
const QUESTION: &[u8] = b"srvr\n";

/// How long a server may take to answer.
const ANSWER: Duration = Duration::from_secs(1);

/// The reason why a server of `server-lists` cannot be used.
pub(super) async fn look_at(server: &str, tls: Option<&Loaded>) -> Message {
    let has_port = server.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let address = if has_port { server.to_owned() } else { format!("{server}:2181") };
    let stream = match reach(&address).await {
        Ok(stream) => stream,
        Err(why) => return why,
    };
    let Some(tls) = tls else { return Heard::from(stream).await.without_tls() };
    match tls.try_handshake(host(server), stream).await {
        Ok(()) => texts::server_slow_tls(),
        Err(error) => {
            let plain = match reach(&address).await {
                Ok(stream) => matches!(Heard::from(stream).await, Heard::ZooKeeper | Heard::NotServing),
                Err(_) => false,
            };
            tls.explain(host(server), &error, plain)
        }
    }
}

async fn reach(address: &str) -> Result<TcpStream, Message> {
    let addresses = lookup_host(address).await.map_err(|error| texts::server_not_found(error.to_string()))?;
    let stream = TcpStream::connect(addresses.collect::<Vec<_>>().as_slice()).await;
    stream.map_err(|error| texts::server_not_reached(error.to_string()))
}

/// The answer of a port to a ZooKeeper request that needs no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    ZooKeeper,
    NotServing,
    Tls,
    Closed,
    Nothing,
}

impl Heard {
    async fn from(mut stream: TcpStream) -> Self {
        let asked = async {
            stream.write_all(QUESTION).await?;
            let mut answer = Vec::new();
            (&mut stream).take(64).read_to_end(&mut answer).await?;
            Ok(answer)
        };
        match tokio::time::timeout(ANSWER, asked).await {
            Ok(answer) => Self::of(answer),
            Err(_) => Self::Nothing,
        }
    }

    fn of(answer: io::Result<Vec<u8>>) -> Self {
        match answer.as_deref() {
            // The head of an alert, which a port with TLS sends to a client that speaks something else.
            Ok([0x15, 3, ..]) => Self::Tls,
            Ok([]) | Err(_) => Self::Closed,
            Ok(text) if text.starts_with(b"This ZooKeeper instance is not") => Self::NotServing,
            Ok(text) if text.starts_with(b"Zookeeper version") || text.starts_with(b"srvr is not") => Self::ZooKeeper,
            Ok(_) => Self::Nothing,
        }
    }

    fn without_tls(self) -> Message {
        match self {
            Self::ZooKeeper => texts::server_slow(),
            Self::NotServing => texts::server_without_quorum(),
            Self::Tls => texts::server_with_tls(),
            Self::Closed => texts::server_closes(),
            Self::Nothing => texts::server_is_another(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_tells_what_listens() {
        for (answer, heard) in [
            (&b"Zookeeper version: 3.8.0"[..], Heard::ZooKeeper),
            (b"srvr is not executed because it is not in the whitelist.", Heard::ZooKeeper),
            (b"This ZooKeeper instance is not currently serving requests", Heard::NotServing),
            (&[0x15, 3, 3, 0, 2, 2, 80], Heard::Tls),
            (b"", Heard::Closed),
            (b"HTTP/1.1 400 Bad Request", Heard::Nothing),
        ] {
            assert_eq!(Heard::of(Ok(answer.to_vec())), heard);
        }
    }
}
