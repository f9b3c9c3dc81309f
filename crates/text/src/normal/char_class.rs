//! Classes of characters by their Unicode properties.

use regex_syntax::hir::{Class, HirKind};

/// A class of characters, as a pattern writes it. To look one character up costs less than a match.
pub(super) struct CharClass(Vec<(char, char)>);

impl CharClass {
    /// The class of a constant pattern: `\p{Nd}`, `[\p{M}--…]`. A pattern of anything else gives the empty class.
    pub(super) fn of(pattern: &str) -> Self {
        let parsed = regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind);
        Self(match parsed {
            Ok(HirKind::Class(Class::Unicode(class))) => {
                class.iter().map(|range| (range.start(), range.end())).collect()
            }
            _ => Vec::new(),
        })
    }

    /// Whether a character belongs to the class.
    pub(super) fn contains(&self, c: char) -> bool {
        self.start_of_range(c).is_some()
    }

    /// The first character of the consecutive members that a character belongs to.
    pub(super) fn start_of_range(&self, c: char) -> Option<char> {
        let after = self.0.partition_point(|(start, _)| *start <= c);
        let (start, end) = *self.0.get(after.checked_sub(1)?)?;
        (c <= end).then_some(start)
    }

    /// A member of the class for each number, all members in turn.
    #[cfg(test)]
    pub(super) fn member(&self, number: usize) -> Option<char> {
        let size: usize = self.0.iter().map(|(start, end)| (*start..=*end).count()).sum();
        let number = number.checked_rem(size)?;
        self.0.iter().flat_map(|(start, end)| *start..=*end).nth(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_the_characters_of_its_property() {
        let digits = CharClass::of(r"\p{Nd}");
        for digit in ['0', '9', '٩', '९', '９', '𝟗'] {
            assert!(digits.contains(digit), "{digit}");
        }
        for other in ['a', '/', ':', '²', '五'] {
            assert!(!digits.contains(other), "{other}");
        }
        assert_eq!((digits.member(3), digits.member(10)), (Some('3'), Some('٠')));
        assert!(digits.member(usize::MAX).is_some_and(|c| digits.contains(c)));
    }
}
