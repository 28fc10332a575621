//! Writes series in the format of OpenMetrics.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;

/// The labels of a series.
pub(super) type Labels<'a> = Vec<(&'a str, &'a str)>;

/// A page under construction.
pub(super) struct Page<'e>(pub(super) DescriptorEncoder<'e>);

impl Page<'_> {
    /// Writes counters. The format adds `_total` to their name.
    pub(super) fn counters<'a>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'a>, u64)>,
    ) -> fmt::Result {
        let series = series.into_iter().map(|(labels, count)| (labels, ConstCounter::new(count)));
        self.family(name, help, MetricType::Counter, series)
    }

    pub(super) fn gauges<'a>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'a>, f64)>,
    ) -> fmt::Result {
        let series = series.into_iter().map(|(labels, value)| (labels, ConstGauge::new(value)));
        self.family(name, help, MetricType::Gauge, series)
    }

    pub(super) fn histograms<'a>(
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

struct ByRef<'a>(&'a Histogram);

impl EncodeMetric for ByRef<'_> {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
