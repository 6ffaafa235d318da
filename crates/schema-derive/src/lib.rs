//! `#[derive(Schema)]`: how the OpenAPI documents describe an object type.
//!
//! poem-openapi's `Object` also derives six conversions, from and to JSON, XML and YAML. Our bodies are read and written by serde,
//! so nothing calls them, and they were a third of what the compiler translated. This macro writes a table of the members
//! instead. `api_common::schema` has the code that reads it.

mod attributes;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericParam, Ident, Result, ext::IdentExt as _,
};

use self::attributes::{Attributes, description};

/// Describes a struct with named fields. Its documentation and that of its fields become descriptions.
///
/// The name and `flatten` of a field come from its `serde` attributes. `#[schema(..)]` on a field has the rest:
///
/// - `nullable`: the member can be `null`.
/// - `empty_by_default`: a list that can be omitted, and is empty then.
/// - `min_items`, `max_items`, `max_length`, `pattern`, `minimum`, `maximum`: limits, which the document only shows. The code that
///   takes the value checks them.
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    implementation(&input)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

fn implementation(input: &DeriveInput) -> Result<Tokens> {
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            Fields::Unnamed(_) | Fields::Unit => return Err(not_an_object(&input.ident)),
        },
        Data::Enum(_) | Data::Union(_) => return Err(not_an_object(&input.ident)),
    };
    let members = fields.iter().map(member).collect::<Result<Vec<_>>>()?;
    let description = optional(description(&input.attrs));
    let ident = &input.ident;
    let name = ident.unraw().to_string();
    let parameters = input
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) | GenericParam::Const(_) => None,
        });
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::api_common::Schema for #ident #arguments #bounds {
            const NAME: &'static str = #name;
            const PARAMETERS: &'static [::api_common::schema::Name] =
                &[#(<#parameters as ::poem_openapi::types::Type>::name),*];
            const DESCRIPTION: ::core::option::Option<&'static str> = #description;
            const MEMBERS: &'static [::api_common::schema::Member] = &[#(#members),*];
        }

        impl #generics ::poem_openapi::types::Type for #ident #arguments #bounds {
            const IS_REQUIRED: bool = true;
            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> ::std::borrow::Cow<'static, str> {
                ::api_common::schema::name::<Self>()
            }

            fn schema_ref() -> ::poem_openapi::registry::MetaSchemaRef {
                ::api_common::schema::reference::<Self>()
            }

            fn register(registry: &mut ::poem_openapi::registry::Registry) {
                ::api_common::schema::declare::<Self>(registry);
            }

            fn as_raw_value(&self) -> ::core::option::Option<&Self> {
                ::core::option::Option::Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> ::std::boxed::Box<dyn ::core::iter::Iterator<Item = &'a Self> + 'a> {
                ::std::boxed::Box::new(::core::iter::once(self))
            }
        }
    })
}

/// One entry of the table.
fn member(field: &Field) -> Result<Tokens> {
    let Attributes {
        rename,
        flatten,
        nullable,
        empty_by_default,
        limits,
    } = Attributes::read(&field.attrs)?;
    let ty = &field.ty;
    let name = rename.unwrap_or_else(|| {
        let name = field.ident.as_ref().map(|ident| ident.unraw().to_string());
        name.unwrap_or_default()
    });
    let description = optional(description(&field.attrs));
    let limits = limits.iter().map(|(name, value)| {
        quote! { #name: ::core::option::Option::Some(#value) }
    });
    Ok(quote! {
        ::api_common::schema::Member {
            description: #description,
            flatten: #flatten,
            nullable: #nullable,
            empty_by_default: #empty_by_default,
            limits: ::api_common::schema::Limits {
                #(#limits,)*
                ..::api_common::schema::Limits::NONE
            },
            ..::api_common::schema::Member::new::<#ty>(#name)
        }
    })
}

fn optional(text: Option<String>) -> Tokens {
    text.map_or_else(
        || quote! { ::core::option::Option::None },
        |text| quote! { ::core::option::Option::Some(#text) },
    )
}

fn not_an_object(ident: &Ident) -> Error {
    Error::new_spanned(
        ident,
        "a schema is derived for structs with named fields only",
    )
}
