//! What was typed: the filter, and the decision.

use domain::{
    author::Author,
    id::{ReviewId, ReviewPolicyId, SiteId},
    media::Ruling,
    name::Name,
    reason::Reason,
    review::Severity,
    score::Category,
};
use management::{
    Refused,
    reviews::{
        NewDecision,
        bulk::{Filter, Meant},
    },
};
use uuid::Uuid;

use crate::page::{Form, Texts};

/// What was typed: the filter, and the decision. `suggested` is the policy of the filter, and
/// `policy` the one by which to reject.
pub(super) fn sent(form: &Form) -> Texts {
    let fields = [
        "site",
        "severity",
        "suggested",
        "category",
        "rule",
        "author",
        "policy",
        "reason",
    ];
    Texts::sent(form, &fields)
}

/// `Err`: the first field that is wrong.
pub(super) fn filter(values: &Texts) -> Result<Filter, Refused> {
    Ok(Filter {
        site: read(values.get("site"), "site", of_list::<Uuid>)?.map(SiteId::from),
        severity: read(values.get("severity"), "severity", of_list::<Severity>)?,
        policy: read(values.get("suggested"), "suggested", of_list::<Uuid>)?
            .map(ReviewPolicyId::from),
        category: read(values.get("category"), "category", of_list::<Category>)?,
        rule: read(values.get("rule"), "rule", |text| {
            Name::try_from(text.to_owned()).map_err(|wrong| wrong.to_string())
        })?,
        author: read(values.get("author"), "author", |text| {
            Author::try_from(text.to_owned()).map_err(|wrong| wrong.to_string())
        })?,
    })
}

/// An empty field is none.
fn read<T>(
    text: &str,
    field: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, Refused> {
    match text {
        "" => Ok(None),
        text => match read(text) {
            Ok(value) => Ok(Some(value)),
            Err(wrong) => Err(Refused::field(field, wrong)),
        },
    }
}

fn of_list<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "must be one of the list".to_owned())
}

/// A decision as it was sent, and the reviews that it is about.
/// `Err`: the first field that is wrong, or the number of reviews was not typed.
pub(super) fn wanted(form: &Form) -> Result<(NewDecision, Meant), Refused> {
    let values = sent(form);
    let meant = if form.has("all") {
        let shown = form.get("count");
        if form.get("typed").trim() != shown {
            return Err(Refused::field("typed", format!("must be {shown}")));
        }
        let count = shown.parse();
        Meant::Matching {
            filter: filter(&values)?,
            count: count.map_err(|_| Refused::field("typed", "must be a number"))?,
        }
    } else {
        Meant::Named(ticked(form)?)
    };
    let ruling: Ruling = form.choice("decision", "must be `approve` or `reject`")?;
    // One form has buttons for both. What was chosen for rejections does not count for an approval.
    let (policy, reason) = match ruling {
        Ruling::Approve => (None, None),
        Ruling::Reject => (
            read(values.get("policy"), "policy_id", of_list::<Uuid>)?,
            read(values.get("reason"), "reason", |text| {
                Reason::try_from(text.to_owned()).map_err(|wrong| wrong.to_string())
            })?,
        ),
    };
    let new = NewDecision {
        ruling,
        policy: policy.map(ReviewPolicyId::from),
        reason,
    };
    Ok((new, meant))
}

fn ticked(form: &Form) -> Result<Vec<ReviewId>, Refused> {
    let reviews: Vec<ReviewId> = form
        .all("review")
        .filter_map(|id| id.parse::<Uuid>().ok())
        .map(ReviewId::from)
        .collect();
    if reviews.is_empty() {
        return Err(Refused::Invalid(
            "Nothing is ticked: tick what you want to decide about.".into(),
        ));
    }
    Ok(reviews)
}
