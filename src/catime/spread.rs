// SPDX-License-Identifier: BSD-2-Clause
//! Mean, standard deviation, smallest and largest of a series.

/// What is kept of a series of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    count: f64,
    sum: f64,
    squares: f64,
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
}

impl Spread {
    /// Counts one more sample.
    pub fn add(&mut self, sample: f64) {
        if self.count == 0.0 || sample < self.min {
            self.min = sample;
        }
        if self.count == 0.0 || sample > self.max {
            self.max = sample;
        }
        self.count += 1.0;
        self.sum += sample;
        self.squares += sample * sample;
    }

    /// The mean; 0 of no samples.
    pub fn mean(&self) -> f64 {
        if self.count == 0.0 { 0.0 } else { self.sum / self.count }
    }

    /// The standard deviation of the samples.
    pub fn deviation(&self) -> f64 {
        if self.count == 0.0 {
            return 0.0;
        }
        let mean = self.mean();
        square_root(self.squares / self.count - mean * mean)
    }
}

/// Newton's method: core has no square root.
fn square_root(value: f64) -> f64 {
    // Rounding may leave a little less than nothing.
    if value <= 0.0 || value.is_nan() {
        return 0.0;
    }
    // Halving the exponent lands within a factor of two.
    let mut root = f64::from_bits((value.to_bits() >> 1) + (1023 << 51));
    for _ in 0..6 {
        root = 0.5 * (root + value / root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_right() {
        for value in [1e-300, 1e-12, 0.5, 1.0, 2.0, 144.0, 1e12, 1e300] {
            let root = square_root(value);
            assert!((root - f64::sqrt(value)).abs() <= root * 1e-15, "{value}: {root}");
        }
        assert_eq!(square_root(-1e-20), 0.0);
    }

    #[test]
    fn spread_of_a_series() {
        let mut spread = Spread::default();
        assert_eq!((spread.mean(), spread.deviation()), (0.0, 0.0));
        for sample in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            spread.add(sample);
        }
        assert_eq!((spread.mean(), spread.min, spread.max), (5.0, 2.0, 9.0));
        assert!((spread.deviation() - 2.0).abs() < 1e-12);
    }
}
