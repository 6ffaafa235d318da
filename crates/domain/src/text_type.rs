//! What all types of texts that keep a rule have in common.

/// Makes a type of the texts that keep a rule, and the error for all other texts.
macro_rules! text_type {
    (
        $(#[$doc:meta])*
        $name:ident($is_valid:ident);

        $(#[$error_doc:meta])*
        $error:ident = $must:literal
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        $(#[$error_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
        #[error($must)]
        pub struct $error;

        impl TryFrom<String> for $name {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                if $is_valid(&text) {
                    Ok(Self(text))
                } else {
                    Err($error)
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                text.to_owned().try_into()
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use text_type;

/// Whether a text has at most so many characters. The rest of a longer text is not read.
pub(crate) fn has_at_most(characters: usize, text: &str) -> bool {
    text.chars().take(characters + 1).count() <= characters
}
