//! Function words (stop words).
//!
//! In a large collection their frequency shows them; an owner's few memories are too small a
//! sample, so they are listed here, normalised like tokens.

use std::{collections::HashSet, sync::LazyLock};

static WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| LISTS.iter().flat_map(|list| list.split_whitespace()).collect());

/// English, German, French, Spanish, Portuguese, Hindi.
const LISTS: [&str; 6] = [
    "a about again all also am an and any are as at be because been but by can could did do does \
     doing done for from had has have having he her here hers him his how i if in into is it its \
     just ll me mine my myself no nor not now of off on once only or our ours out over own please \
     re s same she should so some such t than that the their theirs them then there these they \
     this those to too up us ve very was we were what whats when where which while who whom whose \
     why will with would you your yours im dont didnt doesnt isnt wasnt cant wont ive ill id tell \
     again remind",
    "aber als am an auch auf aus bei bin bist da das dass dein deine deinen deiner dem den der des \
     die dir doch du ein eine einem einen einer eines er es euch fur hab habe haben hat hatte ich \
     ihr ihre im in ist ja kann kein keine man mein meine meinem meinen meiner meines mich mir mit \
     nach nicht noch nun nur ob oder sein seine sich sie sind so uber um und uns unser unsere vom \
     von vor war waren warum was welche welchen welcher welches wenn wer wie wieder wir wird wo \
     woher wohin zu zum zur bitte",
    "ai as au aux avec avons avez c ce cela ces cette comme comment d dans de des du elle elles en \
     est et etait ete etre eu il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne \
     nos notre nous on ont ou par pas pour pourquoi qu quand que quel quelle quelles quels qui s sa \
     sans se ses si son sont suis sur t ta te tes toi ton tu un une vos votre vous y",
    "a al ante aquel como con cual cuales cuando cuanto de del desde donde el ella ellas ellos en \
     entre era es esa ese eso esta estan estas este esto estos estoy fue ha hay he la las le les lo \
     los mas me mi mia mio mis muy no nos nosotros nuestra nuestro o para pero por porque que quien \
     se ser si sin sobre son soy su sus tambien te tengo ti tiene todo tu tus un una unas unos y ya \
     yo",
    "a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta \
     estao estava este estou eu foi ha isso isto ja lhe mais mas me meu meus minha minhas muito na \
     nao nas no nos nossa nosso num numa o onde os ou para pela pelo por porque quais qual quando \
     que quem se ser seu seus sua suas tambem te tem tenho teu tu tua um uma umas uns voce voces",
    "और का की के को है हैं था थी थे हूँ हूं में मैं मुझे मुझको मेरा मेरी मेरे हम हमारा हमारी हमारे तुम आप आपका आपकी \
     आपके से ने पर यह ये वह वे वो इस उस कि क्या क्यों कब कहाँ कहां कौन कैसे कितना कितने कितनी कौनसा तो भी ही हो होता \
     होती था नहीं ना एक लिए साथ कुछ जो रहा रही रहे गया गई गए",
];

/// Chinese function characters.
const HAN: &str =
    "的了是在我你您他她它们吗呢吧啊这那哪什么怎和与或就也都很有没不会要把被给个着过还";

/// Whether a normalised word is a function word.
pub(super) fn is_light(word: &str) -> bool {
    WORDS.contains(word)
}

/// Whether one or two characters of an unspaced script are grammatical: they contain a Chinese
/// function character, or are hiragana only.
pub(super) fn is_light_gram(gram: &str) -> bool {
    gram.chars().any(|c| HAN.contains(c))
        || gram.chars().all(|c| matches!(c, '\u{3041}'..='\u{309F}'))
}
