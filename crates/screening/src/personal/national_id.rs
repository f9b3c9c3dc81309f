//! Detects identity, tax, social security, passport and licence numbers: by their format and check digits where
//! these are strict, else by a label before them.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    finding::{Finding, collect, pattern},
    policy::Class,
};

/// A label and a number after it.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
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
static STRICT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(\d{3}-\d{2}-\d{4}|(?i:[a-ceghj-prstw-z][a-ceghj-nprstw-z] ?\d{2} ?\d{2} ?\d{2} ?[a-d])",
        r"|(?i:[a-z]{6}\d{2}[abcdehlmprst]\d{2}[a-z]\d{3}[a-z])|[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]|\d{6}-[1-8]\d{6})\b",
    ))
});

/// Numbers whose check digit decides: Brazilian CPF, Spanish DNI and NIE, French INSEE, Chinese resident
/// number, Indian Aadhaar in groups.
static CHECKED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(\d{3}\.\d{3}\.\d{3}-\d{2}|[XYZxyz]?-?\d{7,8}-?[A-Za-z]|[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d{2} ?\d{3} ?\d{3} ?\d{2}",
        r"|\d{17}[\dXx]|[2-9]\d{3} \d{4} \d{4})\b",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let digits = |value: &str| value.bytes().filter(u8::is_ascii_digit).count();
    let mut found = Vec::new();
    collect(&LABELLED, Class::NationalId, text, |value| digits(value) >= 5, &mut found);
    collect(&STRICT, Class::NationalId, text, |_| true, &mut found);
    collect(&CHECKED, Class::NationalId, text, is_valid, &mut found);
    found
}

fn is_valid(value: &str) -> bool {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    let digits: Vec<u32> = plain.chars().filter_map(|c| c.to_digit(10)).collect();
    match (plain.len(), digits.len(), value.contains('.')) {
        (11, 11, true) => cpf(&digits),
        (15, 15, _) => insee(&plain),
        (18, 17 | 18, _) => resident(&plain),
        (12, 12, _) => verhoeff(&digits),
        (8 | 9, 7 | 8, _) => dni(&plain),
        _ => false,
    }
}

fn cpf(digits: &[u32]) -> bool {
    let check = |count: u32| {
        let sum: u32 =
            digits.iter().zip((2..=count + 1).rev()).map(|(digit, weight)| digit * weight).sum();
        sum * 10 % 11 % 10
    };
    digits.iter().any(|digit| *digit != digits[0])
        && check(9) == digits[9]
        && check(10) == digits[10]
}

/// The letter of a Spanish number is its remainder by 23.
fn dni(plain: &str) -> bool {
    let upper = plain.to_ascii_uppercase();
    let number = match upper.as_bytes().first() {
        Some(b'X') => format!("0{}", &upper[1..]),
        Some(b'Y') => format!("1{}", &upper[1..]),
        Some(b'Z') => format!("2{}", &upper[1..]),
        _ => upper,
    };
    let (digits, letter) = number.split_at(number.len() - 1);
    let index = digits.parse::<usize>().map(|number| number % 23);
    digits.len() == 8
        && index.is_ok_and(|index| letter.as_bytes() == [b"TRWAGMYFPDXBNJZSQVHLCKE"[index]])
}

fn insee(plain: &str) -> bool {
    let (number, key) = plain.split_at(13);
    let parsed = number.parse::<u64>().ok().zip(key.parse::<u64>().ok());
    parsed.is_some_and(|(number, key)| 97 - number % 97 == key)
}

/// Chinese resident number, by ISO 7064 mod 11-2.
fn resident(plain: &str) -> bool {
    let sum = plain.chars().try_fold(0, |rest: u32, c| {
        let digit = if matches!(c, 'x' | 'X') { 10 } else { c.to_digit(10)? };
        Some((rest * 2 + digit) % 11)
    });
    sum == Some(1)
}

/// The check of Aadhaar numbers: the dihedral group of order ten.
fn verhoeff(digits: &[u32]) -> bool {
    const PERMUTATION: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted = |digit: u32, times: usize| {
        (0..times % 8).fold(digit, |digit, _| PERMUTATION[digit as usize])
    };
    let multiply = |a: u32, b: u32| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let place = digits.iter().rev().enumerate();
    place.fold(0, |check, (index, digit)| multiply(check, permuted(*digit, index))) == 0
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
        ] {
            assert!(!find(text).is_empty(), "{text}");
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
        ] {
            assert!(find(text).is_empty(), "{text} {:?}", find(text));
        }
    }
}
