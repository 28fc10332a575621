//! The registry centre of the release over Curator: each call is one or several round trips, repeated on a lost
//! connection, and silent about what it could not do.

use super::jvm::{Call, Jvm, Reply};
use crate::registry::{CreateMode, Data, NodeData, Refusal, Transaction};
use crate::testing::sim::Millis;

/// How long a call waits for a connection.
const CONNECTION_TIMEOUT: Millis = 15_000;
/// How often a call is repeated.
const MAX_RETRIES: u32 = 3;
/// The first wait before a repetition, and the longest.
const RETRY_SLEEP: (Millis, Millis) = (1_000, 3_000);

impl Jvm {
    /// A call with Curator's repetitions. `None`: there was no answer at all, which nobody hears of.
    async fn call(&self, call: Call) -> Option<Reply> {
        for retry in 0..=MAX_RETRIES {
            if retry > 0 {
                let (base, most) = RETRY_SLEEP;
                let factor = self.rng.borrow_mut().below(1 << retry).max(1);
                self.sleep((base * factor).min(most)).await;
            }
            if self.wait(Some(CONNECTION_TIMEOUT), || self.connected.get()).await {
                match self.ask(call.clone()).await {
                    Reply::Lost => {}
                    reply => return Some(reply),
                }
            }
        }
        self.log("a call got no answer, and nobody hears of it");
        None
    }

    /// The node as the server has it.
    pub(super) async fn read(&self, node: &str) -> Option<NodeData> {
        match self.call(Call::Get(self.path(node))).await {
            Some(Reply::Node(data)) => data,
            _ => None,
        }
    }

    pub(super) async fn is_existed(&self, node: &str) -> bool {
        self.read(node).await.is_some()
    }

    pub(super) async fn get_directly(&self, node: &str) -> Option<String> {
        self.read(node).await.map(|node| text(&node.data))
    }

    /// Data from the cache, which may be old; from the server where the cache does not know the node.
    pub(super) async fn get(&self, node: &str) -> Option<String> {
        let cached = self.cache.borrow().get(node);
        match cached {
            Some(data) => Some(text(&data)),
            None => self.get_directly(node).await,
        }
    }

    /// Names of children in descending order.
    pub(super) async fn children(&self, node: &str) -> Vec<String> {
        match self.call(Call::Children(self.path(node))).await {
            Some(Reply::Children(Some(mut names))) => {
                names.sort_by(|a, b| b.encode_utf16().cmp(a.encode_utf16()));
                names
            }
            _ => Vec::new(),
        }
    }

    /// One transaction; that it was refused is only known to those who ask.
    pub(super) async fn commit(&self, transaction: Transaction) -> Result<(), Refusal> {
        match self.call(Call::Commit(transaction)).await {
            Some(Reply::Written(result)) => result,
            _ => Ok(()),
        }
    }

    pub(super) async fn persist(&self, node: &str, data: &str) {
        if self.is_existed(node).await {
            self.update(node, data).await;
        } else {
            self.create(node, data, CreateMode::Persistent).await;
        }
    }

    pub(super) async fn update(&self, node: &str, data: &str) {
        let mut transaction = Transaction::new();
        transaction.check(self.path(node), None);
        transaction.set(self.path(node), data, None);
        let _swallowed = self.commit(transaction).await;
    }

    /// A node that is there is deleted first, of any instance.
    pub(super) async fn persist_ephemeral(&self, node: &str, data: &str) {
        if self.is_existed(node).await {
            self.remove(node).await;
        }
        self.create(node, data, CreateMode::Ephemeral).await;
    }

    /// Creates a node, and those above it where they are missing.
    pub(super) async fn create(&self, node: &str, data: &str, mode: CreateMode) {
        loop {
            let mut transaction = Transaction::new();
            transaction.create(self.path(node), data, mode);
            if self.commit(transaction).await != Err(Refusal::NoNode) {
                return;
            }
            for (end, _) in node.match_indices('/') {
                let mut parent = Transaction::new();
                parent.create(self.path(&node[..end]), "", CreateMode::Persistent);
                let _exists = self.commit(parent).await;
            }
        }
    }

    /// Deletes a node with all below it.
    pub(super) async fn remove(&self, node: &str) {
        loop {
            let mut transaction = Transaction::new();
            transaction.delete(self.path(node), None);
            if self.commit(transaction).await != Err(Refusal::NotEmpty) {
                return;
            }
            for child in self.children(node).await {
                Box::pin(self.remove(&format!("{node}/{child}"))).await;
            }
        }
    }

    pub(super) async fn remove_if_existed(&self, node: &str) {
        if self.is_existed(node).await {
            self.remove(node).await;
        }
    }

    pub(super) async fn create_if_needed(&self, node: &str) {
        if !self.is_existed(node).await {
            self.persist(node, "").await;
        }
    }
}

fn text(data: &Data) -> String {
    String::from_utf8_lossy(data).into_owned()
}
