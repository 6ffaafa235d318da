//! Policies of the review desk, and its settings for a site.

mod desk;

use api_common::{
    Code, Created, Described, Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time,
    given, or, or_null,
};
use domain::{
    id::{ReviewPolicyId, TeamId},
    name::Name,
    reason::Reason,
    review::{Guideline, PolicyCode, PolicyKey, Severity},
    scope::Scope,
    score::Category,
};
use management::review_policies::{self, Settings};
use poem_openapi::{OpenApi, registry::MetaSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

/// The operations, noun by noun.
pub(super) type Nouns = (ReviewPolicies, desk::Desk);

#[derive(Default)]
pub(crate) struct ReviewPolicies;

#[OpenApi(tag = "Tag::Reviews")]
impl ReviewPolicies {
    /// List policies
    ///
    /// Oldest first.
    #[oai(path = "/policies", method = "get", operation_id = "listPolicies")]
    async fn list_policies(
        &self,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<ReviewPolicy>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let policies = review_policies::list(&caller, part.page()).await?;
        Ok(Json(part.list(policies, |policy| policy.id.as_uuid())))
    }

    /// Create a policy
    ///
    /// A policy is what moderators reject items for. A team has at most 100.
    #[oai(path = "/policies", method = "post", operation_id = "createPolicy")]
    async fn create_policy(
        &self,
        caller: Caller,
        request: JsonBody<NewReviewPolicy>,
    ) -> Result<Created<ReviewPolicy>, Refusal> {
        let (team, settings) = request.value.into_parts();
        let policy = review_policies::create(&caller, team, &settings).await?;
        Ok(Created::at(
            format!("{PREFIX}/policies/{}", policy.id),
            policy,
        ))
    }

    /// Read a policy
    #[oai(
        path = "/policies/:policy_id",
        method = "get",
        operation_id = "getPolicy"
    )]
    async fn get_policy(
        &self,
        caller: Caller,
        /// The policy.
        policy_id: Path<ReviewPolicyId>,
    ) -> Result<Json<ReviewPolicy>, Refusal> {
        let policy = review_policies::get(&caller, policy_id.0).await?;
        Ok(Json(policy.into()))
    }

    /// Change a policy
    ///
    /// The severity counts for items that come to the desk afterwards.
    #[oai(
        path = "/policies/:policy_id",
        method = "patch",
        operation_id = "updatePolicy"
    )]
    async fn update_policy(
        &self,
        caller: Caller,
        /// The policy.
        policy_id: Path<ReviewPolicyId>,
        request: JsonBody<ReviewPolicyChange>,
    ) -> Result<Json<ReviewPolicy>, Refusal> {
        let change = request.value;
        let edit = |settings| change.apply(settings);
        let policy = review_policies::update(&caller, policy_id.0, edit).await?;
        Ok(Json(policy.into()))
    }

    /// Delete a policy
    ///
    /// Its code and its key are free again. What was decided by it still names it.
    #[oai(
        path = "/policies/:policy_id",
        method = "delete",
        operation_id = "deletePolicy"
    )]
    async fn delete_policy(
        &self,
        caller: Caller,
        /// The policy.
        policy_id: Path<ReviewPolicyId>,
    ) -> Result<NoContent, Refusal> {
        review_policies::delete(&caller, policy_id.0).await?;
        Ok(NoContent)
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("listPolicies", Scope::ReviewsRead).answer(example_values::list(&policy())),
        Operation::new("createPolicy", Scope::ReviewsManage)
            .problems(&[Code::LimitReached])
            .request(json!({
                "code": "hate",
                "name": "Hate",
                "reason": "It attacks people for what they are.",
                "key": 3,
                "severity": "high",
                "categories": ["hate"],
            }))
            .answer(policy()),
        Operation::new("getPolicy", Scope::ReviewsRead).answer(policy()),
        Operation::new("updatePolicy", Scope::ReviewsManage)
            .request(json!({ "two_people": true, "key": null }))
            .answer(policy()),
        Operation::new("deletePolicy", Scope::ReviewsManage),
        Operation::new("getDeskSettings", Scope::ReviewsRead).answer(desk()),
        Operation::new("updateDeskSettings", Scope::ReviewsManage)
            .request(json!({ "undo_seconds": 30, "audit_percent": 5 }))
            .answer(desk()),
    ]
}

fn policy() -> Value {
    json!({
        "id": example_values::POLICY,
        "team_id": example_values::TEAM,
        "code": "hate",
        "name": "Hate",
        "guideline": "Attacks on people for what they are. Not: harsh words about what they did.",
        "reason": "It attacks people for what they are.",
        "key": 3,
        "severity": "high",
        "categories": ["hate"],
        "rules": [],
        "two_people": false,
        "created_at": example_values::CREATED_AT,
    })
}

fn desk() -> Value {
    json!({
        "low_minutes": 2_880,
        "normal_minutes": 1_440,
        "high_minutes": 240,
        "critical_minutes": 60,
        "undo_seconds": 30,
        "audit_percent": 5,
        "golden_every": null,
    })
}

/// A rule in a list of names. Without a name of its own, generators would call its type `Rule`, as the rules of a group.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
struct MatchedRule(Name);

impl Described for MatchedRule {
    const NAME: Option<&str> = Some("MatchedRule");

    fn expected() -> String {
        Name::expected()
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            description: Some("The name of a rule that matched."),
            ..Name::schema()
        }
    }
}

/// What moderators reject items for.
#[derive(Serialize, Schema)]
pub(crate) struct ReviewPolicy {
    /// The policy.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// What programs and reports call it.
    code: Field<PolicyCode>,
    /// What people call it.
    name: Field<Name>,
    /// What moderators read about it.
    guideline: Field<Guideline>,
    /// What applications are told, unless the moderator writes something else.
    reason: Field<Reason>,
    /// Its key on the desk, from 1 to 9. `null` if it has none.
    #[schema(nullable)]
    key: Option<Field<PolicyKey>>,
    /// How urgent items are for which it is suggested.
    severity: Field<Severity>,
    /// It is suggested for items that the machine flagged for one of these categories.
    categories: Vec<Field<Category>>,
    /// It is suggested for items that a rule with one of these names matched.
    rules: Vec<Field<MatchedRule>>,
    /// Whether two people must say the same before it is told. It applies where the policy is suggested, and to decisions
    /// that name it.
    two_people: bool,
    /// When it was created.
    created_at: Field<Time>,
}

impl From<review_policies::ReviewPolicy> for ReviewPolicy {
    fn from(policy: review_policies::ReviewPolicy) -> Self {
        let settings = policy.settings;
        Self {
            id: policy.id.as_uuid(),
            team_id: policy.team.as_uuid(),
            code: Field(settings.code),
            name: Field(settings.name),
            guideline: Field(settings.guideline),
            reason: Field(settings.reason),
            key: settings.key.map(Field),
            severity: Field(settings.severity),
            categories: settings.categories.into_iter().map(Field).collect(),
            rules: settings
                .rules
                .into_iter()
                .map(|name| Field(MatchedRule(name)))
                .collect(),
            two_people: settings.two_people,
            created_at: policy.created_at.into(),
        }
    }
}

/// A policy to create.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewReviewPolicy {
    /// The team. If omitted, the team of the token.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
    /// What programs and reports call it. No other policy of the team has the same code.
    code: Field<PolicyCode>,
    /// What people call it.
    name: Field<Name>,
    /// What moderators read about it. If omitted, nothing.
    #[serde(default, deserialize_with = "given")]
    guideline: Option<Field<Guideline>>,
    /// What applications are told, unless the moderator writes something else.
    reason: Field<Reason>,
    /// Its key on the desk, from 1 to 9. No other policy of the team has the same key. If omitted, it has none.
    #[serde(default, deserialize_with = "given")]
    key: Option<Field<PolicyKey>>,
    /// How urgent items are for which it is suggested. If omitted, `normal`.
    #[serde(default, deserialize_with = "given")]
    severity: Option<Field<Severity>>,
    /// Suggest it for items that the machine flagged for one of these categories.
    #[serde(default, deserialize_with = "given")]
    #[schema(max_items = 50)]
    categories: Option<Vec<Field<Category>>>,
    /// Suggest it for items that a rule with one of these names matched.
    #[serde(default, deserialize_with = "given")]
    #[schema(max_items = 50)]
    rules: Option<Vec<Field<MatchedRule>>>,
    /// Whether two people must say the same before it is told. If omitted, one is enough.
    #[serde(default, deserialize_with = "given")]
    two_people: Option<bool>,
}

impl NewReviewPolicy {
    /// The team that it names, and the settings.
    fn into_parts(self) -> (Option<TeamId>, Settings) {
        let settings = Settings {
            code: self.code.0,
            name: self.name.0,
            guideline: self.guideline.map(|text| text.0).unwrap_or_default(),
            reason: self.reason.0,
            key: self.key.map(|key| key.0),
            severity: or(self.severity, Severity::Normal),
            categories: plain(self.categories.unwrap_or_default()),
            rules: names(self.rules.unwrap_or_default()),
            two_people: self.two_people.unwrap_or_default(),
        };
        (self.team_id.map(|team| team.0), settings)
    }
}

/// Fields of a policy to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewPolicyChange {
    /// What programs and reports call it. No other policy of the team has the same code.
    #[serde(default, deserialize_with = "given")]
    code: Option<Field<PolicyCode>>,
    /// What people call it.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
    /// What moderators read about it.
    #[serde(default, deserialize_with = "given")]
    guideline: Option<Field<Guideline>>,
    /// What applications are told, unless the moderator writes something else.
    #[serde(default, deserialize_with = "given")]
    reason: Option<Field<Reason>>,
    /// Its key on the desk, from 1 to 9. `null` removes it.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    key: Option<Option<Field<PolicyKey>>>,
    /// How urgent items are for which it is suggested.
    #[serde(default, deserialize_with = "given")]
    severity: Option<Field<Severity>>,
    /// Suggest it for items that the machine flagged for one of these categories.
    #[serde(default, deserialize_with = "given")]
    #[schema(max_items = 50)]
    categories: Option<Vec<Field<Category>>>,
    /// Suggest it for items that a rule with one of these names matched.
    #[serde(default, deserialize_with = "given")]
    #[schema(max_items = 50)]
    rules: Option<Vec<Field<MatchedRule>>>,
    /// Whether two people must say the same before it is told.
    #[serde(default, deserialize_with = "given")]
    two_people: Option<bool>,
}

impl ReviewPolicyChange {
    fn apply(self, settings: Settings) -> Settings {
        Settings {
            code: or(self.code, settings.code),
            name: or(self.name, settings.name),
            guideline: or(self.guideline, settings.guideline),
            reason: or(self.reason, settings.reason),
            key: or_null(self.key, settings.key),
            severity: or(self.severity, settings.severity),
            categories: self.categories.map_or(settings.categories, plain),
            rules: self.rules.map_or(settings.rules, names),
            two_people: self.two_people.unwrap_or(settings.two_people),
        }
    }
}

fn plain<T>(members: Vec<Field<T>>) -> Vec<T> {
    members.into_iter().map(|member| member.0).collect()
}

fn names(rules: Vec<Field<MatchedRule>>) -> Vec<Name> {
    rules.into_iter().map(|rule| rule.0.0).collect()
}
