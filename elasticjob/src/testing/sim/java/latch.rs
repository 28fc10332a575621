//! Curator's latch: the candidate with the lowest number holds it, each other one watches the one before.

use super::jvm::{Call, Jvm, Reply};
use crate::registry::{CreateMode, Refusal, Transaction};

impl Jvm {
    /// Waits for the latch without limit, runs `body` and gives the latch back.
    pub(super) async fn in_latch(&self, latch: &str, body: impl Future<Output = ()>) {
        // An instance that waits has a name of its own, so that a candidate whose creation was not answered is found again.
        let prefix = format!("_c_{}{:08x}-latch-", self.uuid, self.next_ticket());
        loop {
            let reconnects = self.reconnects.get();
            let mut candidates = self.children(latch).await;
            for candidate in &candidates {
                if number(candidate).len() != 10 || number(candidate).bytes().any(|byte| !byte.is_ascii_digit()) {
                    self.fail(format!("Java cannot sort the candidate {candidate}"));
                }
            }
            candidates.sort_by(|a, b| number(a).cmp(number(b)));
            match candidates.iter().position(|name| name.starts_with(&prefix)) {
                None => self.stand(latch, &prefix).await,
                Some(0) => {
                    body.await;
                    self.remove(&format!("{latch}/{}", candidates[0])).await;
                    return;
                }
                Some(place) => {
                    let before = format!("{latch}/{}", candidates[place - 1]);
                    if self.is_existed(&before).await {
                        let before = self.path(&before);
                        self.wait(None, || {
                            self.reconnects.get() != reconnects || self.latches_gone.borrow().contains(&before)
                        })
                        .await;
                    }
                }
            }
        }
    }

    /// Creates the candidate, once: without an answer it is looked for before the next try.
    async fn stand(&self, latch: &str, prefix: &str) {
        self.wait(None, || self.connected.get()).await;
        let mut transaction = Transaction::new();
        transaction.create(self.path(&format!("{latch}/{prefix}")), "", CreateMode::EphemeralSequential);
        if let Reply::Written(Err(Refusal::NoNode)) = self.ask(Call::Commit(transaction)).await {
            self.create(latch, "", CreateMode::Persistent).await;
        }
    }
}

/// What candidates are sorted by: the text after the last `latch-`.
fn number(candidate: &str) -> &str {
    candidate.rsplit_once("latch-").map_or(candidate, |(_, number)| number)
}
