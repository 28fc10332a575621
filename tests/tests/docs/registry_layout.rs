//! The records that `docs/registry-layout.md` shows are records as they are written, byte for byte.

use std::fs;
use std::path::Path;

use elasticjob::engine::OnceCalls;
use elasticjob::fire::{FireRecord, Hook};

#[test]
fn every_record_that_the_page_shows_is_read_and_written_as_it_stands_there() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/registry-layout.md");
    let page = fs::read_to_string(page).expect("the page can be read");
    let records = page.split("```json\n").skip(1).filter_map(|part| part.split_once("\n```"));
    let (mut states, mut hooks) = (Vec::new(), Vec::new());
    for (record, _) in records {
        if record.contains("\"calls\"") {
            let read = OnceCalls::parse(record.as_bytes());
            assert_eq!(String::from_utf8_lossy(&read.to_bytes()), record);
            hooks.extend(read.calls.iter().map(|call| call.hook));
            continue;
        }
        let read = FireRecord::parse(record.as_bytes());
        assert_eq!(String::from_utf8_lossy(&read.to_bytes()), record);
        states.extend(read.last.map(|begun| (begun.source, begun.state)));
    }
    states.dedup();
    assert_eq!(hooks, [Hook::Before, Hook::After]);
    assert!(states.len() > 4, "a record of each kind: {states:?}");
}
