//! Detects identity, tax, social security, passport and licence numbers: by their format and check digits where
//! these are strict, else by a label before them.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use super::check_digits::{bsn, cpf, dni, insee, my_number, resident, snils, steuer_id, verhoeff};
use crate::{
    finding::{Finding, ascii_boundary, collect, pattern},
    policy::Class,
};

/// A label and a number after it.
static LABELLED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:\b(?:ssn|social security(?: number)?|national insurance(?: number)?|nino|nhs(?: number)?|tax (?:id|number)|tin|itin",
        r"|passport(?: (?:number|no\.?|nr\.?))?|driv(?:er|ing)(?:'s)? licen[cs]e(?: (?:number|no\.?))?|id card(?: (?:number|no\.?))?|identity (?:card|number)",
        r"|steuer-?(?:id|nummer|identifikationsnummer)|steuerliche identifikationsnummer|sozialversicherungsnummer|(?:personal)?ausweis(?:nummer)?|reisepass(?:nummer)?|führerschein(?:nummer)?",
        r"|dni|nie|nif|pasaporte|seguridad social|número de la seguridad social|numéro de sécurité sociale|sécurité sociale|passeport|permis de conduire|carte d'identité",
        r"|codice fiscale|passaporto|patente|carta d'identità|cpf|rg|cnpj|passaporte|nif|bsn|burgerservicenummer|sofinummer|paspoort(?:nummer)?|rijbewijs(?:nummer)?",
        r"|aadhaar|aadhar|pan(?: card| number)?|voter id|pesel|dowód|paszport|tc kimlik(?: no)?|medicare(?: number)?|снилс|инн|паспорт)\b",
        r"|身份证(?:号码?)?|身分證(?:字號)?|护照(?:号码?)?|マイナンバー|旅券番号|パスポート番号|免許証番号|주민등록번호|여권번호|운전면허(?:번호)?|आधार|पैन)",
        r"[^\n\d]{0,24}?([A-Za-z]{0,6}\d[A-Za-z0-9./ -]{3,22}[A-Za-z0-9])",
    ))
});

/// Formats that nothing else has. US social security, UK national insurance, Spanish DNI and NIE, Italian
/// codice fiscale, Indian PAN, Korean registration number.
static STRICT: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        ascii_boundary!(),
        r"(\d{3}-\d{2}-\d{4}|(?i:[a-ceghj-prstw-z][a-ceghj-nprstw-z] ?\d{2} ?\d{2} ?\d{2} ?[a-d])",
        r"|(?i:[a-z]{6}\d{2}[abcdehlmprst]\d{2}[a-z]\d{3}[a-z])|[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]|\d{6}-[1-8]\d{6})",
        ascii_boundary!(),
    ))
});

/// Numbers whose check digit decides: Brazilian CPF, Russian SNILS, Spanish DNI and NIE, French INSEE, Chinese resident
/// number, Indian Aadhaar and Japanese My Number in groups, German Steuer-ID in groups.
static CHECKED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        ascii_boundary!(),
        r"(\d{3}\.\d{3}\.\d{3}-\d{2}|\d{3}-\d{3}-\d{3}[ -]\d{2}|[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d{2} ?\d{3} ?\d{3} ?\d{2}",
        r"|\d{17}[\dXx]|\d{4} \d{4} \d{4}|[1-9]\d \d{3} \d{3} \d{3}|[XYZxyz]?-?\d{7,8}-?[A-Za-z])",
        ascii_boundary!(),
    ))
});

/// Eleven or nine digits with a check digit. By chance one of ten or eleven numbers has it, so words of the office that
/// issues the number must be in the text.
static PLAIN: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        ascii_boundary!(),
        r"([1-9]\d{10}|\d{9}|\d{4}[.-]\d{2}[.-]\d{3})",
        ascii_boundary!(),
    ))
});

/// Words of tax, health and civil offices.
static OFFICE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:finanzamt|steuer\p{L}*|lohnsteuer\p{L}*|elster|gemeente|zorg\p{L}*|burger\p{L}*|belasting\p{L}*|digid|duo|bsn",
        r"|huisarts|uwv|werkgever|salarisadministratie)\b",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    collect(&LABELLED, Class::NationalId, text, |value| digits(value).len() >= 5, &mut found);
    collect(&STRICT, Class::NationalId, text, |_| true, &mut found);
    collect(&CHECKED, Class::NationalId, text, is_valid, &mut found);
    if OFFICE.is_match(text) {
        collect(&PLAIN, Class::NationalId, text, is_valid_at_an_office, &mut found);
    }
    found
}

/// Numbers are computed with `[0-9]` alone: a value with digits of another script, which `\d` matches, has none.
fn is_valid(value: &str) -> bool {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    let digits = digits(value);
    let eleven = || <&[u32; 11]>::try_from(&digits[..]).ok();
    match (plain.len(), digits.len(), value.contains('.')) {
        (11, 11, true) => eleven().is_some_and(cpf),
        (11, 11, _) if value.contains('-') => eleven().is_some_and(snils),
        (11, 11, _) => eleven().is_some_and(steuer_id),
        (15, 15, _) => insee(&plain),
        (18, 17 | 18, _) => resident(&plain),
        (12, 12, _) => {
            <&[u32; 12]>::try_from(&digits[..]).is_ok_and(my_number)
                || (digits[0] >= 2 && verhoeff(&digits))
        }
        (8 | 9, 7 | 8, _) => dni(&plain),
        _ => false,
    }
}

fn is_valid_at_an_office(value: &str) -> bool {
    let digits = digits(value);
    <&[u32; 9]>::try_from(&digits[..]).is_ok_and(bsn)
        || <&[u32; 11]>::try_from(&digits[..]).is_ok_and(steuer_id)
}

fn digits(value: &str) -> Vec<u32> {
    value.chars().filter_map(|c| c.to_digit(10)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_label_format_or_check_digit() {
        for text in [
            "my SSN is 078-05-1120",
            "NI number QQ 12 34 56 C, no: AB 12 34 56 C",
            "12345678Z",
            "111.444.777-35",
            "11010519491231002X",
            "RSSMRA85T10A562S",
            "passport number C01X00T47",
            "Meine Steuer-ID lautet 86 095 742 719",
            "2341 2341 2346",
            "我报的是11010519491231002X",
            "Das Finanzamt kennt mich als 86 095 742 719",
            "steht auf der Lohnsteuerbescheinigung: 86095742719",
            "De gemeente heeft 111222333 van mij",
            "я назвал 112-233-445 95",
            "役所で1234 5678 9018って書いた",
        ] {
            assert!(!find(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn digits_of_another_script_are_no_number_to_compute_with() {
        let offices = ["De gemeente kent me als", "Das Finanzamt kennt mich als", "I told digid"];
        let values = [
            "12345678\u{669}x",
            "1\u{FF12}\u{FF13}\u{FF14}\u{FF15}\u{FF16}\u{FF17}\u{FF18}\u{FF19}\u{FF10}1",
            "\u{967}\u{968}\u{969}456789",
            "1234.56.78\u{6F9}",
            "8609574271\u{0E59}",
            "1234567\u{966}-Z",
            "111.444.777-3\u{9EB}",
            "234\u{661} 2341 2346",
        ];
        for text in offices.iter().flat_map(|it| values.map(|value| format!("{it} {value}."))) {
            assert!(find(&text).is_empty(), "{text} {:?}", find(&text));
        }
    }

    #[test]
    fn other_numbers_are_kept() {
        for text in [
            "12345678A",
            "111.444.777-36",
            "call me at 555-0147",
            "my passport expires in 2029",
            "the flight is LH1234 on 2026-05-01",
            "I ran 10 km in 52:30",
            "De gemeente heeft 111222334 van mij",
            "order 111222333 has shipped",
            "я назвал 112-233-445 96",
            "1234 5678 9017",
        ] {
            assert!(find(text).is_empty(), "{text} {:?}", find(text));
        }
    }
}
