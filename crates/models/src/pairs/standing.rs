//! How near an older sentence is to a message, among all that it is compared with.

/// How near an older sentence is to a message, among others. Cosines are of [`centred`](crate::UpdateModel::centred)
/// vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// The cosine with the nearest sentence of the message.
    pub cosine: f32,
    /// The cosine with the whole message.
    pub of_message: f32,
    /// How many others are nearer.
    pub rank: usize,
    /// The cosine less that of the nearest one.
    pub gap: f32,
    /// The cosine in standard deviations from the mean of all.
    pub deviations: f32,
}

/// Keeps the deviations of a few cosines that are nearly equal within bounds.
const LEAST_DEVIATION: f32 = 0.05;

impl Standing {
    /// Places all that a message is compared with: for each, the cosine with its nearest sentence and with the whole.
    #[must_use]
    pub fn among(cosines: &[(f32, f32)]) -> Vec<Self> {
        let count = cosines.len().max(1) as f32;
        let mean = cosines.iter().map(|(cosine, _)| cosine).sum::<f32>() / count;
        let squares = cosines.iter().map(|(cosine, _)| (cosine - mean).powi(2)).sum::<f32>();
        let deviation = (squares / count).sqrt() + LEAST_DEVIATION;
        let best = cosines.iter().map(|(cosine, _)| *cosine).fold(f32::MIN, f32::max);
        let place = |&(cosine, of_message): &(f32, f32)| Self {
            cosine,
            of_message,
            rank: cosines.iter().filter(|(other, _)| *other > cosine).count(),
            gap: cosine - best,
            deviations: (cosine - mean) / deviation,
        };
        cosines.iter().map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_sentence_is_placed_among_the_others() {
        let [near, far] = Standing::among(&[(0.8, 0.6), (0.2, 0.1)])[..] else { panic!() };
        assert_eq!((near.rank, near.gap, near.of_message), (0, 0.0, 0.6));
        assert_eq!(far.rank, 1);
        assert!((far.gap + 0.6).abs() < 1e-6 && (near.deviations + far.deviations).abs() < 1e-5);
        assert_eq!(Standing::among(&[]), []);
    }
}
