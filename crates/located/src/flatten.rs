//! Structs whose parts are in one object. Serde's own `flatten` buffers the values: it loses their
//! places, cannot refuse unknown keys, and cannot read numbers that are only spelt.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{
        Error as _, SeqAccess, Visitor,
        value::{Error, SeqAccessDeserializer},
    },
    forward_to_deserialize_any,
};

/// The name that asks [`crate::read`] for the parts of a struct one after another.
pub(crate) const FLATTENED: &str = "$memgate_located::flattened";

/// Defines a struct all of whose fields are flattened, for [`read`](crate::read) and for
/// `Serialize`, which has to be derived. No other deserializer can read it.
///
/// A field is read by its derived `Deserialize`, and must be a struct; it may be a flattened one.
#[macro_export]
macro_rules! flattened {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$doc:meta])* $part_vis:vis $part:ident: $type:ty,)+
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$doc])* #[serde(flatten)] $part_vis $part: $type,)+
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                static FIELDS: std::sync::LazyLock<Vec<&'static str>> =
                    std::sync::LazyLock::new(|| [$($crate::fields_of::<$type>()),+].concat());
                let ($($part,)+) = $crate::parts(from, &FIELDS)?;
                Ok(Self { $($part),+ })
            }
        }
    };
}

/// Deserializes a tuple of structs from one object; `fields` are those of all.
#[doc(hidden)]
pub fn parts<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
    fields: &'static [&'static str],
) -> Result<T, D::Error> {
    struct Parts<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<T, A::Error> {
            T::deserialize(SeqAccessDeserializer::new(parts))
        }
    }

    from.deserialize_struct(FLATTENED, fields, Parts(PhantomData))
}

/// The names of a struct's fields, as its derived `Deserialize` asks for them.
#[doc(hidden)]
#[must_use]
pub fn fields_of<T: for<'de> Deserialize<'de>>() -> Vec<&'static str> {
    struct Probe<'f>(&'f mut Vec<&'static str>);

    impl<'de> Deserializer<'de> for Probe<'_> {
        type Error = Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(Error::custom("not a struct"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Error> {
            self.0.extend(fields);
            Err(Error::custom("only the fields are wanted"))
        }

        forward_to_deserialize_any! {
            <V: Visitor<'de>>
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
            option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
            ignored_any
        }
    }

    let mut fields = Vec::new();
    // The probe always fails, after it has noted the fields.
    let _ = T::deserialize(Probe(&mut fields));
    fields
}
