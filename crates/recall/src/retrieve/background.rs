//! Background similarity: the cosine of a question to unrelated everyday sentences of its language. The calibration
//! subtracts it as a baseline.
//!
//! A cosine means little by itself: a model that has mostly seen English puts any two Chinese
//! texts closer together than two English ones about the same thing.

use memgate_embed::{EmbedError, Embedder, Vector, dot};

/// Sentences about nothing in particular, one list a language (Hindi in both scripts).
const SENTENCES: [[&str; 6]; 9] = [
    [
        "The meeting was moved to the afternoon.",
        "How long does it take to boil an egg?",
        "She bought a new jacket last week.",
        "Please close the window.",
        "I will call you tomorrow.",
        "Thanks, that helps a lot.",
    ],
    [
        "会议改到了下午。",
        "煮一个鸡蛋要多久？",
        "她上周买了一件外套。",
        "请把窗户关上。",
        "我明天给你打电话。",
        "谢谢，很有帮助。",
    ],
    [
        "La reunión se pasó a la tarde.",
        "¿Cuánto tarda en cocerse un huevo?",
        "Compró una chaqueta la semana pasada.",
        "Cierra la ventana, por favor.",
        "Te llamo mañana.",
        "Gracias, me ayuda mucho.",
    ],
    [
        "Die Besprechung wurde auf den Nachmittag verlegt.",
        "Wie lange muss ein Ei kochen?",
        "Sie hat letzte Woche eine Jacke gekauft.",
        "Bitte mach das Fenster zu.",
        "Ich rufe dich morgen an.",
        "Danke, das hilft mir sehr.",
    ],
    [
        "La réunion est reportée à l'après-midi.",
        "Combien de temps faut-il cuire un œuf ?",
        "Elle a acheté une veste la semaine dernière.",
        "Ferme la fenêtre, s'il te plaît.",
        "Je t'appelle demain.",
        "Merci, cela m'aide beaucoup.",
    ],
    [
        "会議は午後に変更されました。",
        "卵をゆでるのに何分かかりますか？",
        "彼女は先週ジャケットを買いました。",
        "窓を閉めてください。",
        "明日電話します。",
        "ありがとう、とても助かります。",
    ],
    [
        "A reunião foi adiada para a tarde.",
        "Quanto tempo leva para cozinhar um ovo?",
        "Ela comprou um casaco na semana passada.",
        "Feche a janela, por favor.",
        "Ligo para você amanhã.",
        "Obrigado, isso ajuda muito.",
    ],
    [
        "बैठक दोपहर के लिए टाल दी गई।",
        "अंडा उबालने में कितना समय लगता है?",
        "उसने पिछले हफ्ते एक जैकेट खरीदी।",
        "कृपया खिड़की बंद कर दो।",
        "मैं कल फोन करूँगा।",
        "धन्यवाद, इससे बहुत मदद मिली।",
    ],
    [
        "baithak dopahar tak taal di gayi.",
        "anda ubaalne mein kitna samay lagta hai?",
        "usne pichhle hafte jacket kharidi.",
        "kripya khidki band kar do.",
        "main kal phone karunga.",
        "dhanyavaad, isse bahut madad mili.",
    ],
];

/// The background sentences in an embedder's space: the mean vector of each language.
#[derive(Clone, Debug)]
pub(crate) struct Background {
    means: Vec<Vec<f32>>,
}

impl Background {
    /// Embeds the sentences; takes about as long as fifty short passages.
    ///
    /// # Errors
    /// As [`Embedder::embed_passages`].
    pub(crate) async fn of(embedder: &dyn Embedder) -> Result<Self, EmbedError> {
        let texts = SENTENCES.concat().into_iter().map(str::to_owned).collect();
        let vectors = embedder.embed_passages(texts).await?;
        let of_a_language = vectors.len().div_ceil(SENTENCES.len()).max(1);
        Ok(Self { means: vectors.chunks(of_a_language).map(mean).collect() })
    }

    /// The mean cosine of a query with the background sentences of the language that it is nearest to.
    pub(super) fn similarity(&self, query: &[f32]) -> f32 {
        self.means.iter().map(|mean| dot(mean, query)).fold(0.0, f32::max)
    }
}

/// Not scaled to length 1: the product with it is then the mean of the products.
fn mean(vectors: &[Vector]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, |vector| vector.len())];
    for vector in vectors {
        sum.iter_mut().zip(vector.iter()).for_each(|(sum, value)| *sum += value);
    }
    let share = 1.0 / vectors.len().max(1) as f32;
    sum.iter_mut().for_each(|sum| *sum *= share);
    sum
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use memgate_embed::deterministic::DeterministicEmbedder;

    #[tokio::test]
    async fn a_query_is_nearest_to_its_own_language() {
        let embedder = DeterministicEmbedder::new(512);
        let background = Background::of(&embedder).await.unwrap();
        let near =
            async |text: &str| background.similarity(&embedder.embed_query(text).await.unwrap());
        assert!(near("Bitte mach das Fenster zu.").await > 0.15);
        assert!(near("xylophone quartz").await < 0.1);
    }

    #[test]
    fn the_product_with_a_mean_is_the_mean_of_the_products() {
        let background = Background { means: vec![mean(&[[1.0, 0.0].into(), [0.0, 1.0].into()])] };
        assert!((background.similarity(&[0.6, 0.8]) - 0.7).abs() < 1e-6);
        assert!(background.similarity(&[-1.0, 0.0]).abs() < 1e-6, "never below zero");
    }
}
