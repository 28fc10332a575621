//! Readers of the values of arguments.

use chrono::{DateTime, Utc};

/// A time of RFC 3339; seconds may be left out.
pub(super) fn time_with_offset(text: &str) -> Result<DateTime<Utc>, String> {
    // chrono reads the letter only as a part of RFC 3339.
    let with_offset = text.strip_suffix(['Z', 'z']).map(|time| format!("{time}+00:00"));
    let without_seconds = || DateTime::parse_from_str(with_offset.as_deref().unwrap_or(text), "%Y-%m-%dT%H:%M%:z");
    let time = DateTime::parse_from_rfc3339(text).or_else(|_| without_seconds());
    time.map(Into::into)
        .map_err(|_| "expected a date, a time and an offset from UTC, for example 2026-11-21T03:00+08:00".to_owned())
}

pub(super) fn dump_address(text: &str) -> Result<String, &'static str> {
    let wrong = "expected HOST:PORT, where the port is that of `elasticjob.dump.port`, for example localhost:9888";
    let (host, port) = text.rsplit_once(':').ok_or(wrong)?;
    let is_host = !host.is_empty() && (!host.contains(':') || (host.starts_with('[') && host.ends_with(']')));
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    if is_host && is_port { Ok(text.to_owned()) } else { Err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_an_offset_and_may_have_seconds() {
        let three = time_with_offset("2026-11-21T03:00+08:00");
        assert_eq!(three.as_ref().map(DateTime::timestamp), Ok(1_795_201_200));
        assert_eq!(time_with_offset("2026-11-20T19:00:00Z"), three);
        assert_eq!(time_with_offset("2026-11-20T19:00Z"), three);
        for wrong in ["2026-11-21T03:00", "03:00", "2026-11-21", "yesterday"] {
            assert!(time_with_offset(wrong).is_err_and(|why| why.contains("offset")), "{wrong}");
        }
    }

    #[test]
    fn an_address_of_a_dump_port_has_a_host_and_a_port() {
        for right in ["localhost:9888", "10.0.0.1:1", "[::1]:9888"] {
            assert_eq!(dump_address(right).as_deref(), Ok(right));
        }
        for wrong in ["localhost", "localhost:", ":9888", "localhost:0", "localhost:99999", "::1", "::1:9888"] {
            assert!(dump_address(wrong).is_err_and(|why| why.contains("HOST:PORT")), "{wrong}");
        }
    }
}
