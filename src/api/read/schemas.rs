//! Schemas of types from crates that do not know HTTP.

use memgate_capture::JobStanding;
use memgate_core::memory::{MemoryKind, PreferenceKey, Source, Status, Visibility};
use strum::VariantArray;
use utoipa::openapi::{Array, ArrayBuilder, Object, ObjectBuilder, Type, schema::SchemaType};

fn one_of<T: VariantArray + Copy + Into<&'static str>>(description: &str) -> Object {
    let names = T::VARIANTS.iter().map(|it| -> &'static str { (*it).into() });
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(names))
        .description(Some(description))
        .build()
}

pub(in crate::api) fn source() -> Object {
    one_of::<Source>("Where it comes from.")
}

pub(in crate::api) fn kind() -> Object {
    one_of::<MemoryKind>("The kind of the memory; it does not depend on the type.")
}

pub(in crate::api) fn status() -> Object {
    one_of::<Status>("Whether it is in use, and if not, why.")
}

pub(in crate::api) fn job_state() -> Object {
    one_of::<JobStanding>("Its state; a running job is pending.")
}

pub(in crate::api) fn preference_key() -> Object {
    one_of::<PreferenceKey>("The key of the preference.")
}

pub(in crate::api) fn visibility() -> Object {
    let names = |what| {
        let list = ArrayBuilder::new().items(text()).max_items(Some(Visibility::MAX_READERS));
        list.description(Some(what)).build()
    };
    ObjectBuilder::new()
        .property("kind", text().enum_values(Some(["private", "shared", "public"])))
        .property("users", names("With `shared`: ids of users of the tenant."))
        .property("roles", names("With `shared`: roles, which a verified token names."))
        .required("kind")
        .description(Some(
            "Who else may read it: nobody, some of the tenant, or everyone of the tenant.",
        ))
        .build()
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::new(Type::String))
}

pub(in crate::api) fn mentions() -> Array {
    let mention = ObjectBuilder::new()
        .property("name", text().description(Some("Its name, as it is written there.")))
        .property(
            "type",
            text().description(Some("The kind of the entity, in a word: person, place …")),
        )
        .required("name");
    Array::new(mention)
}

pub(in crate::api) fn relations() -> Array {
    let relation = ObjectBuilder::new()
        .property(
            "type",
            text().description(Some("The meaning of the link: supersedes, summary_of …")),
        )
        .property("target", text().description(Some("Id of the other memory.")))
        .required("type")
        .required("target");
    Array::new(relation)
}

pub(in crate::api) fn entity_relations() -> Array {
    let names = ["subject", "predicate", "object"];
    let relation = names.into_iter().fold(ObjectBuilder::new(), |relation, name| {
        relation.property(name, text()).required(name)
    });
    Array::new(relation)
}
