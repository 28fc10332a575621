//! A writer for the log that never fails and never waits for long: a closed pipe, a full disk or a reader that reads no more
//! loses lines, but stops nothing.

use std::io::{self, LineWriter, Stderr, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// An output is asked before each piece of this size whether it takes it: POSIX promises that a pipe that can be written
/// to takes as many bytes (`PIPE_BUF` of Linux).
const PIECE: usize = 4096;

/// How long a line waits for a reader that is slow. The lines after one that was lost do not wait.
const LINE_WAIT: Duration = Duration::from_millis(100);

/// An output that may have a reader that reads no more.
pub(super) trait Output: Write {
    /// Whether a write of [`PIECE`] bytes returns without waiting; waits for that up to `wait`.
    fn takes_more(&self, wait: Duration) -> bool;
}

#[cfg(unix)]
impl Output for Stderr {
    fn takes_more(&self, wait: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        let mut output = [PollFd::new(self, PollFlags::OUT)];
        // Where it cannot be asked, the write shows what is wrong.
        poll(&mut output, Some(&wait)).map_or(true, |ready| ready > 0)
    }
}

#[cfg(not(unix))]
impl Output for Stderr {
    fn takes_more(&self, _: Duration) -> bool {
        true
    }
}

/// Writes lines as long as it can. It counts the lines that could not be written, and reports them with the next line
/// that can.
#[derive(Debug)]
pub(super) struct Lossy<W>(Mutex<State<W>>);

#[derive(Debug)]
struct State<W> {
    to: W,
    lost: u64,
    /// The last line ends in its middle.
    is_cut: bool,
}

impl<W: Output> Lossy<W> {
    pub(super) fn new(to: W) -> Self {
        Self(Mutex::new(State { to, lost: 0, is_cut: false }))
    }
}

impl<W: Output> State<W> {
    fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.lost == 0 {
            return self.write_pieces(line, LINE_WAIT);
        }
        // In one piece with the line after it: a disk that is full except for some bytes takes both or neither.
        let end = if self.is_cut { "\n" } else { "" };
        let mut told =
            format!("{end}{} lines of the log could not be written before this one\n", self.lost).into_bytes();
        told.extend_from_slice(line);
        self.write_pieces(&told, Duration::ZERO)
    }

    fn write_pieces(&mut self, text: &[u8], patience: Duration) -> io::Result<()> {
        for (number, piece) in text.chunks(PIECE).enumerate() {
            // What has begun is worth a wait.
            let patience = if number == 0 { patience } else { LINE_WAIT };
            let written = match self.to.takes_more(patience) {
                true => self.to.write_all(piece),
                false => Err(io::ErrorKind::WouldBlock.into()),
            };
            if written.is_err() {
                self.is_cut |= number > 0;
                return written;
            }
        }
        self.is_cut = false;
        Ok(())
    }
}

/// The standard error that never fails and never waits for long, a line at a time.
pub(super) struct PatientStderr(Lossy<Stderr>);

impl PatientStderr {
    pub(super) fn by_lines() -> LineWriter<Self> {
        LineWriter::new(Self(Lossy::new(io::stderr())))
    }
}

impl Write for PatientStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        (&self.0).write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.0).flush()
    }
}

/// The subscriber writes a whole line at a time.
impl<W: Output> Write for &Lossy<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.write_line(line) {
            Ok(()) => state.lost = 0,
            Err(_) => state.lost += 1,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a, W: Output + 'a> MakeWriter<'a> for Lossy<W> {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that is full for some writes.
    struct Full {
        writes: u32,
        written: Vec<u8>,
    }

    impl Write for Full {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            match self.writes {
                0 => {
                    self.written.extend_from_slice(line);
                    Ok(line.len())
                }
                _ => {
                    self.writes -= 1;
                    Err(io::ErrorKind::StorageFull.into())
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output for Full {
        fn takes_more(&self, _: Duration) -> bool {
            true
        }
    }

    /// A pipe with room for some pieces.
    struct Unread {
        room: usize,
        written: Vec<u8>,
    }

    impl Write for Unread {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            assert!(self.room > 0 && piece.len() <= PIECE, "a write that waits for the reader");
            self.room -= 1;
            self.written.extend_from_slice(piece);
            Ok(piece.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output for Unread {
        fn takes_more(&self, _: Duration) -> bool {
            self.room > 0
        }
    }

    #[test]
    fn a_reader_that_reads_no_more_costs_lines_and_no_time() {
        let lossy = Lossy::new(Unread { room: 2, written: Vec::new() });
        let long = "x".repeat(3 * PIECE) + "\n";
        for line in [&*long, "two\n", "three\n"] {
            lossy.make_writer().write_all(line.as_bytes()).expect("it never fails");
        }
        lossy.0.lock().unwrap().to.room = 9;
        lossy.make_writer().write_all(b"four\n").expect("it never fails");
        lossy.make_writer().write_all(b"five\n").expect("it never fails");
        let state = lossy.0.lock().unwrap();
        let written = String::from_utf8_lossy(&state.to.written);
        let cut = "x".repeat(2 * PIECE);
        assert_eq!(written, format!("{cut}\n3 lines of the log could not be written before this one\nfour\nfive\n"));
    }

    #[test]
    fn what_could_not_be_written_is_counted_and_told_with_the_next_line() {
        let lossy = Lossy::new(Full { writes: 2, written: Vec::new() });
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            lossy.make_writer().write_all(line.as_bytes()).expect("it never fails");
        }
        let state = lossy.0.lock().unwrap();
        let written = String::from_utf8_lossy(&state.to.written);
        assert_eq!(written, "2 lines of the log could not be written before this one\nthree\nfour\n");
    }
}
