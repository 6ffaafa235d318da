//! The statements about windows.

use std::collections::HashMap;

use domain::{
    id::TeamId,
    key::SecretHash,
    rate_limit::{KEYS_OF_A_TEAM, RatePolicy, WINDOW_SECONDS},
};
use sqlx::PgPool;
use uuid::Uuid;

use super::Request;
use crate::{
    Error,
    rate_limit::{Holder, Limited},
};

/// What waits for shares of its key and of its team.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) request: Request,
    /// How many such requests wait.
    pub(super) requests: u32,
    /// How many of them the process holds shares of the key for,
    pub(super) held: u32,
    /// and of the team; none if it holds no share of this minute, or does not know the team.
    pub(super) team_held: Option<u32>,
}

/// Postgres's answer to a request for a share of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// How many requests it covers; may be fewer or more than were wanted.
    pub(super) share: u32,
    /// The limit in force.
    pub(super) limit: u32,
    /// What was not given out.
    pub(super) rest: u32,
    /// Whether other processes may hold unspent shares.
    pub(super) others: bool,
    /// The minute that the share is of, in seconds since 1970.
    pub(super) minute: i64,
    /// Until the end of that minute; may be past.
    pub(super) ends_in_ms: i64,
}

/// What a statement took.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// For each key that works: its team, and its share, unless the process held enough.
    pub(super) keys: HashMap<Request, (TeamId, Option<Given>)>,
    /// For each team of which the process did not hold enough.
    pub(super) teams: HashMap<(TeamId, RatePolicy), Given>,
}

fn signed(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// Takes shares of the present minute, of keys and of their teams. Keys that are unknown or
/// disabled are not in the answer.
#[expect(clippy::too_many_lines, reason = "nearly all of it is one statement")]
pub(super) async fn take(pool: &PgPool, holder: Uuid, wanted: &[Wanted]) -> Result<Taken, Error> {
    let hashes: Vec<&[u8]> = wanted.iter().map(|w| &w.request.0.as_bytes()[..]).collect();
    let policies: Vec<&str> = wanted.iter().map(|w| w.request.1.as_str()).collect();
    let requests: Vec<i32> = wanted.iter().map(|w| signed(w.requests)).collect();
    let held: Vec<i32> = wanted.iter().map(|w| signed(w.held)).collect();
    let team_held: Vec<Option<i32>> = wanted.iter().map(|w| w.team_held.map(signed)).collect();
    // A window is that of a key or of a team: `site_key_id` is the id of the one or of the other.
    let rows = sqlx::query!(
        r#"
        with asked as materialized (
            select
                k.id, k.hash, s.team_id, q.policy, q.requests, q.held, q.team_held,
                case q.policy
                    when 'submit' then least(s.submissions_per_minute, coalesce(p.submissions_per_minute, $7))
                    else least(s.status_queries_per_minute, coalesce(p.status_queries_per_minute, $8))
                end as allowed,
                case q.policy
                    when 'submit'
                        then coalesce(p.team_submissions_per_minute, coalesce(p.submissions_per_minute, $7) * $9)
                    else coalesce(p.team_status_queries_per_minute, coalesce(p.status_queries_per_minute, $8) * $9)
                end as team_allowed
            from unnest($1::bytea [], $2::text [], $3::integer [], $4::integer [], $5::integer [])
                as q (hash, policy, requests, held, team_held)
            join site_keys k on k.hash = q.hash and k.disabled_at is null
            join sites s on s.id = k.site_id
            left join subscriptions b on b.team_id = s.team_id
            left join plans p on p.id = b.plan_id
        ),
        wanted as (
            select id, policy, allowed, requests - held as wanted
            from asked
            where requests > held
            union all
            select team_id, policy, max(team_allowed), (sum(requests) - coalesce(max(team_held), 0))::integer
            from asked
            group by team_id, policy
            having sum(requests) > coalesce(max(team_held), 0)
        ),
        taken as (
            insert into rate_windows as w
                (site_key_id, policy, minute, allowed, wanted, share, given, scarce, holders)
            select
                id, policy, date_trunc('minute', clock_timestamp(), 'utc'), allowed, wanted, share, share, scarce,
                case when share > 0 then array[$6::uuid] else '{}' end
            from (
                select *, wanted > allowed as scarce, rate_share(allowed, wanted, wanted > allowed) as share
                from wanted
            ) first_of_the_window
            -- All who take several lock them in one order.
            order by id, policy
            on conflict (site_key_id, policy) do update set
                (minute, allowed, wanted, share, given, scarce, holders) = (
                    select
                        case when fresh then excluded.minute else w.minute end, excluded.allowed, excluded.wanted, share, given + share,
                        scarce,
                        -- Who got something may hold it for long: a request needs both windows, and the other may be short.
                        case when share > 0 then array_remove(holders, $6) || $6 else holders end
                    from (
                        -- One that begins later than a minute from now was opened while the database's clock was wrong.
                        select
                            excluded.minute > w.minute
                            or w.minute > excluded.minute + interval '1 minute' as fresh
                    ) a
                    cross join lateral (
                        select
                            case when fresh then 0 else w.given end as given,
                            case when fresh then '{}' else w.holders end as holders
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
            a.team_id,
            side.of_team as "of_team!",
            t.share as "share?",
            t.allowed as "allowed?",
            greatest(t.allowed - t.given, 0) as "rest?",
            cardinality(array_remove(t.holders, $6)) > 0 as "others?",
            extract(epoch from t.minute)::bigint as "minute?",
            (extract(epoch from t.minute - clock_timestamp()) * 1000)::bigint as "started_ms?"
        from asked a
        cross join lateral (values (a.id, false), (a.team_id, true)) as side (id, of_team)
        left join taken t on t.site_key_id = side.id and t.policy = a.policy
        "#,
        &hashes as &[&[u8]],
        &policies as &[&str],
        &requests,
        &held,
        &team_held as &[Option<i32>],
        holder,
        signed(RatePolicy::Submit.documented()),
        signed(RatePolicy::Status.documented()),
        signed(KEYS_OF_A_TEAM),
    )
    .fetch_all(pool)
    .await?;
    let mut taken = Taken::default();
    for row in rows {
        let hash: [u8; 32] = row
            .hash
            .try_into()
            .map_err(|_| Error::Unreadable("a key hash of other than 32 bytes".into()))?;
        let (team, policy) = (TeamId::from(row.team_id), row.policy.parse()?);
        let given = match (
            row.share,
            row.allowed,
            row.rest,
            row.others,
            row.minute,
            row.started_ms,
        ) {
            (Some(share), Some(limit), Some(rest), Some(others), Some(minute), Some(started)) => {
                Some(Given {
                    share: share.unsigned_abs(),
                    limit: limit.unsigned_abs(),
                    rest: rest.unsigned_abs(),
                    others,
                    minute,
                    ends_in_ms: started + i64::from(WINDOW_SECONDS) * 1_000,
                })
            }
            _ => None,
        };
        match (row.of_team, given) {
            (false, given) => {
                let request = (SecretHash::from(hash), policy);
                taken.keys.insert(request, (team, given));
            }
            (true, Some(given)) => {
                taken.teams.insert((team, policy), given);
            }
            (true, None) => {}
        }
    }
    Ok(taken)
}

/// Tells the processes that hold shares to give back what is unspent: a message for each window.
pub(super) async fn call_in(
    pool: &PgPool,
    channel: &str,
    messages: &[String],
) -> Result<(), Error> {
    sqlx::query!(
        "select pg_notify($1, message) from unnest($2::text []) as m (message)",
        channel,
        messages,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Gives back what is unspent of a share, unless its minute is over; from now on this process holds
/// nothing of it.
pub(super) async fn give_back(
    pool: &PgPool,
    holder: Uuid,
    (whose, policy): Limited,
    unspent: u32,
) -> Result<(), Error> {
    let (key, team) = match whose {
        Holder::Key(key) => (Some(key), None),
        Holder::Team(team) => (None, Some(team.as_uuid())),
    };
    sqlx::query!(
        "
        update rate_windows
        set given = given - $4, holders = array_remove(holders, $3)
        where
            site_key_id = coalesce($5, (select id from site_keys where hash = $1))
            and policy = $2
            and $3 = any(holders)
            and minute = date_trunc('minute', clock_timestamp(), 'utc')
        ",
        key.as_ref().map(|key| &key.as_bytes()[..]),
        policy.as_str(),
        holder,
        signed(unspent),
        team,
    )
    .execute(pool)
    .await?;
    Ok(())
}
