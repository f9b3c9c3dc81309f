//! What the signs of a replacement weigh. Written by tools/train_updates.py; docs/quality.md tells
//! what they are worth.

use super::signs::SIGNS;

/// The weight of each sign, in its order.
#[rustfmt::skip]
pub(super) const WEIGHTS: [f32; SIGNS] = [
    2.53, 1.66, -0.86, 0.49, 1.10, 0.99, 0.56, 1.56, 1.93, 1.05,
    0.32, -0.77, 0.17, 0.87, -0.04, 0.32, 0.68, 0.65, 0.41, 0.47,
    1.08, 1.43, -0.54, -0.59, -0.18, -0.56, 0.20, 0.32, 0.22, 0.19,
    -0.68, 0.47, 0.48, 1.87, 0.08, -0.22, 1.19, 1.40, -0.89, -0.19,
];
/// Added to every sum.
pub(super) const BIAS: f32 = -6.38;
/// The likelihood from which on an older sentence holds no longer.
pub(in crate::capture::reconcile) const ENOUGH: f32 = 0.60;
