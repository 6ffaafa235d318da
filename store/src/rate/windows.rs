//! The statements about windows.

use std::collections::HashMap;

use domain::{
    key::SecretHash,
    limit::{RatePolicy, WINDOW_SECONDS},
};
use sqlx::PgPool;
use uuid::Uuid;

use super::Limited;
use crate::Error;

/// What Postgres answers to one who wants a share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// How many requests it covers; may be fewer or more than were wanted.
    pub(super) share: u32,
    /// The limit in force.
    pub(super) limit: u32,
    /// What nobody has been given.
    pub(super) rest: u32,
    /// Whether other processes may hold unspent shares.
    pub(super) others: bool,
    /// Until the end of the minute that the share is of; may be past.
    pub(super) ends_in_ms: i64,
}

/// Takes shares of the present minute: `wanted` of each. Keys that are unknown or disabled are not in the answer.
pub(super) async fn take(
    pool: &PgPool,
    holder: Uuid,
    wanted: &[(Limited, u32)],
) -> Result<HashMap<Limited, Given>, Error> {
    let hashes: Vec<Vec<u8>> = wanted
        .iter()
        .map(|((key, _), _)| key.as_bytes().to_vec())
        .collect();
    let policies: Vec<&str> = wanted
        .iter()
        .map(|((_, policy), _)| policy.as_str())
        .collect();
    let counts: Vec<i32> = wanted.iter().map(|(_, n)| signed(*n)).collect();
    let rows = sqlx::query!(
        r#"
        with asked as materialized (
            select
                k.id, k.hash, q.policy, q.wanted,
                case q.policy
                    when 'submit' then least(s.submissions_per_minute, coalesce(p.submissions_per_minute, $5))
                    else least(s.status_queries_per_minute, coalesce(p.status_queries_per_minute, $6))
                end as allowed
            from unnest($1::bytea [], $2::text [], $3::integer []) as q (hash, policy, wanted)
            join site_keys k on k.hash = q.hash and k.disabled_at is null
            join sites s on s.id = k.site_id
            left join subscriptions b on b.team_id = s.team_id
            left join plans p on p.id = b.plan_id
        ),
        taken as (
            insert into rate_windows as w
                (site_key_id, policy, minute, allowed, wanted, share, given, scarce, holders)
            select
                id, policy, date_trunc('minute', clock_timestamp(), 'utc'), allowed, wanted, share, share, scarce,
                case when share > wanted then array[$4::uuid] else '{}' end
            from (
                select *, wanted > allowed as scarce, rate_share(allowed, wanted, wanted > allowed) as share
                from asked
            ) first_of_the_key
            -- All who take several lock them in one order.
            order by id, policy
            on conflict (site_key_id, policy) do update set
                (minute, allowed, wanted, share, given, scarce, holders) = (
                    select
                        greatest(w.minute, excluded.minute), excluded.allowed, excluded.wanted, share, given + share,
                        scarce, others || case when share > excluded.wanted then array[$4::uuid] else '{}' end
                    from (select excluded.minute > w.minute as fresh) a
                    cross join lateral (
                        select
                            case when fresh then 0 else w.given end as given,
                            case when fresh then '{}' else array_remove(w.holders, $4) end as others
                    ) b
                    cross join lateral (select greatest(excluded.allowed - given, 0) as rest) c
                    cross join lateral (
                        select (w.scarce and not fresh) or excluded.wanted > rest as scarce
                    ) d
                    cross join lateral (select rate_share(rest, excluded.wanted, scarce) as share) e
                )
            returning site_key_id, policy, minute, allowed, share, given, holders
        )
        select
            a.hash,
            a.policy as "policy!",
            t.share,
            t.allowed,
            greatest(t.allowed - t.given, 0) as "rest!",
            cardinality(array_remove(t.holders, $4)) > 0 as "others!",
            (extract(epoch from t.minute - clock_timestamp()) * 1000)::bigint as "started_ms!"
        from taken t
        join asked a on a.id = t.site_key_id and a.policy = t.policy
        "#,
        &hashes,
        &policies as &[&str],
        &counts,
        holder,
        signed(RatePolicy::Submit.documented()),
        signed(RatePolicy::Status.documented()),
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let hash: [u8; 32] = row
                .hash
                .try_into()
                .map_err(|_| Error::Unreadable("a key hash of other than 32 bytes".into()))?;
            let given = Given {
                share: row.share.unsigned_abs(),
                limit: row.allowed.unsigned_abs(),
                rest: row.rest.unsigned_abs(),
                others: row.others,
                ends_in_ms: row.started_ms + i64::from(WINDOW_SECONDS) * 1_000,
            };
            Ok(((SecretHash::from(hash), row.policy.parse()?), given))
        })
        .collect()
}

/// Tells the processes that hold shares of these to give back what is unspent.
pub(super) async fn call_in(
    pool: &PgPool,
    channel: &str,
    holder: Uuid,
    wanted: &[Limited],
) -> Result<(), Error> {
    let messages: Vec<String> = wanted
        .iter()
        .map(|(key, policy)| format!("{holder} {policy} {}", hex::encode(key.as_bytes())))
        .collect();
    sqlx::query!(
        "select pg_notify($1, message) from unnest($2::text []) as m (message)",
        channel,
        &messages,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Gives back what is unspent of a share, unless its minute is over; from now on this process holds nothing of it.
pub(super) async fn give_back(
    pool: &PgPool,
    holder: Uuid,
    (key, policy): Limited,
    unspent: u32,
) -> Result<(), Error> {
    sqlx::query!(
        "
        update rate_windows
        set given = given - $4, holders = array_remove(holders, $3)
        where
            site_key_id = (select id from site_keys where hash = $1)
            and policy = $2
            and $3 = any(holders)
            and minute = date_trunc('minute', clock_timestamp(), 'utc')
        ",
        key.as_bytes(),
        policy.as_str(),
        holder,
        signed(unspent),
    )
    .execute(pool)
    .await?;
    Ok(())
}

fn signed(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}
