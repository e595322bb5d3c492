//! SVG plots: bar charts with horizontal bars that show the spread, and line charts with a logarithmic axis.

use std::fmt::Write as _;

use crate::statistics::{Spread, rounded};

const WIDTH: f64 = 720.0;
const LABEL_WIDTH: f64 = 230.0;
const VALUE_WIDTH: f64 = 150.0;
const ROW_HEIGHT: f64 = 28.0;
const TITLE_HEIGHT: f64 = 36.0;
const LINES_HEIGHT: f64 = 260.0;
const COLOURS: [&str; 4] = ["#2563eb", "#d97706", "#059669", "#7c3aed"];

pub(crate) enum Plot {
    Bars(Bars),
    Lines(Lines),
}

/// A bar for each median, with a line from the minimum to the maximum.
pub(crate) struct Bars {
    pub title: String,
    pub bars: Vec<(String, Spread)>,
}

/// Lines over a logarithmic horizontal axis. The vertical axis begins at zero.
pub(crate) struct Lines {
    pub title: String,
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

impl Plot {
    pub fn svg(&self) -> String {
        match self {
            Self::Bars(bars) => bars.svg(),
            Self::Lines(lines) => lines.svg(),
        }
    }
}

impl Bars {
    fn svg(&self) -> String {
        let highest = self.bars.iter().map(|(_, spread)| spread.max).fold(f64::MIN_POSITIVE, f64::max);
        let scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / highest;
        let mut elements = text(0.0, 20.0, "start", &self.title);
        for ((label, spread), top) in
            self.bars.iter().zip((0_u16..).map(|row| TITLE_HEIGHT + f64::from(row) * ROW_HEIGHT))
        {
            let middle = top + ROW_HEIGHT / 2.0;
            let at = |value: f64| LABEL_WIDTH + value * scale;
            elements += &text(LABEL_WIDTH - 8.0, middle + 4.0, "end", label);
            let width = spread.median * scale;
            let _ = write!(
                elements,
                r##"<rect x="{LABEL_WIDTH}" y="{:.1}" width="{width:.1}" height="16" fill="#2563eb"/>"##,
                middle - 8.0
            );
            let (from, to) = (at(spread.min), at(spread.max));
            let _ =
                write!(elements, r##"<path d="M{from:.1} {middle:.1}H{to:.1}" stroke="#111827" stroke-width="2"/>"##);
            elements += &text(to + 8.0, middle + 4.0, "start", &spread.to_string());
        }
        document(TITLE_HEIGHT + ROW_HEIGHT * self.bars.iter().map(|_| 1.0).sum::<f64>(), &elements)
    }
}

impl Lines {
    fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let logarithm = |x: f64| x.max(1.0).log10();
        let right = points().map(|(x, _)| logarithm(*x)).fold(f64::MIN_POSITIVE, f64::max);
        let highest = points().map(|(_, y)| *y).fold(f64::MIN_POSITIVE, f64::max) * 1.1;
        let (left, bottom) = (60.0, LINES_HEIGHT - 30.0);
        let x_of = |x: f64| left + logarithm(x) / right * (WIDTH - left - VALUE_WIDTH);
        let y_of = |y: f64| bottom - y / highest * (bottom - TITLE_HEIGHT);
        let mut elements = text(0.0, 20.0, "start", &self.title);
        let (top, end) = (TITLE_HEIGHT, WIDTH - VALUE_WIDTH);
        let _ = write!(elements, r##"<path d="M{left} {top}V{bottom}H{end}" fill="none" stroke="#6b7280"/>"##);
        elements += &text(left - 6.0, y_of(highest / 1.1) + 4.0, "end", &rounded(highest / 1.1));
        elements += &text(left - 6.0, bottom, "end", "0");
        for (x, _) in self.lines.first().map_or(&[] as &[_], |(_, points)| points) {
            elements += &text(x_of(*x), bottom + 18.0, "middle", &format!("{x}"));
        }
        for ((label, points), colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let path: Vec<_> = points.iter().map(|(x, y)| format!("{:.1} {:.1}", x_of(*x), y_of(*y))).collect();
            let path = path.join("L");
            let _ = write!(elements, r#"<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>"#);
            if let Some((x, y)) = points.last() {
                elements += &text(x_of(*x) + 8.0, y_of(*y) + 4.0, "start", label);
            }
        }
        document(LINES_HEIGHT, &elements)
    }
}

fn document(height: f64, elements: &str) -> String {
    let style = r#"font-family="system-ui, sans-serif" font-size="13""#;
    let background = r##"<rect width="100%" height="100%" fill="#ffffff"/>"##;
    let namespace = r#"xmlns="http://www.w3.org/2000/svg""#;
    format!(r#"<svg {namespace} viewBox="-8 -4 {WIDTH} {:.0}" {style}>{background}{elements}</svg>"#, height + 12.0)
        + "\n"
}

fn text(x: f64, y: f64, anchor: &str, content: &str) -> String {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    format!(r##"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="#111827">{content}</text>"##)
}
