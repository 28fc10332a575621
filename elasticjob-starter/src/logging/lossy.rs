//! A writer for the log that never fails: a closed pipe or a full disk loses lines, but stops nothing.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

/// Writes lines as long as it can. It counts the lines that could not be written, and reports them with the next line
/// that can.
#[derive(Debug)]
pub(super) struct Lossy<W>(Mutex<State<W>>);

#[derive(Debug)]
struct State<W> {
    to: W,
    lost: u64,
}

impl<W: Write> Lossy<W> {
    pub(super) fn new(to: W) -> Self {
        Self(Mutex::new(State { to, lost: 0 }))
    }
}

impl<W: Write> State<W> {
    fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.lost > 0 {
            // In one piece with the line after it: a disk that is full except for some bytes takes both or neither.
            let mut told =
                format!("{} lines of the log could not be written before this one\n", self.lost).into_bytes();
            told.extend_from_slice(line);
            self.to.write_all(&told)
        } else {
            self.to.write_all(line)
        }
    }
}

/// The subscriber writes a whole line at a time.
impl<W: Write> Write for &Lossy<W> {
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

impl<'a, W: Write + 'a> MakeWriter<'a> for Lossy<W> {
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
