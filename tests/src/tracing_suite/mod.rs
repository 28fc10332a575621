//! The cases for every database of traces.

mod beside_java;
mod decisions;
mod events;
mod fires;
mod history;
mod many;
mod nothing;
mod outage;
mod parts;
mod retention;
mod run_log;
mod tables;
mod through;
mod values;

use std::future::Future;
use std::pin::Pin;

use crate::databases::Database;

pub use beside_java::java_reads_and_writes_the_same_tables;
pub use events::{end, start, state};

/// A case of the suite.
pub struct Case {
    /// What holds.
    pub name: &'static str,
    /// Whether it takes the server away from others.
    pub alone: bool,
    /// Whether it is about servers only: SQLite knows no users.
    pub on_servers: bool,
    /// Plays it on a fresh database.
    pub play: fn(Database) -> Pin<Box<dyn Future<Output = ()>>>,
}

macro_rules! cases {
    ($($module:ident { $($name:ident $(alone $alone:literal)? $(on_servers $on_servers:literal)?),* $(,)? })*) => {
        /// All cases.
        pub fn cases() -> Vec<Case> {
            vec![$($(Case {
                name: stringify!($name),
                alone: false $(|| $alone)?,
                on_servers: false $(|| $on_servers)?,
                play: |database| Box::pin($module::$name(database)),
            },)*)*]
        }
    };
}

cases! {
    tables {
        tables_are_made_as_elasticjob_has_them_by_whoever_comes_first,
        numbers_of_rows_do_not_run_out,
        a_table_of_java_gets_the_columns_it_lacks_and_keeps_its_rows,
        an_account_that_may_not_alter_tables_writes_rows_without_the_columns on_servers true,
        a_view_without_the_columns_is_refused,
        a_table_of_an_older_release_gets_the_source_that_it_wants,
        a_table_of_something_else_is_refused_with_what_it_lacks,
        what_cannot_be_reached_is_told_without_the_password,
    }
    values {
        start_and_end_come_to_one_row_in_any_order_and_however_often,
        states_are_written_once_however_often,
        texts_that_are_too_long_or_odd_fit_their_columns,
        times_are_those_of_the_configured_zone,
    }
    history {
        a_run_is_read_as_it_was_written,
        each_filter_finds_its_runs,
        pages_have_every_run_once_while_others_are_written_and_removed,
        tables_of_java_are_read_and_say_what_they_do_not_have,
        a_reader_makes_nothing_and_says_what_is_not_there,
        times_are_read_by_the_zone_they_were_written_by,
        runs_are_found_by_the_fire_that_they_are_of,
    }
    nothing {
        a_text_that_no_column_has_is_found_in_no_row,
        a_time_that_no_column_has_is_before_or_after_all_rows,
    }
    fires {
        the_newest_fires_of_several_jobs_are_counted_together,
        fires_of_tables_of_java_are_told_apart_by_the_second_they_began_in,
    }
    parts {
        the_runs_of_several_jobs_are_counted_by_parts_of_a_time,
    }
    decisions {
        a_decision_is_kept_once_and_read_as_it_was_written,
        decisions_are_found_by_fire_kind_time_and_page,
        an_account_that_may_not_create_tables_traces_all_but_decisions on_servers true,
        an_account_that_may_not_write_decisions_traces_all_but_them on_servers true,
        a_table_of_decisions_that_is_dropped_stops_nothing_else,
        decisions_alone_that_cannot_be_written_count_as_lost,
    }
    run_log {
        lines_are_kept_once_and_read_in_their_order_by_run_job_level_and_text,
        there_is_no_table_of_logs_unless_they_are_kept,
        an_account_that_may_not_create_the_table_of_logs_traces_all_but_them on_servers true,
        a_table_of_logs_that_is_dropped_stops_nothing_else,
        lines_that_are_too_old_or_too_many_are_removed_by_rules_of_their_own,
    }
    retention {
        rows_that_are_too_old_or_too_many_are_removed_in_steps,
    }
    through {
        a_job_is_traced_through_the_settings,
        a_job_is_traced_through_the_pool_of_the_application,
    }
    outage {
        while_the_database_is_away_the_job_goes_on_and_what_is_kept_is_written_then alone true,
    }
    many {
        a_hundred_thousand_events_come_in_and_none_is_lost,
    }
}
