//! Writes series in the format of [OpenMetrics](https://prometheus.io/docs/specs/om/open_metrics_spec/).

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// The labels of a series: names and values.
pub type Labels<'a> = Vec<(&'a str, &'a str)>;

/// A page under construction.
#[derive(Debug)]
pub struct Page<'e>(DescriptorEncoder<'e>);

impl Page<'_> {
    /// Writes counters. The format adds `_total` to their name.
    ///
    /// # Errors
    /// Those of the encoder.
    pub fn counters<'a>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'a>, u64)>,
    ) -> fmt::Result {
        let series = series.into_iter().map(|(labels, count)| (labels, ConstCounter::new(count)));
        self.family(name, help, MetricType::Counter, series)
    }

    /// Writes gauges.
    ///
    /// # Errors
    /// Those of the encoder.
    pub fn gauges<'a>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'a>, f64)>,
    ) -> fmt::Result {
        let series = series.into_iter().map(|(labels, value)| (labels, ConstGauge::new(value)));
        self.family(name, help, MetricType::Gauge, series)
    }

    /// Writes histograms.
    ///
    /// # Errors
    /// Those of the encoder.
    pub fn histograms<'a>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'a>, &'a Histogram)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Histogram, series.into_iter().map(|(labels, one)| (labels, ByRef(one))))
    }

    fn family<'a>(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        series: impl Iterator<Item = (Labels<'a>, impl EncodeMetric)>,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (labels, metric) in series {
            // There is only one series without labels.
            if labels.is_empty() {
                return metric.encode(family);
            }
            metric.encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// A page in the format of OpenMetrics.
pub fn text(write: impl Fn(&mut Page<'_>) -> fmt::Result + Send + Sync + 'static) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Written(write)));
    let mut page = String::new();
    // A text takes all that is written to it.
    let _ = text::encode(&mut page, &registry);
    page
}

struct Written<F>(F);

impl<F: Fn(&mut Page<'_>) -> fmt::Result + Send + Sync + 'static> Collector for Written<F> {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        (self.0)(&mut Page(encoder))
    }
}

impl<F> fmt::Debug for Written<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}

struct ByRef<'a>(&'a Histogram);

impl EncodeMetric for ByRef<'_> {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_stand_one_after_the_other_with_their_labels() {
        let page = text(|page| {
            page.counters("a_b", "Some help.", [(vec![("c", "d\"e")], 1)])?;
            page.gauges("g", "Now.", [(Vec::new(), 2.5)])
        });
        let counters = "# HELP a_b Some help.\n# TYPE a_b counter\na_b_total{c=\"d\\\"e\"} 1\n";
        assert_eq!(page, format!("{counters}# HELP g Now.\n# TYPE g gauge\ng 2.5\n# EOF\n"));
    }
}
