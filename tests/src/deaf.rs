//! A server that is deaf to requests: it takes them and answers pings alone, so that clients take it for well.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a request has in the place of its number when it is a ping.
const PING: i32 = -2;

/// Stands before a ZooKeeper server. Ends when dropped.
#[derive(Debug)]
pub struct DeafServer {
    address: SocketAddr,
    is_deaf: watch::Sender<bool>,
}

impl DeafServer {
    /// One that passes everything on to a server.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(server: String) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (is_deaf, state) = watch::channel(false);
        tokio::spawn(async move {
            let mut ended = state.clone();
            loop {
                tokio::select! {
                    Ok((client, _)) = listener.accept() => {
                        tokio::spawn(serve(client, server.clone(), state.clone()));
                    }
                    changed = ended.changed() => if changed.is_err() {
                        return;
                    },
                }
            }
        });
        Ok(Self { address, is_deaf })
    }

    /// Where clients connect to.
    pub fn connect_string(&self) -> String {
        self.address.to_string()
    }

    /// Whether requests get lost from now on. Those that got lost are never answered.
    pub fn set_deaf(&self, is_deaf: bool) {
        self.is_deaf.send_replace(is_deaf);
    }
}

async fn serve(mut client: TcpStream, server: String, is_deaf: watch::Receiver<bool>) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    let (from_client, mut to_client) = client.split();
    let (mut from_server, to_server) = server.split();
    tokio::select! {
        ended = pass(from_client, to_server, is_deaf) => ended,
        ended = copy(&mut from_server, &mut to_client) => ended.map(|_| ()),
    }
}

/// Passes what begins with its length; the first of it, by which a session is asked for, in any case.
async fn pass(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, is_deaf: watch::Receiver<bool>) -> io::Result<()> {
    let mut is_first = true;
    loop {
        let length = from.read_u32().await?;
        let mut request = vec![0; length as usize];
        from.read_exact(&mut request).await?;
        let is_ping = request.first_chunk().is_some_and(|number| i32::from_be_bytes(*number) == PING);
        if std::mem::take(&mut is_first) || is_ping || !*is_deaf.borrow() {
            to.write_u32(length).await?;
            to.write_all(&request).await?;
        }
    }
}
