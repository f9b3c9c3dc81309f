//! Dense evidence: vectors as bytes, and their cosine.

use memgate_core::memory::{Embedding, QueryVector};

/// Number of independent partial sums, so that the compiler can vectorise the loop.
const LANES: usize = 8;

/// The cosine of two normalised vectors of the same dimension.
pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    // Rounding can exceed the bounds slightly.
    (sums.iter().sum::<f32>() + rest).clamp(-1.0, 1.0)
}

/// Encodes a vector as stored: little-endian.
pub(super) fn to_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Decodes a stored vector and appends it to `values`.
pub(super) fn from_bytes(bytes: &[u8], values: &mut Vec<f32>) {
    values.extend(bytes.as_chunks::<4>().0.iter().map(|&value| f32::from_le_bytes(value)));
}

/// The part of a memory nearest to a query, among those in its space and of its dimension.
pub(super) fn nearest<'v>(
    vectors: impl IntoIterator<Item = &'v Embedding>,
    query: &QueryVector,
) -> Option<(f32, u16)> {
    let mut nearest = None;
    for vector in vectors {
        if vector.space == query.space && vector.values.len() == query.values.len() {
            keep_best(&mut nearest, (cosine(&vector.values, &query.values), vector.part));
        }
    }
    nearest
}

/// Updates the best part so far with `found`.
pub(super) fn keep_best(best: &mut Option<(f32, u16)>, found: (f32, u16)) {
    if best.is_none_or(|(cosine, _)| found.0 > cosine) {
        *best = Some(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_vectors_round_trip() {
        let values = [0.1, -0.0, f32::MIN_POSITIVE, 1.0];
        let mut back = Vec::new();
        from_bytes(&to_bytes(&values), &mut back);
        assert_eq!(back, values);
    }

    #[test]
    fn every_coordinate_counts() {
        for length in 1..20 {
            for place in 0..length {
                let mut vector = vec![0.0; length];
                vector[place] = 1.0;
                assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-6, "{place} of {length}");
            }
        }
    }
}
