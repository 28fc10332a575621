//! The answers of Quartz.

use std::io::{self, Write};
use std::process::Stdio;

use super::{Answer, Row};
use crate::java_peer::JavaPeer;

/// One answer for each row.
///
/// # Errors
/// When the Java program fails, or answers something else.
pub(super) fn answers(peer: &JavaPeer, rows: &[Row]) -> io::Result<Vec<Answer>> {
    let mut quartz = peer.command("fires").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let questions: String = rows.iter().map(Row::line).collect();
    let mut input = quartz.stdin.take().ok_or_else(|| io::Error::other("the Java program has no input"))?;
    // Both at a time: neither side waits for the other to read.
    let asked = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let answered = quartz.wait_with_output()?;
    asked.join().map_err(|_| io::Error::other("the rows could not be asked"))??;
    let text = String::from_utf8_lossy(&answered.stdout);
    let answers: Vec<Answer> = text.lines().map(answer).collect::<Option<_>>().unwrap_or_default();
    match answered.status.success() && answers.len() == rows.len() {
        true => Ok(answers),
        false => Err(io::Error::other(format!("{}: {} of {} answers", answered.status, answers.len(), rows.len()))),
    }
}

fn answer(line: &str) -> Option<Answer> {
    match line.split_once('\t') {
        Some(("ok", fires)) => {
            let fires = fires.split(',').filter(|fire| !fire.is_empty()).map(str::parse);
            fires.collect::<Result<Vec<i64>, _>>().ok().map(|fires| Answer::fires(fires.into_iter()))
        }
        Some(("err", why)) => Some(Answer::Refused(why.to_owned())),
        _ => (line == "hang").then_some(Answer::Endless),
    }
}
