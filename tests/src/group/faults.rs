//! Makes faults in the processes of a group, and notes them.

use std::process::ExitStatus;
use std::time::Duration;

use super::{Group, Program};
use crate::frozen::wait_frozen;
use crate::records::{Fault, FaultKind, now_us};

impl<P: Program> Group<P> {
    /// Kills processes with SIGKILL, all at once.
    pub fn kill(&mut self, pids: &[u32]) {
        let from_us = now_us();
        for pid in pids {
            self.process(*pid).send_kill();
        }
        for pid in pids {
            self.process(*pid).kill();
            let at_us = now_us();
            self.faults.push(Fault { kind: FaultKind::Killed { pid: *pid }, from_us, at_us, until_us: at_us });
        }
    }

    /// Stops a process where it is with SIGSTOP.
    ///
    /// # Panics
    /// When it does not stop.
    pub fn freeze(&mut self, pid: u32) {
        for _ in 0..50 {
            let from_us = now_us();
            self.process(pid).signal("STOP");
            wait_frozen(self.process(pid).pid()).expect("the process stops");
            if self.program.may_freeze() {
                self.faults.push(Fault::begun(FaultKind::Frozen { pid }, from_us, now_us()));
                return;
            }
            self.process(pid).signal("CONT");
        }
        panic!("process {pid} holds what others need whenever it is frozen\n{}", self.logs());
    }

    /// Lets a frozen process go on; returns the moment before it does.
    pub fn thaw(&mut self, pid: u32) -> i64 {
        let at = now_us();
        self.process(pid).signal("CONT");
        self.note_end(FaultKind::Frozen { pid });
        at
    }

    /// Cuts the link of a process to the registry.
    ///
    /// # Panics
    /// When it has none that can be cut.
    pub fn cut_off(&mut self, pid: u32) {
        let from_us = now_us();
        self.member(pid).link.as_ref().expect("a link that can be cut").cut();
        self.faults.push(Fault::begun(FaultKind::CutOff { pid }, from_us, now_us()));
    }

    /// Lets nothing through the link of a process to the registry, and breaks none of its connections: neither side hears
    /// of it.
    ///
    /// # Panics
    /// When it has none.
    pub fn cut_off_silently(&mut self, pid: u32) {
        let from_us = now_us();
        self.member(pid).link.as_ref().expect("a link that can be cut").swallow();
        self.faults.push(Fault::begun(FaultKind::CutOff { pid }, from_us, now_us()));
    }

    /// Mends the link of a process.
    ///
    /// # Panics
    /// When it has none.
    pub fn mend(&mut self, pid: u32) {
        self.member(pid).link.as_ref().expect("a link that can be cut").mend();
        self.note_end(FaultKind::CutOff { pid });
    }

    /// Breaks all connections to the registry; new ones may be made at once.
    pub fn break_connections(&mut self) {
        let from_us = now_us();
        self.members.iter().filter_map(|member| member.link.as_ref()).for_each(crate::proxy::Proxy::break_connections);
        let at_us = now_us();
        self.faults.push(Fault { kind: FaultKind::Outage, from_us, at_us, until_us: at_us });
    }

    /// Sends a signal that ends a process in good order, and waits for its end.
    ///
    /// # Panics
    /// When it does not end in time.
    pub async fn end(&mut self, pid: u32, signal: &str, limit: Duration) -> ExitStatus {
        self.ask_to_leave(pid, signal);
        let status = self.exited(pid, limit).await;
        self.note_end(FaultKind::Left { pid });
        status
    }

    /// Sends a signal that ends a process in good order.
    pub fn ask_to_leave(&mut self, pid: u32, signal: &str) {
        let from_us = now_us();
        self.process(pid).signal(signal);
        self.faults.push(Fault::begun(FaultKind::Left { pid }, from_us, now_us()));
    }

    /// Notes something that was done to all, and is in effect until [`Self::note_end`].
    pub fn note(&mut self, kind: FaultKind, from_us: i64) {
        self.faults.push(Fault::begun(kind, from_us, now_us()));
    }

    /// Notes that something is over.
    pub fn note_end(&mut self, kind: FaultKind) {
        let in_effect = |fault: &&mut Fault| fault.kind == kind && fault.until_us == i64::MAX;
        for fault in self.faults.iter_mut().filter(in_effect) {
            fault.until_us = now_us();
        }
    }
}
