//! A connection that can be cut: what stands between a client and its server in tests.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{self, Instant};

/// How often a patient proxy looks for a server that does not listen yet.
const RETRY: Duration = Duration::from_millis(20);

/// Passes connections on to a server until it is cut, or swallows what is sent. Ends when dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    link: watch::Sender<Link>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Link {
    is_open: bool,
    /// Connections stay and are taken, and nothing comes through: what was sent arrives when it is mended.
    is_black_hole: bool,
    /// Which of its connections may live: those that were made since they were broken last.
    generation: u64,
    /// Those that were made before this generation do not end for their clients: nothing comes through any more.
    stranded: u64,
}

impl Proxy {
    /// A proxy on a free local port, open. Of several servers, with commas between them, each connection is to the next.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(server: String) -> io::Result<Self> {
        Self::start_patient(server, Duration::ZERO).await
    }

    /// The same; a connection to a server that does not listen is held for as long as `patience`. A client that connects to a
    /// closed port is refused and tries again; through a proxy it is connected, and takes the end of that for a failure.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start_patient(server: String, patience: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let servers = server.split(',').map(str::to_owned).collect();
        let (link, state) = watch::channel(Link { is_open: true, is_black_hole: false, generation: 0, stranded: 0 });
        tokio::spawn(accept(listener, servers, patience, state));
        Ok(Self { address, link })
    }

    /// Where clients connect to.
    pub fn connect_string(&self) -> String {
        self.address.to_string()
    }

    /// Breaks all connections, and every new one until mended.
    pub fn cut(&self) {
        self.link.send_modify(|link| {
            link.generation += 1;
            (link.is_open, link.is_black_hole) = (false, false);
        });
    }

    /// Swallows what either side sends until mended: neither of them hears that the link is cut.
    pub fn swallow(&self) {
        self.link.send_modify(|link| link.is_black_hole = true);
    }

    /// Lets connections pass again, with what was swallowed.
    pub fn mend(&self) {
        self.link.send_modify(|link| (link.is_open, link.is_black_hole) = (true, false));
    }

    /// Forgets the connections there are, as a router does that is started again: their clients do not hear of it, and nothing comes
    /// through any more. New ones pass.
    pub fn strand_connections(&self) {
        self.link.send_modify(|link| {
            link.generation += 1;
            link.stranded = link.generation;
        });
    }

    /// Breaks the connections there are; new ones pass.
    pub fn break_connections(&self) {
        self.link.send_modify(|link| link.generation += 1);
    }
}

async fn accept(listener: TcpListener, servers: Vec<String>, patience: Duration, mut link: watch::Receiver<Link>) {
    // Not all proxies begin with the same one.
    let first = listener.local_addr().map_or(0, |address| usize::from(address.port()));
    let mut next = (0..servers.len()).cycle().skip(first % servers.len());
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let now = *link.borrow();
                if let (Ok((client, _)), true, Some(server)) = (accepted, now.is_open, next.next()) {
                    let server = connect(servers[server].clone(), patience);
                    tokio::spawn(pass(client, server, link.clone(), now.generation));
                }
            }
            changed = link.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

async fn connect(server: String, patience: Duration) -> io::Result<TcpStream> {
    let deadline = Instant::now() + patience;
    loop {
        match TcpStream::connect(&server).await {
            Err(_) if Instant::now() < deadline => time::sleep(RETRY).await,
            connected => return connected,
        }
    }
}

async fn pass(
    mut client: TcpStream,
    server: impl Future<Output = io::Result<TcpStream>>,
    mut link: watch::Receiver<Link>,
    generation: u64,
) {
    let gate = link.clone();
    let copied = async {
        gate.clone().wait_for(|link| !link.is_black_hole).await.map_err(io::Error::other)?;
        let mut server = server.await?;
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        tokio::try_join!(copy(from_client, to_server, gate.clone()), copy(from_server, to_client, gate))
    };
    tokio::select! {
        // An end of the connection is one for the other side too, whatever it was.
        _ = copied => return,
        _ = link.wait_for(|link| link.generation != generation) => (),
    }
    if link.borrow().stranded > generation {
        // Until the proxy is dropped.
        let _ = link.wait_for(|_| false).await;
    }
}

/// Copies until the end of the reader, but nothing while the link swallows.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut link: watch::Receiver<Link>,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut buffer).await?;
        link.wait_for(|link| !link.is_black_hole).await.map_err(io::Error::other)?;
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..read]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that echoes one byte after another.
    async fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = client.split();
                    tokio::io::copy(&mut read, &mut write).await
                });
            }
        });
        address
    }

    async fn is_passed(client: &mut TcpStream) -> bool {
        let mut byte = [7];
        client.write_all(&byte).await.is_ok() && client.read_exact(&mut byte).await.is_ok()
    }

    #[tokio::test]
    async fn connections_pass_unless_it_is_cut() {
        let proxy = Proxy::start(echo().await).await.unwrap();
        let connect = async || TcpStream::connect(proxy.connect_string()).await.unwrap();
        let mut client = connect().await;
        assert!(is_passed(&mut client).await);
        proxy.cut();
        assert!(!is_passed(&mut client).await && !is_passed(&mut connect().await).await);
        proxy.mend();
        assert!(!is_passed(&mut client).await && is_passed(&mut connect().await).await);
    }

    #[tokio::test]
    async fn a_patient_one_holds_a_connection_until_the_server_listens() {
        let late = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = late.local_addr().unwrap();
        drop(late);
        let hasty = Proxy::start(address.to_string()).await.unwrap();
        let patient = Proxy::start_patient(address.to_string(), Duration::from_secs(60)).await.unwrap();
        assert!(!is_passed(&mut TcpStream::connect(hasty.connect_string()).await.unwrap()).await);
        let mut client = TcpStream::connect(patient.connect_string()).await.unwrap();
        let listener = TcpListener::bind(address).await.unwrap();
        let echoed = async {
            let (mut server, _) = listener.accept().await.unwrap();
            let (mut read, mut write) = server.split();
            tokio::io::copy(&mut read, &mut write).await
        };
        tokio::select! {
            is_passed = is_passed(&mut client) => assert!(is_passed),
            echoed = echoed => panic!("the connection ends: {echoed:?}"),
        }
    }

    #[tokio::test]
    async fn what_is_swallowed_arrives_when_the_link_is_mended() {
        let proxy = Proxy::start(echo().await).await.unwrap();
        let mut client = TcpStream::connect(proxy.connect_string()).await.unwrap();
        assert!(is_passed(&mut client).await);
        proxy.swallow();
        let mut another = TcpStream::connect(proxy.connect_string()).await.unwrap();
        for client in [&mut client, &mut another] {
            let passed = tokio::time::timeout(Duration::from_millis(200), is_passed(client)).await;
            assert!(passed.is_err(), "neither an answer nor an end of the connection");
        }
        proxy.mend();
        for client in [&mut client, &mut another] {
            let mut byte = [0];
            assert_eq!((client.read_exact(&mut byte).await.unwrap(), byte), (1, [7]));
        }
    }

    #[tokio::test]
    async fn stranded_connections_are_silent_and_new_ones_pass() {
        let proxy = Proxy::start(echo().await).await.unwrap();
        let mut client = TcpStream::connect(proxy.connect_string()).await.unwrap();
        assert!(is_passed(&mut client).await);
        proxy.strand_connections();
        let passed = tokio::time::timeout(Duration::from_millis(200), is_passed(&mut client)).await;
        assert!(passed.is_err(), "neither an answer nor an end of the connection");
        assert!(is_passed(&mut TcpStream::connect(proxy.connect_string()).await.unwrap()).await);
        proxy.mend();
        let passed = tokio::time::timeout(Duration::from_millis(200), is_passed(&mut client)).await;
        assert!(passed.is_err(), "it stays so");
    }

    #[tokio::test]
    async fn broken_connections_may_be_made_anew() {
        let proxy = Proxy::start(echo().await).await.unwrap();
        let mut client = TcpStream::connect(proxy.connect_string()).await.unwrap();
        assert!(is_passed(&mut client).await);
        proxy.break_connections();
        assert!(!is_passed(&mut client).await);
        assert!(is_passed(&mut TcpStream::connect(proxy.connect_string()).await.unwrap()).await);
    }
}
