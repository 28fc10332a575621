//! The examples of each kind of job.

use std::net::{Ipv4Addr, TcpListener};

use crate::example::Example;

fn has(lines: &[String], expected: &[&str]) -> bool {
    expected.iter().all(|expected| lines.iter().any(|line| line == expected))
}

#[test]
fn a_dataflow_settles_all_orders_of_each_region_in_one_run() {
    let example = Example::start("dataflow", env!("CARGO_BIN_EXE_dataflow"), &[]);
    // What is logged is written by a thread of its own, so it may come after what is printed.
    let lines = example.wait("all orders", |lines, log| lines.len() == 6 && log.contains(" began "));
    let of = |region: &str| lines.iter().filter(|line| line.starts_with(region)).cloned().collect::<Vec<_>>();
    let settled = |region: &str, ids: &str| format!("{region} orders {ids} are settled");
    assert_eq!(of("Beijing"), ["[2, 4, 6]", "[8, 10, 12]", "[14]"].map(|ids| settled("Beijing", ids)));
    assert_eq!(of("Shanghai"), ["[1, 3, 5]", "[7, 9, 11]", "[13]"].map(|ids| settled("Shanghai", ids)));
    let log = example.process.log();
    assert_eq!(log.matches(" began ").count(), 1, "{log}");
    example.end();
}

#[test]
fn a_script_is_run_for_each_item_and_its_output_is_in_the_log() {
    let example = Example::start("script", env!("CARGO_BIN_EXE_script"), &[]);
    example.wait("both tables", |_, log| {
        ["orders", "customers"].iter().all(|table| log.contains(&format!("table {table} is backed up (--full)")))
    });
    example.end();
}

#[test]
fn an_endpoint_is_asked_for_each_item_and_what_it_refuses_has_failed() {
    let port =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port").local_addr().expect("an address").port();
    let example = Example::start("http", env!("CARGO_BIN_EXE_http"), &[("SHOP_PORT", &port.to_string())]);
    let failure =
        format!("POST http://127.0.0.1:{port}/settle: answered 503 Service Unavailable: nobody is there for Shanghai");
    let lines = example.wait("both items", |lines, log| lines.len() >= 2 && log.contains(&failure));
    for parameter in ["Beijing", "Shanghai"] {
        let asked = |line: &String| line.starts_with("asked to settle everything for {") && line.contains(parameter);
        assert!(lines.iter().any(asked), "{lines:#?}");
    }
    example.end();
}

#[test]
fn own_types_run_what_the_settings_name_and_hear_of_failures() {
    let example = Example::start("own_types", env!("CARGO_BIN_EXE_own_types"), &[]);
    let expected =
        ["part 0 of table sessions is empty", "part 1 of table sessions is empty", "Ada: item 0 of emptyLedger failed"];
    example.wait("both jobs", |lines, _| has(lines, &expected));
    example.end();
}

#[test]
fn jobs_of_an_own_kind_are_run_by_its_executor() {
    let example = Example::start("own_kind", env!("CARGO_BIN_EXE_own_kind"), &[]);
    let expected = [
        "orders of Beijing: 3 open in Beijing, 7 settled",
        "orders of Shanghai: 3 open in Shanghai, 7 settled",
        "complaints of everywhere: none",
    ];
    example.wait("both jobs", |lines, _| has(lines, &expected));
    example.end();
}

#[test]
fn the_jobs_of_a_library_run_in_the_program_that_names_it() {
    let example = Example::start("library_jobs", env!("CARGO_BIN_EXE_library_jobs"), &[]);
    let pages = [1, 2, 3].map(|page| format!("page {page} of the reminders is printed"));
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let invoices = |lines: &[String]| {
        ["Beijing", "Shanghai"]
            .iter()
            .all(|region| lines.iter().any(|line| line.starts_with(&format!("invoices of {region} are written, "))))
    };
    example.wait("all three functions", |lines, _| has(lines, &pages) && invoices(lines));
    example.end();
}
