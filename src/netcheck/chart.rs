// SPDX-License-Identifier: BSD-2-Clause
//! Pictures: round trip by size and throughput by mode, as SVG.

use super::measurements::{Measurements, RoundTrips, Series};
use std::fmt::{self, Write as _};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
/// Room for axes and labels.
const LEFT: f64 = 64.0;
const TOP: f64 = 36.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 48.0;
const COLOURS: [&str; 2] = ["#0b5fa5", "#c2410c"];

/// Round trip against message size: median as a line, p90 above it, both axes logarithmic.
pub fn round_trips(m: &Measurements) -> Result<String, fmt::Error> {
    let mut svg = open(&format!("{}: round trip by message size", escape(&m.host)))?;
    let points: Vec<&RoundTrips> = m.round_trips.iter().filter(|trips| trips.no_delay.count > 0).collect();
    let all =
        points.iter().flat_map(|trips| [&trips.no_delay, &trips.nagle]).filter(|series| series.count > 0);
    let (low, high) =
        all.fold((f64::INFINITY, 0.0_f64), |(low, high), series| (low.min(series.p50), high.max(series.p90)));
    if points.is_empty() || high <= 0.0 {
        return close(svg);
    }
    let x = Axis::new(points.iter().map(|trips| trips.bytes as f64), LEFT, WIDTH - RIGHT);
    let y = Axis::new([low.max(1e-3), high].into_iter(), HEIGHT - BOTTOM, TOP);
    for decade in y.decades() {
        let at = y.at(decade);
        writeln!(svg, r##"<path d="M{LEFT} {at:.1}H{:.1}" stroke="#ddd"/>"##, WIDTH - RIGHT)?;
        writeln!(
            svg,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{decade} ms</text>"#,
            LEFT - 6.0,
            at + 4.0
        )?;
    }
    for size in [1, 64, 100, 200, 512, 1448, 4096] {
        let at = x.at(f64::from(size));
        if (LEFT..=WIDTH - RIGHT).contains(&at) {
            writeln!(
                svg,
                r#"<text x="{at:.1}" y="{:.1}" text-anchor="middle">{size}</text>"#,
                HEIGHT - BOTTOM + 18.0
            )?;
        }
    }
    let no_delay: Vec<&Series> = points.iter().map(|trips| &trips.no_delay).collect();
    let nagle: Vec<&Series> = points.iter().map(|trips| &trips.nagle).collect();
    for (index, (name, series)) in
        [("TCP_NODELAY", no_delay), ("Nagle on our side", nagle)].into_iter().enumerate()
    {
        let colour = COLOURS[index];
        for (value, dash) in [(0, ""), (1, r#" stroke-dasharray="4 3""#)] {
            let mut path = String::new();
            for (nth, (trips, series)) in points.iter().zip(&series).enumerate() {
                let ms = if value == 0 { series.p50 } else { series.p90 };
                let command = if nth == 0 { 'M' } else { 'L' };
                write!(path, "{command}{:.1} {:.1}", x.at(trips.bytes as f64), y.at(ms))?;
            }
            writeln!(svg, r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>"#)?;
        }
        let at = LEFT + 8.0 + 170.0 * index as f64;
        writeln!(svg, r#"<text x="{at}" y="{}" fill="{colour}">{name}</text>"#, HEIGHT - 8.0)?;
    }
    writeln!(
        svg,
        r#"<text x="{}" y="{}" text-anchor="end">bytes; line p50, dashes p90</text>"#,
        WIDTH - RIGHT,
        HEIGHT - 8.0
    )?;
    close(svg)
}

/// Throughput of the three modes as bars.
pub fn throughput(m: &Measurements) -> Result<String, fmt::Error> {
    let mut svg = open(&format!("{}: throughput", escape(&m.host)))?;
    let modes = [("to the host", &m.out), ("from the host", &m.r#in), ("both, each way", &m.both)];
    let most = modes.iter().map(|(_, flow)| flow.megabits()).fold(1e-3, f64::max);
    let step = (HEIGHT - TOP - BOTTOM) / modes.len() as f64;
    for (index, (name, flow)) in modes.into_iter().enumerate() {
        let top = TOP + step * index as f64 + 8.0;
        let length = (WIDTH - 2.0 * LEFT - RIGHT - 120.0) * flow.megabits() / most;
        let (start, middle) = (LEFT + 56.0, top + step / 2.0 - 4.0);
        writeln!(svg, r#"<text x="{:.1}" y="{middle:.1}" text-anchor="end">{name}</text>"#, start - 6.0)?;
        writeln!(
            svg,
            r#"<rect x="{start:.1}" y="{top:.1}" width="{length:.1}" height="{:.1}" fill="{}"/>"#,
            step - 16.0,
            COLOURS[usize::from(index == 2)]
        )?;
        writeln!(
            svg,
            r#"<text x="{:.1}" y="{middle:.1}">{:.1} Mbit/s</text>"#,
            start + length + 6.0,
            flow.megabits()
        )?;
    }
    close(svg)
}

/// A logarithmic axis.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let (low, high) =
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let low = low.max(1e-6);
        // Equal ends would divide by nothing.
        Axis { low: low.log10(), high: high.max(low * 1.5).log10(), from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let part = (value.max(1e-6).log10() - self.low) / (self.high - self.low);
        self.from + part * (self.to - self.from)
    }

    /// Powers of ten within the axis.
    fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        (self.low.ceil() as i32..=self.high.floor() as i32).map(|power| 10_f64.powi(power))
    }
}

fn open(title: &str) -> Result<String, fmt::Error> {
    let mut svg = String::new();
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">"#
    )?;
    writeln!(svg, r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##)?;
    writeln!(svg, r#"<text x="{LEFT}" y="20" font-size="15">{title}</text>"#)?;
    Ok(svg)
}

fn close(mut svg: String) -> Result<String, fmt::Error> {
    svg.write_str("</svg>\n")?;
    Ok(svg)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_hold_every_size_and_mode() {
        let series = Series { count: 5, min: 0.2, p50: 0.3, p90: 0.4, p99: 0.5, max: 0.6 };
        let round_trip = |bytes| RoundTrips { bytes, no_delay: series, nagle: series };
        let m = Measurements {
            host: "a<b".into(),
            round_trips: [1, 64, 4096].map(round_trip).to_vec(),
            ..Measurements::default()
        };
        let picture = round_trips(&m).unwrap();
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("a&lt;b") && picture.contains(">4096</text>"));
        assert_eq!(picture.matches("stroke-width").count(), 4);
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        assert_eq!(throughput(&m).unwrap().matches("<rect").count(), 4);
        assert!(round_trips(&Measurements::default()).unwrap().ends_with("</svg>\n"));
    }
}
