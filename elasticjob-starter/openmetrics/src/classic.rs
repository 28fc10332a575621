//! The older text format of Prometheus, for clients that do not know OpenMetrics.

/// The same metrics in the older format: a counter is declared with its `_total`, and there is no end mark.
pub(crate) fn classic(openmetrics: &str) -> String {
    let mut page = String::with_capacity(openmetrics.len());
    // The help stands before the type, which decides the name in both lines.
    let mut help = None;
    for line in openmetrics.lines() {
        if let Some(text) = line.strip_prefix("# HELP ") {
            help = text.split_once(' ');
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            let total = if kind == "counter" { "_total" } else { "" };
            if let Some((_, help)) = help.take() {
                page.push_str(&format!("# HELP {name}{total} {help}\n"));
            }
            page.push_str(&format!("# TYPE {name}{total} {kind}\n"));
        } else if !line.starts_with('#') {
            page.push_str(line);
            page.push('\n');
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_declared_with_their_total() {
        let openmetrics = "# HELP a_b Some help.\n# TYPE a_b counter\na_b_total{c=\"d e\"} 1\n# HELP g Now.\n# TYPE g gauge\ng 2.0\n# EOF\n";
        let expected = "# HELP a_b_total Some help.\n# TYPE a_b_total counter\na_b_total{c=\"d e\"} 1\n# HELP g Now.\n# TYPE g gauge\ng 2.0\n";
        assert_eq!(classic(openmetrics), expected);
    }
}
