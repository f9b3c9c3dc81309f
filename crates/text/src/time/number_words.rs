//! The words of time expressions: numbers, and what is counted.

/// What a time expression counts or names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    Day,
    Week,
    Weekend,
    Month,
    Year,
    /// Spring is 0.
    Season(i8),
    /// Monday is 0.
    Weekday(i32),
}

/// Without accents, as [`fold`] leaves them; the languages are English, German, Spanish, French, Portuguese, Hindi in
/// both scripts, Chinese and Japanese.
const THINGS: [(Thing, &str); 16] = [
    (Thing::Day, "day days tag tage tagen dia dias jour jours दिन दिनों din 天 日"),
    (
        Thing::Week,
        "week weeks woche wochen semana semanas semaine semaines हफ्ते हफ़्ते हफ्ता हफ़्ता सप्ताह hafte hafta 周 週 週間 星期 礼拜 禮拜",
    ),
    (Thing::Weekend, "weekend weekends wochenende wochenenden finde end 周末 週末"),
    (
        Thing::Month,
        "month months monat monate monaten monats mes meses mois महीने महीना महीनों माह mahine mahina 月",
    ),
    (
        Thing::Year,
        "year years jahr jahre jahren jahres ano anos an ans annee annees साल सालों वर्ष saal sal 年",
    ),
    (Thing::Season(0), "spring fruhling fruhjahr primavera printemps वसंत 春"),
    (Thing::Season(1), "summer sommer sommers verano verao ete गर्मी गर्मियों garmi garmiyon 夏"),
    (Thing::Season(2), "autumn fall herbst otono outono automne पतझड़ शरद 秋"),
    (Thing::Season(3), "winter winters invierno inverno hiver सर्दी सर्दियों जाड़े sardi sardiyon 冬"),
    (Thing::Weekday(0), "monday montag lunes lundi segunda सोमवार"),
    (Thing::Weekday(1), "tuesday dienstag martes mardi terca मंगलवार"),
    (Thing::Weekday(2), "wednesday mittwoch miercoles mercredi quarta बुधवार"),
    (Thing::Weekday(3), "thursday donnerstag jueves jeudi quinta गुरुवार"),
    (Thing::Weekday(4), "friday freitag viernes vendredi sexta शुक्रवार"),
    (Thing::Weekday(5), "saturday samstag sonnabend sabado samedi शनिवार"),
    (Thing::Weekday(6), "sunday sonntag domingo dimanche रविवार"),
];

/// From one on.
const NUMBERS: [&str; 12] = [
    "a an one ein eine einem einer einen un una uno une um uma एक ek 一",
    "two couple zwei dos deux dois duas दो do 二 两 兩",
    "three few drei tres trois तीन teen 三",
    "four vier cuatro quatre quatro चार char 四",
    "five funf cinco cinq पाँच पांच paanch 五",
    "six sechs seis छह छः chhah 六",
    "seven sieben siete sept sete सात saat 七",
    "eight acht ocho huit oito आठ aath 八",
    "nine neun nueve neuf nove नौ nau 九",
    "ten zehn diez dix dez दस das 十",
    "eleven elf once onze ग्यारह 十一",
    "twelve zwolf doce douze doze बारह 十二",
];

/// What a word counts or names.
pub(crate) fn thing(word: &str) -> Option<Thing> {
    let word = fold(word);
    let names = |names: &str| names.split(' ').any(|name| name == word);
    THINGS.iter().find(|(_, words)| names(words)).map(|(thing, _)| *thing)
}

/// The number that digits or a word stand for, from 1 to 999.
pub(crate) fn number(word: &str) -> Option<i32> {
    let word = fold(word);
    if let Ok(number) = word.parse::<i32>() {
        return (1..1_000).contains(&number).then_some(number);
    }
    let place = NUMBERS.iter().position(|names| names.split(' ').any(|name| name == word))?;
    i32::try_from(place + 1).ok()
}

/// Lower case, without the accents of the languages above, and with the digits that numbers are read by.
pub(crate) fn fold(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).map(without_accent).collect()
}

fn without_accent(c: char) -> char {
    match c {
        'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
        'é' | 'è' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ú' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        '०'..='९' => digit(c, '०'),
        '０'..='９' => digit(c, '０'),
        other => other,
    }
}

fn digit(c: char, zero: char) -> char {
    char::from_digit(u32::from(c) - u32::from(zero), 10).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_whatever_their_case_and_accents() {
        assert_eq!(thing("Été"), Some(Thing::Season(1)));
        assert_eq!(thing("AÑOS"), Some(Thing::Year));
        assert_eq!(thing("word"), None);
        assert_eq!(
            (number("fünf"), number("12"), number("0"), number("many")),
            (Some(5), Some(12), None, None)
        );
    }
}
