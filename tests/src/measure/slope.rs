//! The slope of a value: a straight line through measurements.

use serde_json::{Value, json};

/// Measurements over time, kept as means of blocks: what is measured each moment would itself take memory that grows.
#[derive(Debug)]
pub struct Series {
    name: &'static str,
    /// The mean of each block that is complete.
    blocks: Vec<f64>,
    sum: f64,
    count: u32,
}

impl Series {
    /// An empty one that has room for so many blocks.
    pub fn new(name: &'static str, blocks: usize) -> Self {
        Self { name, blocks: Vec::with_capacity(blocks), sum: 0.0, count: 0 }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Adds a measurement to the block under way.
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// Completes the block.
    pub fn close_block(&mut self) {
        if self.count > 0 {
            self.blocks.push(self.sum / f64::from(self.count));
        }
        (self.sum, self.count) = (0.0, 0);
    }

    /// The mean, and how much it grows within a number of blocks, with the standard error of that.
    pub fn growth(&self, within: f64) -> Value {
        let mean = self.blocks.iter().sum::<f64>() / self.blocks.len().max(1) as f64;
        let (slope, error) = slope(&self.blocks);
        json!({ "mean": round(mean), "per_hour": round(slope * within), "standard_error": round(error * within) })
    }
}

/// Slope of the line through values at 0, 1, 2, ... by least squares, and its standard error.
fn slope(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    if values.len() < 3 {
        return (0.0, f64::INFINITY);
    }
    let (middle, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let places = || (0..values.len()).map(|place| place as f64 - middle);
    let spread: f64 = places().map(|place| place * place).sum();
    let slope = places().zip(values).map(|(place, value)| place * (value - mean)).sum::<f64>() / spread;
    let rest: f64 = places().zip(values).map(|(place, value)| (value - mean - slope * place).powi(2)).sum();
    (slope, (rest / (count - 2.0) / spread).sqrt())
}

fn round(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_and_no_error() {
        let (slope, error) = slope(&[1.0, 3.0, 5.0, 7.0]);
        assert!((slope - 2.0).abs() < 1e-12 && error < 1e-12, "{slope} {error}");
    }

    #[test]
    fn what_goes_up_and_down_has_an_error_that_is_larger_than_its_slope() {
        let values: Vec<f64> = (0..100).map(|place| f64::from(place % 2)).collect();
        let (slope, error) = slope(&values);
        assert!(slope.abs() < error, "{slope} {error}");
        // By hand: values 0, 1, 0 have the slope 0 and the error sqrt(2/3 / 1 / 2).
        let (slope, error) = super::slope(&[0.0, 1.0, 0.0]);
        assert!(slope.abs() < 1e-12 && (error - (1.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{slope} {error}");
    }

    #[test]
    fn a_series_grows_by_its_blocks() {
        let mut series = Series::new("memory", 3);
        for block in [[1.0, 3.0], [3.0, 5.0], [5.0, 7.0]] {
            block.into_iter().for_each(|value| series.add(value));
            series.close_block();
        }
        let growth = series.growth(10.0);
        assert_eq!(growth, json!({ "mean": 4.0, "per_hour": 20.0, "standard_error": 0.0 }));
    }
}
