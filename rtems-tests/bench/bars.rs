// SPDX-License-Identifier: BSD-2-Clause
//! Groups of bars on a logarithmic axis, as SVG.

use std::fmt::Write as _;

const WIDTH: f64 = 820.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 40.0;
const BAR: f64 = 13.0;
const GAP: f64 = 12.0;
const COLOURS: [&str; 6] = ["#1b7837", "#b2182b", "#762a83", "#2166ac", "#ef8a62", "#666666"];

/// The picture: a group for each of `groups`, in it a bar for each row (its name, and its value in each group, NaN for
/// none).
pub fn draw(title: &str, groups: &[&str], rows: &[(&str, Vec<f64>)]) -> String {
    let group_height = BAR * rows.len() as f64 + GAP;
    let bottom = TOP + group_height * groups.len() as f64;
    let values =
        || rows.iter().flat_map(|(_, values)| values.iter().copied().filter(|value| value.is_finite()));
    let low = values().fold(f64::INFINITY, f64::min).log10().floor();
    let high = values().fold(0.0, f64::max).log10().ceil().max(low + 1.0);
    let x = |value: f64| LEFT + (value.log10() - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {:.0}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="{:.0}" y="22" text-anchor="middle" font-size="14">{title}</text>
"#,
        bottom + 50.0,
        WIDTH / 2.0
    );
    // Writing to a string does not fail.
    for decade in low as i32..=high as i32 {
        let at = x(10f64.powi(decade));
        let _ = writeln!(svg, r##"<path d="M{at:.1} {TOP}V{bottom:.1}" stroke="#ddd"/>"##);
        let label = 10f64.powi(decade);
        let _ = writeln!(
            svg,
            r#"<text x="{at:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#,
            bottom + 16.0
        );
    }
    for (number, group) in groups.iter().enumerate() {
        let top = TOP + GAP / 2.0 + group_height * number as f64;
        let middle = top + BAR * rows.len() as f64 / 2.0 + 4.0;
        let _ =
            writeln!(svg, r#"<text x="{:.1}" y="{middle:.1}" text-anchor="end">{group}</text>"#, LEFT - 8.0);
        for (row, (_, values)) in rows.iter().enumerate() {
            if !values[number].is_finite() {
                continue;
            }
            let (y, end) = (top + BAR * row as f64, x(values[number]));
            let (height, colour) = (BAR - 2.0, COLOURS[row % COLOURS.len()]);
            let _ = writeln!(
                svg,
                r#"<rect x="{LEFT}" y="{y:.1}" width="{:.1}" height="{height}" fill="{colour}"/>"#,
                (end - LEFT).max(1.0)
            );
            let value = super::report::figure(values[number]);
            let _ = writeln!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" font-size="10">{value}</text>"#,
                end + 4.0,
                y + 9.5
            );
        }
    }
    for (row, (name, _)) in rows.iter().enumerate() {
        let (at, colour) = (LEFT + 110.0 * row as f64, COLOURS[row % COLOURS.len()]);
        let _ = writeln!(svg, r#"<text x="{at:.1}" y="{:.1}" fill="{colour}">{name}</text>"#, bottom + 38.0);
    }
    svg.push_str("</svg>\n");
    svg
}
