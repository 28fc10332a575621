//! The examples of programs around jobs: without the starter, beside a web server, with several jobs of one function, and
//! with a strategy of their own.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::example::Example;

#[test]
fn jobs_that_are_built_by_hand_run_by_their_schedule_and_when_they_are_asked() {
    let example = Example::start("builder_api", env!("CARGO_BIN_EXE_builder_api"), &[]);
    let began = |lines: &[String], text: &str| lines.iter().any(|line| line.starts_with(text));
    example.wait("both jobs", |lines, _| {
        ["settling cards of ", "settling transfers of ", "report written by "].iter().all(|text| began(lines, text))
    });
    example.end();
}

#[test]
fn a_request_over_http_triggers_a_one_off_job() {
    let example = Example::start("one_off_axum", env!("CARGO_BIN_EXE_one_off_axum"), &[("LISTEN", "127.0.0.1:0")]);
    let address = |log: &str| {
        let (_, rest) = log.split_once("listening at ")?;
        rest.split_whitespace().next().map(str::to_owned)
    };
    example.wait("its address", |_, log| address(log).is_some());
    let address = address(&example.process.log()).expect("an address");
    let mut stream = TcpStream::connect(&address).expect("it listens");
    let request =
        format!("POST /reindex HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 202 ") && answer.ends_with("reindexing\n"), "{answer}");
    example.wait("both items", |_, log| {
        ["products", "customers"].iter().all(|what| log.contains(&format!("the index of {what} is built")))
    });
    example.end();
}

#[test]
fn each_entry_of_the_settings_is_a_job_of_the_one_function() {
    let example = Example::start("several_entries", env!("CARGO_BIN_EXE_several_entries"), &[]);
    example.wait("both jobs", |_, log| {
        let line = |job: &str, item: u32, table: &str| format!("{job}: item {item} of table {table} is cleaned up");
        let orders = (0..2).all(|item| log.contains(&line("cleanUpOrders", item, "orders")));
        orders && log.contains(&line("cleanUpSessions", 0, "sessions"))
    });
    example.end();
}

#[test]
fn an_own_strategy_assigns_every_item() {
    let example = Example::start("own_strategy", env!("CARGO_BIN_EXE_own_strategy"), &[]);
    example.wait("all items", |_, log| (0..6).all(|item| log.contains(&format!("item {item} is warm on "))));
    example.end();
}
