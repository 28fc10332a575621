//! A connection that can be cut: what stands between a client and its server in tests.

use std::io;
use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes connections on to a server until it is cut. Ends when dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    link: watch::Sender<Link>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Link {
    is_open: bool,
    /// Which of its connections may live: those that were made since they were broken last.
    generation: u64,
}

impl Proxy {
    /// A proxy on a free local port, open.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(server: String) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (link, state) = watch::channel(Link { is_open: true, generation: 0 });
        tokio::spawn(accept(listener, server, state));
        Ok(Self { address, link })
    }

    /// Where clients connect to.
    pub fn connect_string(&self) -> String {
        self.address.to_string()
    }

    /// Breaks all connections, and every new one until mended.
    pub fn cut(&self) {
        self.link.send_modify(|link| *link = Link { is_open: false, generation: link.generation + 1 });
    }

    /// Lets connections pass again.
    pub fn mend(&self) {
        self.link.send_modify(|link| link.is_open = true);
    }

    /// Breaks the connections there are; new ones pass.
    pub fn break_connections(&self) {
        self.link.send_modify(|link| link.generation += 1);
    }
}

async fn accept(listener: TcpListener, server: String, mut link: watch::Receiver<Link>) {
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let now = *link.borrow();
                if let (Ok((client, _)), true) = (accepted, now.is_open) {
                    tokio::spawn(pass(client, server.clone(), link.clone(), now.generation));
                }
            }
            changed = link.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

async fn pass(mut client: TcpStream, server: String, mut link: watch::Receiver<Link>, generation: u64) {
    let copied = async {
        let mut server = TcpStream::connect(server).await?;
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        copy_bidirectional(&mut client, &mut server).await
    };
    tokio::select! {
        // An end of the connection is one for the other side too, whatever it was.
        _ = copied => (),
        _ = link.wait_for(|link| link.generation != generation) => (),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
    async fn broken_connections_may_be_made_anew() {
        let proxy = Proxy::start(echo().await).await.unwrap();
        let mut client = TcpStream::connect(proxy.connect_string()).await.unwrap();
        assert!(is_passed(&mut client).await);
        proxy.break_connections();
        assert!(!is_passed(&mut client).await);
        assert!(is_passed(&mut TcpStream::connect(proxy.connect_string()).await.unwrap()).await);
    }
}
