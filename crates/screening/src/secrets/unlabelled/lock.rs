//! Detects codes by their form beside a lock, a gate or an alarm, in digits, in words and as turns of a dial: "the gate
//! opens with 20C5", "press two eight eight one", "left 12, right 31, left 7".

use std::{ops::Range, sync::LazyLock};

use memgate_text::rules::pattern::Pattern;

use super::{
    near::{NEAR, around, is_near},
    spelled,
};
use crate::{
    finding::{Finding, pattern},
    policy::Class,
};

/// A number that may be a code.
static NUMBER: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?:^|[^A-Za-z0-9_.,:/€$£¥+#*-])(\d{2}-\d{2}-\d{2}|\d{3}[ -]\d{3}|\d{3,8})(?:[^A-Za-z0-9.,:/%€$£¥*#-]|[.,:](?:\s|$)|$)",
    )
});

/// A form that only codes have: keys of a keypad among the digits, single digits, one letter among digits.
static FORM: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:^|[^A-Za-z0-9_.,:/€$£¥+#*-])([#*]?\d{1,6}(?:[#*]\d{1,6})+[#*]?|[#*]\d{3,8}[#*]?|\d{3,8}[#*]|\d(?:-\d){3,7}",
        r"|\d{1,4}(?:[A-GI-WYZa-gi-wyz]|\p{Cyrillic})\d{1,6}|[A-Za-z]\d{3,6})(?:[^A-Za-z0-9/%€$£¥*#-]|$)",
    ))
});

/// Things that a code opens and that have no other number.
static LOCK: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:padlocks?|lockers?|lockbox|key ?(?:box|safe)|keypads?|star key|(?:bike|bicycle|suitcase|luggage|door|shed)[ -]?lock|suitcase|unlock\w*",
        r"|(?:the|my|our|his|her|their|hotel|gun|wall|office|'s) (?:\w+ )?safe",
        r"|\p{L}*schloss|spind\w*|schließf[aä]ch\w*|\p{L}*tresors?|tastenfeld|\p{L}*koffers?|entsperr\w*|haustür",
        r"|\p{L}*kluis(?:je)?|(?:hang|fiets|cijfer|deur)slot|sleutelkastje|ontgrendel\w*",
        r"|casiers?|cadenas|coffre(?:-fort)?|digicode|valise|déverrouill\w*|antivol|boîte à clés",
        r"|taquilla|casillero|candado|caja fuerte|maleta|desbloque\w*|armadiett[oi]|lucchetto|cassaforte|valigia|sblocc\w*",
        r"|armário d[ao]|cadeado|cofre|fechadura|desbloqu\w*|sejf\w*|kłódk\w*|domofon\w*|kilit\w*|kasa\w*|tijori|taala)\b",
        r"|шкафчик|сейф|замо?к|домофон|чемодан|разблокир|ячейк|الخزنة|القفل|الرقم السري|保险[柜箱]|保險[櫃箱]|锁|鎖|[储儲]物柜|柜子|门禁|門禁|行李箱|取钱",
        r"|ロッカー|金庫|宅配ボックス|オートロック|南京錠|スーツケース|자물쇠|금고|사물함|도어락|현관|ताल[ाे]|लॉकर|तिजोरी",
    ))
});

/// Doors, gates and alarms, which have other numbers, too.
static DOOR: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:doors?|gates?|alarms?|intercom|entrance|\p{L}*tür|\p{L}*tor|alarm\w*|klingel|eingang|\p{L}*deur|poort|hek",
        r"|porte|portail|alarme|interphone|entrée|puerta|portal|portón|alarma|telefonillo|porta|portone|cancell(?:o|etto)|l['’]allarme|allarme|citofono",
        r"|portão|portao|portaria|interfone|gate|darwaza)\b|двер|ворот|калитк|сигнализац|подъезд|[门門]|[报報]警|警[报報]",
        r"|玄関|ドア|警備|アラーム|エントランス|대문|문[은을이]|경비|경보|दरवाज़|गेट|अलार्म",
    ))
});

/// Words for entering a code.
static ENTERED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:press|punch|type|dial|key in|opens? with|drück\w*|tipp\w*|eingeb\w*|auf|druk\w*|toets\w*|open met|tape[rz]?|compose[rz]?|appu\w*|s['’]ouvre",
        r"|marca\w*|pulsa\w*|teclea\w*|se abre|premi|digit\w*|si apre|apert\w*|abre|khul\w*|daba\w*)\b",
        r"|набира|набер|нажм|введ|открыва|按|[输輸]|押|누르|눌러|열[리려어]|दबा|डाल|खुल",
    ))
});

/// Telephones, which a code opens and which have other numbers.
static PHONE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:i?phone|mobile|ipad|tablet|handy|telefoon|téléphone|portable|móvil|celular|cellulare|telefono)\b|телефон|スマホ|携帯|手机|手機|휴대폰|핸드폰|फ़ोन|फोन|मोबाइल",
    )
});

/// Words for what a code does to it.
static OPENED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:opens?|unlocks?|aufgeht|s['’]ouvre|se abre|si apre|abre|khul\w*)\b|открыва|開|打开|解锁|解鎖|解除|열[리려어]|खुल",
    )
});

/// Other uses of a code in words.
static CODE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:pin|code|código|codice|şifre\w*)\b|暗証|番号|密码|비밀번호|пин|код|पिन|कोड")
});

/// Three numbers with words between them: the turns of a dial.
static TURNS: LazyLock<Pattern> = LazyLock::new(|| {
    let gap = r"[^\d.!?。\n]{0,14}?\p{L}[^\d.!?。\n]{0,14}?";
    pattern(&format!(
        r"(?:^|[^\d])((?:[\p{{L}}\p{{M}}]+ ?)?\b\d{{1,2}}{gap}\d{{1,2}}{gap}\d{{1,2}})(?:[^\d]|$)|([\p{{L}}\p{{M}}]{{1,3}}\d{{1,2}}{gap}\d{{1,2}}{gap}\d{{1,2}})(?:[^\d]|$)"
    ))
});

/// Words for directions and for order.
static ORDER: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:left|right|then|first|links|rechts|dann|erst|dan|eerst|gauche|droite|puis|ensuite|d['’]abord|izquierda|derecha|luego|primero",
        r"|sinistra|destra|poi|prima|esquerda|direita|depois|primeiro|phir|pehle)\b|лев|прав|потом|сначала|затем|[左右先再]|然后|次に|왼쪽|오른쪽|먼저|다음|फिर|पहले|बाएँ|दाएँ",
    ))
});

/// Words for numbers that are no codes.
static COUNTED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^\s*(?:(?:%|km|kg|g|m|cm|mm|ml|l|h|w|kw|min|uhr|am|pm|euro?s?|eur|usd|dollars?|pounds?|years?|days?|weeks?|months?|people|jahre|tage|leute|ans|años|anos|anni|jaar|lat|лет",
        r"|pages?|seiten|pieces|times|steps|li(?:t|tr)[a-z]*|reais|rupees?|rupaye|°)(?:[^\p{L}]|$)|[年月日円元人个個本度]|원|살|руб|रुप)",
    ))
});

/// A number directly after a lock is the lock's own: "locker 212".
static OWN: LazyLock<Pattern> = LazyLock::new(|| pattern(r"(?i)\p{L}\s$"));

/// A number with one of these before it is that of a place: "my locker is number 114".
static PLACE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:^|[^\p{L}])(?:n[ro]\.?|n°|nº|№|number|nummer|numéro|número|numero|room|zimmer|raum|kamer|chambre|habitación|stanza|quarto",
        r"|комнат\p{L}*|номер)\s?$|号室|房间?$",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut take = |span: Range<usize>| found.push(Finding::bare(span, Class::Code));
    let locked = |span: &Range<usize>| is_near(&LOCK, text, span);
    let beside = |span: &Range<usize>| locked(span) || is_near(&DOOR, text, span);
    let counted = |span: &Range<usize>| COUNTED.is_match(&text[span.end..]);
    for number in values(&NUMBER, text) {
        let year = matches!(text[number.clone()].parse::<u32>(), Ok(1900..=2100));
        let entered = || {
            let opens = |thing, how| is_near(thing, text, &number) && is_near(how, text, &number);
            number.len() >= 4 && (opens(&DOOR, &ENTERED) || opens(&PHONE, &OPENED))
        };
        if !year && !counted(&number) && (locked(&number) && !is_own(text, &number) || entered()) {
            take(number);
        }
    }
    values(&FORM, text).filter(|it| beside(it) && !counted(it)).for_each(&mut take);
    let ordered = |span: &Range<usize>| {
        let (before, _) = around(text, span, 12);
        ORDER.is_match(&text[span.clone()]) || ORDER.is_match(before)
    };
    // The lock may stand directly before the turns, without a space.
    let turned = |span: &Range<usize>| {
        let start = text.floor_char_boundary(span.start.saturating_sub(NEAR));
        locked(span) || LOCK.is_match(&text[start..span.end])
    };
    values(&TURNS, text).filter(|it| turned(it) && ordered(it)).for_each(&mut take);
    let named = |span: &Range<usize>| beside(span) || is_near(&CODE, text, span);
    spelled::sequences(text).filter(named).for_each(&mut take);
    spelled::long_sequences(text).for_each(&mut take);
    found
}

/// Whether a number is the name of the lock before it. A code mostly has four digits or more.
fn is_own(text: &str, number: &Range<usize>) -> bool {
    let (before, _) = around(text, number, 40);
    if PLACE.is_match(before) || number.len() > 3 {
        return PLACE.is_match(before);
    }
    let Some(own) = OWN.find(before) else { return false };
    // Only the word directly before the number counts.
    let lock = &before[..own.start + before[own.start..].chars().next().map_or(0, char::len_utf8)];
    LOCK.find_iter(lock).last().is_some_and(|it| it.end == lock.len())
}

/// The value of each match.
fn values<'a>(form: &'a Pattern, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    form.values(text).map(|it| it.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|it| &text[it.span]).collect()
    }

    #[test]
    fn codes_are_found_by_their_form_beside_a_lock_a_gate_or_an_alarm() {
        for (text, value) in [
            ("the gate keypad wants 4411", "4411"),
            ("der Koffer geht mit 438 auf", "438"),
            ("Can you keep the bike lock in mind? it's 0-9-3-6", "0-9-3-6"),
            ("Die Tür vom Büro: 71#34 und dann drücken", "71#34"),
            ("il cancello della nonna: 19A40", "19A40"),
            ("记住楼下大门按1905#就开", "1905#"),
            ("mi taquilla del gimnasio es 9043", "9043"),
            ("мой шкафчик в бассейне 5820", "5820"),
            ("At mum's the alarm wants two eight eight one", "two eight eight one"),
            ("जिम वाला मेरा लॉकर 5316 है", "5316"),
            ("दादी का फ़ोन 5800 से खुलता है", "5800"),
            ("暗証番号はなな、ろく、さん、ごです", "なな、ろく、さん、ご"),
            ("店里的报警器是七二九零再按确认", "七二九零"),
            ("The shed padlock goes left 12, right 31, left 7", "left 12, right 31, left 7"),
            (
                "o cofre abre com primeiro 18, depois 40, depois 3",
                "primeiro 18, depois 40, depois 3",
            ),
            ("保险箱先左8再右20再左3", "箱先左8再右20再左3"),
            ("아버지 금고는 오른쪽 31, 왼쪽 7, 오른쪽 54", "오른쪽 31, 왼쪽 7, 오른쪽 54"),
        ] {
            assert!(values(text).contains(&value), "{text} {:?}", values(text));
        }
    }

    #[test]
    fn other_numbers_beside_a_lock_stay() {
        for text in [
            "the suitcase weighs 438 kg",
            "my locker 212 is at the end of the hall",
            "we live behind door 1204",
            "the alarm goes off at 6:30",
            "the gate is B22 and the flight is LH1234",
            "we bought the safe in 2019",
            "Mein Spind ist Nummer 114.",
            "My locker is in room 4410.",
            "the locker room is open from 9 to 17, and on Sundays from 10",
            "the door is 30*85 cm",
            "O portão abre às 6h15 e fecha às 22h40.",
            "लॉकर का सालाना किराया 2500 रुपये है।",
        ] {
            assert!(values(text).is_empty(), "{text} {:?}", values(text));
        }
    }
}
