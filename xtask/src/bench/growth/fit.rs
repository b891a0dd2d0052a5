//! The shape of a sequence of numbers: how it grows with its index.
//!
//! Each shape is fitted by least squares, lines and parabolas with relative errors, powers and
//! exponentials in logarithms. The error of a fit is the largest relative one. A constant or a line
//! within `CLOSE` is taken first, then the least error, which a parabola must beat by far, as it
//! has one number more to choose. Beyond `CLOSE` that is reported.

use std::fmt;

/// A relative error that is none: what is left are end effects.
const CLOSE: f64 = 0.05;
/// By how much the last step must exceed the first for growth that no base describes.
const FASTER: f64 = 1.5;
/// How many times better a parabola must be.
const BY_FAR: f64 = 5.0;
/// Fewer numbers have no shape.
const FEWEST: usize = 3;

/// How numbers grow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    Constant,
    Linear,
    Quadratic,
    /// As `index ^ degree`.
    Power {
        degree: f64,
    },
    /// As `base ^ index`.
    Exponential {
        base: f64,
    },
    /// Each step multiplies by more than the one before, as factorials do.
    Faster {
        /// The last factor.
        last: f64,
    },
}

/// A shape, and how far the numbers are off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fit {
    pub shape: Shape,
    /// The largest relative error.
    pub error: f64,
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.error > CLOSE {
            f.write_str("roughly ")?;
        }
        match self.shape {
            Shape::Constant => f.write_str("constant"),
            Shape::Linear => f.write_str("linear"),
            Shape::Quadratic => f.write_str("quadratic"),
            Shape::Power { degree } => write!(f, "a power, n^{degree:.1}"),
            Shape::Exponential { base } => write!(f, "exponential, {base:.1}^n"),
            Shape::Faster { last } => {
                write!(f, "faster than exponential (the last step: × {last:.1})")
            }
        }
    }
}

/// The shape of positive numbers at 1, 2, 3 and so on; none if they are too few.
pub fn fit(numbers: &[f64]) -> Option<Fit> {
    if numbers.len() < FEWEST || numbers.iter().any(|number| *number <= 0.0) {
        return None;
    }
    let indices = || (1..=numbers.len()).map(|index| index as f64);
    let errors = |value: &dyn Fn(f64) -> f64| {
        let errors =
            indices().zip(numbers).map(|(index, number)| (value(index) / number - 1.0).abs());
        errors.fold(0.0, f64::max)
    };
    let logarithms: Vec<f64> = numbers.iter().map(|number| number.ln()).collect();
    let mean = (logarithms.iter().sum::<f64>() / numbers.len() as f64).exp();
    let constant = Fit { shape: Shape::Constant, error: errors(&|_| mean) };
    if constant.error <= CLOSE || numbers.last() <= numbers.first() {
        return Some(constant);
    }
    let weights: Vec<f64> = numbers.iter().map(|number| number.recip()).collect();
    let polynomial = |degree| {
        let coefficients = polynomial(degree, numbers, &weights)?;
        Some(errors(&|index| coefficients.iter().rev().fold(0.0, |sum, next| sum * index + next)))
    };
    if let Some(error) = polynomial(1).filter(|error| *error <= CLOSE) {
        return Some(Fit { shape: Shape::Linear, error });
    }
    let (from, base) = line(indices().collect(), &logarithms);
    let exponential = Fit {
        shape: Shape::Exponential { base: base.exp() },
        error: errors(&|index| (from + base * index).exp()),
    };
    let (from, degree) = line(indices().map(f64::ln).collect(), &logarithms);
    let power = Fit {
        shape: Shape::Power { degree },
        error: errors(&|index| (from + degree * index.ln()).exp()),
    };
    let best = if power.error < exponential.error { power } else { exponential };
    // It needs some numbers more than it has coefficients.
    let parabola = polynomial(2).filter(|_| numbers.len() > FEWEST + 1);
    if let Some(error) = parabola.filter(|error| *error <= CLOSE && error * BY_FAR < best.error) {
        return Some(Fit { shape: Shape::Quadratic, error });
    }
    let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] / pair[0]).collect();
    let grows = steps.windows(2).all(|pair| pair[1] > pair[0]);
    if let [first, _, .., last] = steps[..]
        && grows
        && last / first >= FASTER
    {
        return Some(Fit { shape: Shape::Faster { last }, error: 0.0 });
    }
    Some(best)
}

/// Where a line begins and how it rises, by least squares.
fn line(indices: Vec<f64>, numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / count;
    let (index, number) = (mean(&indices), mean(numbers));
    let both = indices.iter().zip(numbers).map(|(i, n)| (i - index) * (n - number)).sum::<f64>();
    let rise = both / indices.iter().map(|i| (i - index).powi(2)).sum::<f64>();
    (number - rise * index, rise)
}

/// The coefficients of the polynomial of a degree at 1, 2, 3 and so on, from the constant on, by
/// weighted least squares: the normal equations, by Gauss' elimination.
fn polynomial(degree: usize, numbers: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
    let size = degree + 1;
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (place, (number, weight)) in numbers.iter().zip(weights).enumerate() {
        let index = (place + 1) as f64;
        let powers: Vec<f64> = (0..size).map(|power| index.powi(power as i32) * weight).collect();
        for (row, power) in rows.iter_mut().zip(&powers) {
            for (cell, other) in row.iter_mut().zip(powers.iter().chain([&(number * weight)])) {
                *cell += power * other;
            }
        }
    }
    for pivot in 0..size {
        let best =
            (pivot..size).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()))?;
        rows.swap(pivot, best);
        let row = rows[pivot].clone();
        if row[pivot].abs() < f64::EPSILON {
            return None;
        }
        for (number, other) in rows.iter_mut().enumerate() {
            if number != pivot {
                let factor = other[pivot] / row[pivot];
                other.iter_mut().zip(&row).for_each(|(cell, above)| *cell -= factor * above);
            }
        }
    }
    Some((0..size).map(|place| rows[place][size] / rows[place][place]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(numbers: &[f64]) -> Shape {
        fit(numbers).expect("there are enough numbers").shape
    }

    fn of(numbers: impl Fn(f64) -> f64) -> Shape {
        shape(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(numbers))
    }

    #[test]
    fn pure_shapes_are_distinguished() {
        assert_eq!(of(|_| 7.0), Shape::Constant);
        assert_eq!(of(|n| 3.0 * n - 2.0), Shape::Linear);
        assert_eq!(of(|n| n * n + n + 1.0), Shape::Quadratic);
        assert_eq!(of(|n| n * (n + 1.0) / 2.0), Shape::Quadratic);
        assert!(
            matches!(of(|n| 5.0 * n.powi(4)), Shape::Power { degree } if (degree - 4.0).abs() < 1e-6)
        );
        assert!(
            matches!(of(|n| 3.0 * 2.5_f64.powf(n)), Shape::Exponential { base } if (base - 2.5).abs() < 1e-6)
        );
    }

    #[test]
    fn a_parabola_that_is_close_does_not_hide_a_power_that_is_closer() {
        assert!(matches!(of(|n| n.powf(2.3)), Shape::Power { .. }));
    }

    #[test]
    fn factorials_are_faster_than_any_base() {
        let fitted = shape(&[1.0, 2.0, 6.0, 24.0, 120.0, 720.0]);
        assert_eq!(fitted, Shape::Faster { last: 6.0 });
    }

    #[test]
    fn binomials_are_roughly_exponential() {
        let fitted = fit(&[2.0, 6.0, 20.0, 70.0, 252.0, 924.0]).expect("there are enough");
        assert!(matches!(fitted.shape, Shape::Exponential { base } if (3.3..3.6).contains(&base)));
        assert_eq!(fitted.to_string(), "roughly exponential, 3.4^n");
    }

    #[test]
    fn noise_does_not_change_a_shape() {
        assert_eq!(shape(&[1.0, 1.01, 0.99, 1.0]), Shape::Constant);
        assert_eq!(shape(&[10.0, 20.2, 29.9, 40.0]), Shape::Linear);
    }

    #[test]
    fn what_falls_does_not_grow() {
        let fitted = fit(&[9.0, 5.0, 3.0, 2.0]).expect("there are enough");
        assert_eq!(fitted.to_string(), "roughly constant");
    }

    #[test]
    fn too_few_numbers_have_no_shape() {
        assert_eq!(fit(&[1.0, 2.0]), None);
        assert_eq!(fit(&[1.0, 0.0, 2.0]), None);
        // Three points always are on a parabola, and four nearly.
        assert_ne!(shape(&[1.0, 5.0, 30.0]), Shape::Quadratic);
        let reported = fit(&[2.0, 4.0, 8.0, 16.0]).map(|fit| fit.to_string());
        assert_eq!(reported.as_deref(), Some("exponential, 2.0^n"));
    }
}
