//! What people decide about items, and who may.

use super::*;

#[sqlx::test(migrations = false)]
async fn a_moderator_decides_with_a_reason_and_the_audit_log_names_the_person(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut moderator = stage.person("mo@market.example", Role::Moderator).await;
    let media = stage.judged(site, Judged::text("Satire")).await;
    let path = item(&stage, media);
    let page = moderator.get(&path).await.text;
    assert!(
        page.contains("value=\"reject\"") && !page.contains("value=\"approve\""),
        "{page}"
    );
    assert!(page.contains("name=\"seen_verdict\" value=\"1\""), "{page}");

    let form = "decision=reject&seen_status=approved&seen_verdict=1&reason=";
    let wrong = moderator.post(&format!("{path}/decision"), form).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("id=\"reason-problem\""),
        "{}",
        wrong.text
    );
    let wrong = moderator
        .post(&format!("{path}/decision"), "decision=keep&reason=Because")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("Because</textarea>"),
        "what was typed stays"
    );

    let form = format!("{form}No+satire%3A+{}", encoded(HOSTILE));
    let done = moderator.post(&format!("{path}/decision"), &form).await;
    assert_eq!(done.leads_to(), format!("{path}?done=rejected"));
    let page = moderator.get(done.leads_to()).await.text;
    assert!(page.contains("The item was rejected."), "{page}");
    assert!(page.contains("Rejected by Ada: “No satire: "), "{page}");
    assert!(
        page.contains("The machine before: Approved because"),
        "{page}"
    );
    assert!(is_harmless(&page), "{page}");
    let listed = moderator
        .get(&format!("/t/{}/items", stage.team))
        .await
        .text;
    assert!(listed.contains("<td>Ada<small>"), "{listed}");
    assert_eq!(stage.recorded("media.decide").await, ["Ada"]);
}

#[sqlx::test(migrations = false)]
async fn who_decides_after_somebody_else_is_told_and_changes_nothing(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut ada = stage.person("ada@market.example", Role::Moderator).await;
    let mut eve = stage.person("eve@market.example", Role::Lead).await;
    let new = Judged {
        violations: vec![keyword("Contact", RuleEffect::Review, 0..2)],
        ..Judged::text("Satire")
    };
    let media = stage.judged(site, new).await;
    let path = item(&stage, media);
    let form = |decision: &str, reason: &str| {
        format!("decision={decision}&seen_status=pending_review&seen_verdict=1&reason={reason}")
    };
    let decision = format!("{path}/decision");
    ada.post(&decision, &form("approve", "Fine"))
        .await
        .leads_to();
    for ruling in ["reject", "approve"] {
        let late = eve.post(&decision, &form(ruling, "My+reason")).await;
        assert_eq!(late.status, StatusCode::CONFLICT);
        assert!(
            late.text.contains("Somebody else has decided meanwhile"),
            "{}",
            late.text
        );
        assert!(
            late.text.contains("Approved by Ada: “Fine”"),
            "{}",
            late.text
        );
        assert!(late.text.contains("My reason</textarea>"), "{}", late.text);
        assert!(
            late.text
                .contains("name=\"seen_status\" value=\"approved\""),
            "{}",
            late.text
        );
    }
    assert_eq!(stage.recorded("media.decide").await.len(), 1);

    let waiting = stage.pending(site, "Not yet").await;
    let early = eve
        .post(
            &format!("{}/decision", item(&stage, waiting)),
            &form("reject", "Early"),
        )
        .await;
    assert_eq!(early.status, StatusCode::CONFLICT);
    assert!(
        early.text.contains("people decide after the machine"),
        "{}",
        early.text
    );
}

#[sqlx::test(migrations = false)]
async fn nobody_is_offered_a_decision_that_would_be_refused(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let (forum, shop) = (stage.site("Forum").await, stage.site("Shop").await);
    let wanted = invitations::Wanted {
        team: Some(stage.team),
        email: "shop@market.example".parse().unwrap(),
        standing: Standing {
            role: Role::Moderator,
            sites: Some(vec![shop]),
        },
    };
    let issued = invitations::create(&Caller::command_line(&stage.management), &wanted).await;
    let mut of_shop = stage.browser();
    let form = format!("name=Sho&password={}", PASSWORD.replace(' ', "+"));
    let link = format!("/links/{}", issued.unwrap().secret.expose());
    of_shop.post(&link, &form).await.leads_to();
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let (in_forum, in_shop) = (
        item(&stage, stage.judged(forum, Judged::text("a")).await),
        item(&stage, stage.judged(shop, Judged::text("b")).await),
    );
    for (is_viewer, path, may) in [
        (false, &in_shop, true),
        (false, &in_forum, false),
        (true, &in_shop, false),
    ] {
        let browser = if is_viewer { &mut viewer } else { &mut of_shop };
        let page = browser.get(path).await.text;
        assert_eq!(page.contains("name=\"decision\""), may, "{page}");
        let form = "decision=reject&seen_status=approved&reason=No";
        let answer = browser.post(&format!("{path}/decision"), form).await;
        let expected = if may {
            StatusCode::SEE_OTHER
        } else {
            StatusCode::FORBIDDEN
        };
        assert_eq!(answer.status, expected, "{}", answer.text);
    }
    assert_eq!(stage.recorded("media.decide").await, ["Sho"]);
}
