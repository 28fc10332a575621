//! Curves over axes with logarithmic scales, as SVG.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// Left, top, right and bottom of the field of the curves.
const FIELD: (f64, f64, f64, f64) = (72.0, 44.0, 540.0, 370.0);
/// Seen well on white and on black.
const COLORS: [&str; 6] = ["#3b82f6", "#ea580c", "#16a34a", "#a855f7", "#db2777", "#0d9488"];

/// One curve.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// What the key says.
    pub(crate) name: String,
    /// Its points. Those without a value above zero are left out.
    pub(crate) points: Vec<(f64, f64)>,
    /// Whether it is a line of dashes.
    pub(crate) is_dashed: bool,
}

/// A picture of curves.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    /// The title.
    pub(crate) title: String,
    /// What the axis to the right is.
    pub(crate) across: String,
    /// What the axis upwards is.
    pub(crate) up: String,
    /// The curves.
    pub(crate) lines: Vec<Line>,
}

/// A logarithmic scale over whole powers of ten.
struct Scale {
    from: f64,
    until: f64,
    at: (f64, f64),
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>, at: (f64, f64)) -> Self {
        let (mut from, mut until) = (f64::MAX, f64::MIN);
        for value in values.filter(|value| *value > 0.0) {
            from = from.min(value.log10().floor());
            until = until.max(value.log10().ceil());
        }
        if from > until {
            (from, until) = (0.0, 1.0);
        }
        if from >= until {
            until = from + 1.0;
        }
        Self { from, until, at }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.log10() - self.from) / (self.until - self.from);
        self.at.0 + share * (self.at.1 - self.at.0)
    }

    fn powers(&self) -> impl Iterator<Item = i32> {
        self.from as i32..=self.until as i32
    }
}

fn label(power: i32) -> String {
    match power {
        6.. => format!("{} M", 10_i64.pow(power as u32 - 6)),
        3.. => format!("{},000", 10_i64.pow(power as u32 - 3)),
        0.. => format!("{}", 10_i64.pow(power as u32)),
        _ => format!("{:.*}", power.unsigned_abs() as usize, 10_f64.powi(power)),
    }
}

impl Chart {
    /// The picture. Its text has the colour of the page in a browser that prefers dark pages.
    pub(crate) fn svg(&self) -> String {
        let (left, top, right, bottom) = FIELD;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let across = Scale::of(points().map(|point| point.0), (left, right));
        let up = Scale::of(points().map(|point| point.1), (bottom, top));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"13\" role=\"img\">\n<title>{}</title>\n<style>\n.page {{ fill: #ffffff }} text {{ fill: #1f2937 }} \
             .grid {{ stroke: #d1d5db }}\n@media (prefers-color-scheme: dark) {{ .page {{ fill: #0d1117 }} \
             text {{ fill: #e5e7eb }} .grid {{ stroke: #374151 }} }}\n</style>\n\
             <rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
            self.title
        );
        let mut put = |text: std::fmt::Arguments<'_>| {
            let _ = svg.write_fmt(text);
            svg.push('\n');
        };
        put(format_args!("<text x=\"{left}\" y=\"24\" font-size=\"16\">{}</text>", self.title));
        for power in across.powers() {
            let x = across.place(10_f64.powi(power));
            put(format_args!("<path class=\"grid\" d=\"M{x:.1} {top}V{bottom}\"/>"));
            let y = bottom + 18.0;
            put(format_args!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", label(power)));
        }
        for power in up.powers() {
            let y = up.place(10_f64.powi(power));
            put(format_args!("<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>"));
            let (x, y) = (left - 8.0, y + 4.0);
            put(format_args!("<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", label(power)));
        }
        let (middle, below) = ((left + right) / 2.0, HEIGHT - 12.0);
        put(format_args!("<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{}</text>", self.across));
        put(format_args!("<text x=\"{left}\" y=\"40\" font-size=\"11\">{}</text>", self.up));
        for (number, line) in self.lines.iter().enumerate() {
            let color = COLORS[number % COLORS.len()];
            let dashes = if line.is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let shown = || line.points.iter().filter(|(_, y)| *y > 0.0);
            let path: Vec<String> =
                shown().map(|(x, y)| format!("{:.1} {:.1}", across.place(*x), up.place(*y))).collect();
            put(format_args!(
                "<path d=\"M{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dashes}/>",
                path.join("L")
            ));
            for (x, y) in shown() {
                let (x, y) = (across.place(*x), up.place(*y));
                put(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>"));
            }
            let (x, y) = (right + 16.0, top + 14.0 + 22.0 * number as f64);
            put(format_args!("<path d=\"M{x} {y}h22\" stroke=\"{color}\" stroke-width=\"2\"{dashes}/>"));
            put(format_args!("<text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>", x + 28.0, y + 4.0, line.name));
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_point_is_at_its_power_of_ten() {
        let points = vec![(1.0, 10.0), (100.0, 1_000.0), (10.0, 0.0)];
        let line = Line { name: "writes".to_owned(), points, is_dashed: false };
        let chart = Chart { title: "t".to_owned(), across: "x".to_owned(), up: "y".to_owned(), lines: vec![line] };
        let svg = chart.svg();
        assert!(svg.contains("d=\"M72.0 370.0L540.0 44.0\""), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 2);
    }
}
