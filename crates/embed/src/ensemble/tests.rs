use crate::{Run, deterministic::DeterministicEmbedder, dot, ensemble::*};

/// The state of a model.
#[derive(Clone, Copy, PartialEq)]
enum Is {
    Well,
    Down,
    /// Never answers.
    Hung,
    /// Rejects every text.
    Picky,
    /// Its dimension differs from the configuration.
    OfAnotherSize,
}

struct Model {
    inner: DeterministicEmbedder,
    space: Space,
    is: Is,
}

impl Model {
    async fn trouble(&self) -> Result<(), EmbedError> {
        match self.is {
            Is::Well => Ok(()),
            Is::Down => Err(EmbedError::Unavailable("no connection".into())),
            Is::Hung => std::future::pending().await,
            Is::Picky => Err(EmbedError::Refused("status 400".into())),
            Is::OfAnotherSize => {
                let model = self.space.model.clone();
                Err(EmbedError::Dimension { model, configured: 1, found: 2 })
            }
        }
    }
}

#[async_trait]
impl Embedder for Model {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.trouble().await?;
        self.inner.embed_query(text).await
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        self.trouble().await?;
        self.inner.embed_passages(texts).await
    }
}

fn model(name: &str, dimension: usize, is: Is) -> Arc<dyn Embedder> {
    let inner = DeterministicEmbedder::new(dimension);
    let space = Space { model: name.into(), run: Run::Remote, ..inner.space().clone() };
    Arc::new(Model { inner, space, is })
}

/// Dimensions 5, 7 and 11, which hash the same words differently; weights 1, 2 and 1.
fn three(is: [Is; 3]) -> EnsembleEmbedder {
    EnsembleEmbedder::new(vec![
        (model("a", 5, is[0]), 1.0),
        (model("b", 7, is[1]), 2.0),
        (model("c", 11, is[2]), 1.0),
    ])
}

const WELL: [Is; 3] = [Is::Well; 3];
const TEXTS: [&str; 3] = ["I keep bees on the roof", "what do you keep up there", "bees"];

fn texts() -> Vec<String> {
    TEXTS.map(str::to_owned).to_vec()
}

/// The cosine of two texts by one of the three.
async fn by_one(at: usize, question: &str, passage: &str) -> f32 {
    let one = DeterministicEmbedder::new([5, 7, 11][at]);
    let passage = one.embed_passages(vec![passage.to_owned()]).await.unwrap().remove(0);
    dot(&one.embed_query(question).await.unwrap(), &passage)
}

async fn reading(embedder: &dyn Embedder, text: &str) -> Result<Reading, EmbedError> {
    embedder.read_query_by(text, Instant::now() + Duration::from_millis(20)).await
}

fn is_near(a: f32, b: f32) -> bool {
    (a - b).abs() < 1e-5
}

#[tokio::test]
async fn the_cosine_is_the_weighted_mean_of_the_models_cosines() {
    let joined = three(WELL);
    let passages = joined.embed_passages(texts()).await.unwrap();
    for question in TEXTS {
        let vector = joined.embed_query(question).await.unwrap();
        assert!(is_near(dot(&vector, &vector), 1.0));
        assert_eq!(vector.len(), joined.space().dimension);
        for (passage, text) in passages.iter().zip(TEXTS) {
            let [a, b, c] = [0, 1, 2].map(async |at| by_one(at, question, text).await);
            let (a, b, c) = tokio::join!(a, b, c);
            let (mean, joined) = ((a + 2.0 * b + c) / 4.0, dot(&vector, passage));
            assert!(is_near(joined, mean), "{question} / {text}: {joined} is not {mean}");
        }
        let whole = Reading::whole(vector, None);
        assert_eq!(reading(&joined, question).await, Ok(whole), "nothing is missing");
    }
}

#[tokio::test]
async fn passages_and_models_keep_their_order() {
    let joined = three(WELL);
    let together = joined.embed_passages(texts()).await.unwrap();
    for (text, vector) in TEXTS.iter().zip(&together) {
        let alone = joined.embed_passages(vec![(*text).to_owned()]).await.unwrap();
        assert_eq!(*vector, alone[0], "{text}");
    }
    for (name, dimension, share) in [("a", 5, 0.25_f32), ("b", 7, 0.5), ("c", 11, 0.25)] {
        let place = joined.space().place_of(|space| space.model == name).unwrap();
        let own = DeterministicEmbedder::new(dimension).embed_query(TEXTS[0]).await.unwrap();
        let part = together[0][place].iter();
        assert!(part.zip(own.iter()).all(|(a, b)| is_near(*a, share.sqrt() * b)), "{name}");
    }
    assert_eq!(joined.embed_passages(Vec::new()).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_query_uses_the_models_that_answer() {
    let passages = three(WELL).embed_passages(texts()).await.unwrap();
    for is in [Is::Down, Is::Hung, Is::Picky] {
        let joined = three([Is::Well, is, Is::Well]);
        let Reading { vector, partial, .. } = reading(&joined, TEXTS[1]).await.unwrap();
        let Partial { share, missing } = partial.unwrap();
        let names: Vec<_> = missing.iter().map(|it| it.model.as_str()).collect();
        assert_eq!((names.as_slice(), share), (["b"].as_slice(), 0.5));
        assert!(is_near(dot(&vector, &vector), 1.0));
        for (passage, text) in passages.iter().zip(TEXTS) {
            let (a, c) = (by_one(0, TEXTS[1], text).await, by_one(2, TEXTS[1], text).await);
            let found = dot(&vector, passage) / share.sqrt();
            assert!(is_near(found, f32::midpoint(a, c)), "{text}: {found} of {a} and {c}");
        }
    }
}

#[tokio::test]
async fn one_model_of_an_ensemble_embeds_queries_alone_in_the_same_space() {
    let passages = three(WELL).embed_passages(texts()).await.unwrap();
    let all: Arc<dyn Embedder> = Arc::new(three([Is::Down, Is::Well, Is::Hung]));
    assert_eq!(crate::model_names(all.as_ref()), ["a", "b", "c"]);
    let only = only_model(&all, "b").unwrap();
    assert_eq!(only.space(), all.space());
    let Reading { vector, partial, .. } = reading(only.as_ref(), TEXTS[1]).await.unwrap();
    assert_eq!(partial, Some(Partial { share: 0.5, missing: Vec::new() }), "nobody else is asked");
    for (passage, text) in passages.iter().zip(TEXTS) {
        let (found, alone) =
            (dot(&vector, passage) / 0.5_f32.sqrt(), by_one(1, TEXTS[1], text).await);
        assert!(is_near(found, alone), "{text}: {found} is not {alone}");
    }
    let down = only_model(&all, "a").unwrap().embed_query("bees").await;
    assert_eq!(down, Err(EmbedError::Unavailable("no connection".into())));
    assert!(only_model(&all, "d").is_none());
    let single = model("a", 5, Is::Well);
    assert_eq!(crate::model_names(single.as_ref()), ["a"]);
    assert!(only_model(&single, "a").is_some() && only_model(&single, "b").is_none());
}

#[tokio::test]
async fn a_hanging_model_is_awaited_until_the_deadline() {
    let joined = three([Is::Well, Is::Well, Is::Hung]);
    let until = Instant::now() + Duration::from_millis(20);
    let reading = joined.read_query_by("bees", until).await.unwrap();
    assert!(Instant::now() >= until);
    let partial = reading.partial.unwrap();
    assert_eq!(partial.missing, [Missing { model: "c".into(), error: EmbedError::Late }]);
}

#[tokio::test]
async fn a_query_fails_if_all_models_fail() {
    let down = reading(&three([Is::Down; 3]), "bees").await.unwrap_err().to_string();
    assert_eq!(down, "the embedding server is unavailable: a: no connection");
    assert_eq!(reading(&three([Is::Hung; 3]), "bees").await, Err(EmbedError::Late));
}

#[tokio::test]
async fn a_passage_fails_if_one_model_fails_and_the_error_names_it() {
    let error = async |is| three(is).embed_passages(texts()).await.unwrap_err();
    let down = error([Is::Well, Is::Down, Is::Well]).await;
    assert_eq!(down.to_string(), "the embedding server is unavailable: b: no connection");
    // While a model is unavailable no text is to blame: all are retried later.
    assert_eq!(error([Is::Picky, Is::Down, Is::Well]).await, down);
    assert!(error([Is::Picky, Is::Well, Is::Well]).await.may_be_the_text());
    let whole = three([Is::Well, Is::Down, Is::Well]).embed_query("bees").await;
    assert_eq!(whole, Err(down), "who asks for a whole vector gets none");
}

#[tokio::test]
async fn the_check_lists_the_failing_models() {
    let check = async |is| three(is).check().await.map_err(|error| error.to_string());
    assert_eq!(check(WELL).await, Ok(()));
    let one = check([Is::Well, Is::Hung, Is::Well]).await.unwrap_err();
    assert_eq!(one, "the embedding server is unavailable: b: no response within 1.5s");
    let two = check([Is::Down, Is::Well, Is::Down]).await.unwrap_err();
    assert!(two.contains("a: no connection; ") && two.contains("c: no connection"), "{two}");
    // Only a changed configuration fixes this, so it comes before temporary failures.
    let size = three([Is::Down, Is::Well, Is::OfAnotherSize]).check().await;
    assert!(matches!(size, Err(EmbedError::Dimension { .. })));
}

#[tokio::test]
async fn a_member_can_be_used_alone() {
    let joined = three(WELL);
    let b = crate::model_of(&joined, |space| space.model == "b").unwrap();
    assert_eq!(b.embed_query("bees").await.unwrap().len(), 7);
    assert!(crate::model_of(&joined, |space| space.model == "d").is_none());
    let itself = crate::model_of(b, |space| space.model == "b").unwrap();
    assert_eq!(itself.space(), b.space());
}
