//! The trace context of a request, for the jobs that it triggers.

use axum::http::HeaderMap;
use elasticjob::fire::TraceParent;

/// The header of W3C Trace Context.
const HEADER: &str = "traceparent";

/// The trace context that a request has. As W3C demands, a request with several such headers, or one that is not understood, counts
/// as one without it.
pub(crate) fn of(headers: &HeaderMap) -> Option<TraceParent> {
    let mut values = headers.get_all(HEADER).iter();
    let one = values.next().filter(|_| values.next().is_none())?;
    TraceParent::parse(one.to_str().ok()?)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn one_header_that_is_understood_gives_the_trace_context() {
        const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let headers = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            headers
        };
        assert_eq!(of(&headers(&[TEXT])), TraceParent::parse(TEXT));
        assert!(of(&headers(&[TEXT])).is_some());
        let wrong: [&[&str]; 5] = [&[], &[""], &["é"], &[&TEXT[1..]], &[TEXT, TEXT]];
        for wrong in wrong {
            assert_eq!(of(&headers(wrong)), None, "{wrong:?}");
        }
    }
}
