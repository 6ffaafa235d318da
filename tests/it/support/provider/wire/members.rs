//! The members of each format's entry in a file of providers.

use super::Wire;

impl Wire {
    /// Its members in a file of providers. The policy is in a file beside it.
    pub(crate) const fn members(self) -> &'static str {
        match self {
            Self::OpenAi => "kind = \"openai\"",
            Self::LlamaGuard => "kind = \"chat\"\nstyle = \"llama_guard\"\nmodel = \"guard\"",
            Self::Policy => {
                "kind = \"chat\"\nstyle = \"policy\"\nmodel = \"judge\"\npolicy_file = \"policy.txt\""
            }
            Self::Judge => {
                "kind = \"chat\"\nstyle = \"policy\"\nmodel = \"judge\"\npolicy_file = \"policy.txt\"\n\
                 path = \"/openai/chat\"\nkey_header = \"x-api-key\"\nheaders = { \"x-version\" = \"2\" }\n\
                 answer_format = \"json_object\"\nmax_completion_tokens = 500\ntemperature = false\n\
                 modalities = [\"text\", \"image\"]"
            }
            Self::Http => "kind = \"http\"\nmodalities = [\"text\", \"image\"]",
            Self::Azure => "kind = \"azure\"",
            Self::Vision => "kind = \"vision\"",
            Self::NaturalLanguage => "kind = \"natural_language\"",
            Self::Mistral => "kind = \"mistral\"",
            Self::Rekognition => {
                "kind = \"rekognition\"\nregion = \"eu-west-1\"\nkey_id = \"AKIDEXAMPLE\""
            }
            Self::Guardrail => {
                "kind = \"bedrock_guardrail\"\nregion = \"eu-west-1\"\nkey_id = \"AKIDEXAMPLE\"\n\
                 guardrail = \"gr4tests\"\nguardrail_version = \"1\"\nmodalities = [\"text\", \"image\"]"
            }
            Self::Hive => "kind = \"hive\"",
            Self::HiveImages => "kind = \"hive\"\nmodalities = [\"image\"]",
            Self::Sightengine => {
                "kind = \"sightengine\"\nkey_id = \"AKIDEXAMPLE\"\nmodalities = [\"text\", \"image\"]"
            }
        }
    }

    /// Whether a file must list the categories that it can score.
    pub(crate) const fn scores_what_is_said(self) -> bool {
        matches!(self, Self::Policy | Self::Judge | Self::Http)
    }
}
