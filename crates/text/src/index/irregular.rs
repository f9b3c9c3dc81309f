//! Irregular English forms that a stemmer does not unify, such as "went" and "go".

use std::{collections::HashMap, sync::LazyLock};

/// A base word and its forms, separated by `;`. Function words are in `stop` instead.
const FORMS: &str = "go went gone; buy bought; run ran; take took taken; get got gotten; make made; \
    see saw seen; come came; give gave given; find found; think thought; tell told; become became; \
    leave left; feel felt; bring brought; begin began begun; keep kept; hold held; \
    write wrote written; stand stood; hear heard; mean meant; meet met; pay paid; sit sat; \
    speak spoke spoken; lead led; grow grew grown; lose lost; fall fell fallen; send sent; \
    build built; understand understood; draw drew drawn; break broke broken; spend spent; \
    rise rose risen; drive drove driven; wear wore worn; choose chose chosen; eat ate eaten; \
    drink drank drunk; sleep slept; swim swam swum; sing sang sung; ride rode ridden; \
    fly flew flown; teach taught; catch caught; fight fought; win won; sell sold; \
    throw threw thrown; know knew known; show shown; forget forgot forgotten; hide hid hidden; \
    bite bit bitten; steal stole stolen; shake shook shaken; wake woke woken; \
    freeze froze frozen; lend lent; dig dug; feed fed; shoot shot; stick stuck; strike struck; \
    swear swore sworn; tear tore torn; seek sought; deal dealt; dream dreamt; learn learnt; \
    burn burnt; hang hung; bleed bled; ring rang rung; shine shone; shrink shrank shrunk; \
    sink sank sunk; slide slid; spin spun; sweep swept; weave wove woven; weep wept; \
    child children; person people; man men; woman women; foot feet; tooth teeth; mouse mice; \
    life lives; wife wives; knife knives; leaf leaves; shelf shelves; half halves; wolf wolves";

static WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let groups = FORMS.split(';').map(str::split_whitespace);
    let pairs = groups.filter_map(|mut forms| Some((forms.next()?, forms)));
    pairs.flat_map(|(word, forms)| forms.map(move |form| (form, word))).collect()
});

/// The base word of a lower-case form; most words are their own.
pub(super) fn word_of(form: &str) -> &str {
    WORDS.get(form).copied().unwrap_or(form)
}
