//! Check digits of national numbers. The types say how many digits a number has; a text of another length has none.

pub(super) fn cpf(digits: &[u32; 11]) -> bool {
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
pub(super) fn dni(plain: &str) -> bool {
    let upper = plain.to_ascii_uppercase();
    let number = match upper.as_bytes().first() {
        Some(b'X') => format!("0{}", &upper[1..]),
        Some(b'Y') => format!("1{}", &upper[1..]),
        Some(b'Z') => format!("2{}", &upper[1..]),
        _ => upper,
    };
    let Some((digits, letter)) = number.split_at_checked(8) else { return false };
    let index = digits.parse::<usize>().map(|number| number % 23);
    index.is_ok_and(|index| letter.as_bytes() == [b"TRWAGMYFPDXBNJZSQVHLCKE"[index]])
}

pub(super) fn insee(plain: &str) -> bool {
    let Some((number, key)) = plain.split_at_checked(13) else { return false };
    let parsed = number.parse::<u64>().ok().zip(key.parse::<u64>().ok());
    parsed.is_some_and(|(number, key)| 97 - number % 97 == key)
}

/// Chinese resident number, by ISO 7064 mod 11-2.
pub(super) fn resident(plain: &str) -> bool {
    let sum = plain.chars().try_fold(0, |rest: u32, c| {
        let digit = if matches!(c, 'x' | 'X') { 10 } else { c.to_digit(10)? };
        Some((rest * 2 + digit) % 11)
    });
    sum == Some(1)
}

/// The check of Aadhaar numbers: the dihedral group of order ten.
pub(super) fn verhoeff(digits: &[u32]) -> bool {
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

/// Dutch BSN: the weighted sum of its nine digits is a multiple of eleven.
pub(super) fn bsn(digits: &[u32; 9]) -> bool {
    let sum: u32 =
        digits[..8].iter().zip((2..=9).rev()).map(|(digit, weight)| digit * weight).sum();
    sum > 0 && (sum + 10 * digits[8]).is_multiple_of(11)
}

/// German Steuer-ID, by ISO 7064 mod 11,10. One or two of its first ten digits appear more than once.
pub(super) fn steuer_id(digits: &[u32; 11]) -> bool {
    let (body, check) = digits.split_at(10);
    let distinct = (0..10).filter(|digit| body.contains(digit)).count();
    let product = body.iter().fold(10, |product, digit| {
        let sum = match (digit + product) % 10 {
            0 => 10,
            sum => sum,
        };
        sum * 2 % 11
    });
    body[0] != 0 && (8..=9).contains(&distinct) && (11 - product) % 10 == check[0]
}

/// Russian SNILS: the weighted sum of nine digits, by 101.
pub(super) fn snils(digits: &[u32; 11]) -> bool {
    let sum: u32 =
        digits[..9].iter().zip((1..=9).rev()).map(|(digit, weight)| digit * weight).sum();
    sum > 0 && sum % 101 % 100 == digits[9] * 10 + digits[10]
}

/// Japanese My Number: the weighted sum of eleven digits, by 11.
pub(super) fn my_number(digits: &[u32; 12]) -> bool {
    let weight = |place: u32| if place <= 6 { place + 1 } else { place - 5 };
    let sum: u32 =
        digits[..11].iter().rev().zip(1..).map(|(digit, place)| digit * weight(place)).sum();
    let check = match sum % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    };
    sum > 0 && check == digits[11]
}
