//! A connection that can be cut: what stands between a client and its server in tests.

use std::io;
use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes connections on to a server until it is cut. Ends when dropped.
pub struct Proxy {
    address: SocketAddr,
    is_open: watch::Sender<bool>,
}

impl Proxy {
    /// A proxy on a free local port, open.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(server: String) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (is_open, open) = watch::channel(true);
        tokio::spawn(accept(listener, server, open));
        Ok(Self { address, is_open })
    }

    /// Where clients connect to.
    pub fn connect_string(&self) -> String {
        self.address.to_string()
    }

    /// Breaks all connections, and every new one until mended.
    pub fn cut(&self) {
        self.is_open.send_replace(false);
    }

    /// Lets connections pass again.
    pub fn mend(&self) {
        self.is_open.send_replace(true);
    }
}

async fn accept(listener: TcpListener, server: String, mut open: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            accepted = listener.accept() => if let (Ok((client, _)), true) = (accepted, *open.borrow()) {
                tokio::spawn(pass(client, server.clone(), open.clone()));
            },
            changed = open.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

async fn pass(mut client: TcpStream, server: String, mut open: watch::Receiver<bool>) {
    let copied = async {
        let mut server = TcpStream::connect(server).await?;
        server.set_nodelay(true)?;
        client.set_nodelay(true)?;
        copy_bidirectional(&mut client, &mut server).await
    };
    tokio::select! {
        // An end of the connection is one for the other side too, whatever it was.
        _ = copied => (),
        _ = open.wait_for(|open| !open) => (),
    }
}
