//! How the documents describe object types. `#[derive(Schema)]` makes a table of the members, and the functions here read it.

use std::{any::type_name, borrow::Cow};

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};
use serde_json::Value;

/// A function that gives a type's name in the document.
pub type Name = fn() -> Cow<'static, str>;

/// An object type, as its derivation describes it.
pub trait Schema: Type {
    /// Its name, without those of its parameters.
    const NAME: &'static str;

    /// The names of the types that it is generic over.
    const PARAMETERS: &'static [Name];

    /// What it is.
    const DESCRIPTION: Option<&'static str>;

    /// Its members, in the order of the document.
    const MEMBERS: &'static [Member];
}

/// A member of an object type.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each stands in the document by itself"
)]
pub struct Member {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it is.
    pub description: Option<&'static str>,
    /// Whether the object has the members of this one instead of this one.
    pub flatten: bool,
    /// Whether it can be `null`.
    pub nullable: bool,
    /// Whether it is a list that can be omitted, and is empty then.
    pub empty_by_default: bool,
    /// What its value can be.
    pub limits: Limits,
    /// Whether its type must be given.
    pub required: bool,
    /// The schema of its type.
    pub schema: fn() -> MetaSchemaRef,
    /// Adds the schemas that its type refers to.
    pub register: fn(&mut Registry),
}

impl Member {
    /// A member of the type `T`.
    pub const fn new<T: Type>(name: &'static str) -> Self {
        Self {
            name,
            description: None,
            flatten: false,
            nullable: false,
            empty_by_default: false,
            limits: Limits::NONE,
            required: T::IS_REQUIRED,
            schema: T::schema_ref,
            register: T::register,
        }
    }

    fn described(&self) -> MetaSchemaRef {
        let limits = &self.limits;
        (self.schema)().merge(MetaSchema {
            description: self.description,
            nullable: self.nullable,
            default: self.empty_by_default.then(|| Value::Array(Vec::new())),
            min_items: limits.min_items,
            max_items: limits.max_items,
            max_length: limits.max_length,
            pattern: limits.pattern.map(str::to_owned),
            minimum: limits.minimum,
            maximum: limits.maximum,
            ..MetaSchema::ANY
        })
    }
}

/// What a member's value can be. The document only shows it: the code that takes the value checks it.
pub struct Limits {
    /// The least items of a list.
    pub min_items: Option<usize>,
    /// The most items of a list.
    pub max_items: Option<usize>,
    /// The most characters of a text.
    pub max_length: Option<usize>,
    /// The regular expression that a text matches.
    pub pattern: Option<&'static str>,
    /// The least number.
    pub minimum: Option<f64>,
    /// The greatest number.
    pub maximum: Option<f64>,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self {
        min_items: None,
        max_items: None,
        max_length: None,
        pattern: None,
        minimum: None,
        maximum: None,
    };
}

/// The name of `T` in the document.
pub fn name<T: Schema>() -> Cow<'static, str> {
    full_name(T::NAME, T::PARAMETERS)
}

/// Refers to the schema of `T`.
pub fn reference<T: Schema>() -> MetaSchemaRef {
    MetaSchemaRef::Reference(name::<T>().into_owned())
}

/// Adds the schema of `T`, and those of its members, to the document.
///
/// # Panics
/// If another type has the same name.
pub fn declare<T: Schema>(registry: &mut Registry) {
    declare_object(
        registry,
        name::<T>().into_owned(),
        type_name::<T>(),
        T::DESCRIPTION,
        T::MEMBERS,
    );
}

fn full_name(name: &'static str, parameters: &[Name]) -> Cow<'static, str> {
    if parameters.is_empty() {
        return name.into();
    }
    let parameters = parameters.iter().map(|parameter| parameter());
    let names: Vec<_> = std::iter::once(name.into()).chain(parameters).collect();
    names.join("_").into()
}

// Not generic, so that it is compiled once.
fn declare_object(
    registry: &mut Registry,
    name: String,
    type_name: &'static str,
    description: Option<&'static str>,
    members: &[Member],
) {
    if let Some(known) = registry.schemas.get(&name) {
        let other = known.rust_typename.unwrap_or(type_name);
        assert!(
            other == type_name,
            "`{other}` and `{type_name}` have the same name in the document: `{name}`"
        );
        return;
    }
    // A type can have members of its own type.
    registry
        .schemas
        .insert(name.clone(), MetaSchema::new("object"));
    for member in members {
        (member.register)(registry);
    }
    let mut schema = MetaSchema {
        rust_typename: Some(type_name),
        title: Some(name.clone()),
        description,
        ..MetaSchema::new("object")
    };
    for member in members {
        if member.flatten {
            let flat = resolved((member.schema)(), registry);
            schema.properties.extend(flat.properties);
            schema.required.extend(flat.required);
        } else {
            schema.properties.push((member.name, member.described()));
            if member.required && !member.empty_by_default {
                schema.required.push(member.name);
            }
        }
    }
    registry.schemas.insert(name, schema);
}

fn resolved(schema: MetaSchemaRef, registry: &Registry) -> MetaSchema {
    match schema {
        MetaSchemaRef::Inline(schema) => *schema,
        MetaSchemaRef::Reference(name) => registry
            .schemas
            .get(&name)
            .cloned()
            .expect("members are declared before"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A list of things.
    #[derive(crate::Schema)]
    #[expect(dead_code, reason = "only described")]
    struct List<T: Type> {
        #[schema(empty_by_default, max_items = 3)]
        things: Vec<T>,
        #[serde(flatten)]
        head: Head,
    }

    #[derive(crate::Schema)]
    #[expect(dead_code, reason = "only described")]
    struct Head {
        /// Its kind.
        #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
        #[schema(max_length = 8)]
        kind: String,
        #[schema(nullable)]
        next: Option<Box<Head>>,
    }

    #[test]
    fn a_type_is_described_with_the_names_that_serde_writes() {
        let mut registry = Registry::new();
        List::<Head>::register(&mut registry);
        let head = serde_json::to_value(&registry.schemas["Head"]).unwrap();
        let kind = json!({ "type": "string", "description": "Its kind.", "maxLength": 8 });
        assert_eq!(head["title"], "Head");
        assert_eq!(head["required"], json!(["type"]));
        assert_eq!(head["properties"]["type"], kind);
        assert_eq!(head["properties"]["next"]["nullable"], true);
        let list = serde_json::to_value(&registry.schemas["List_Head"]).unwrap();
        assert_eq!(list["description"], "A list of things.");
        assert_eq!(list["required"], json!(["type"]));
        let things = &list["properties"]["things"];
        assert_eq!(things["default"], json!([]));
        assert_eq!(things["maxItems"], 3);
        assert_eq!(list["properties"]["type"], kind);
    }

    #[test]
    #[should_panic(expected = "Head` have the same name in the document: `Head`")]
    fn two_types_cannot_share_a_name() {
        mod other {
            #[derive(crate::Schema)]
            pub(super) struct Head {}
        }
        let mut registry = Registry::new();
        Head::register(&mut registry);
        Head::register(&mut registry);
        other::Head::register(&mut registry);
    }
}
