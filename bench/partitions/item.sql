-- One item with its verdicts and its analysis, as `crates/store/src/media/item.rs` reads them.
\set number random(0, 999)
select ids[1] as id from asked where kind = 'spread' and size = 1 and number = :number \gset
select m.* from media m where m.id = :id::uuid and (null::uuid is null or m.team_id = null::uuid);
select scores, providers, unchecked, created_at from analyses where media_id = :id::uuid;
select number, status, details, trace, moderated_at from verdicts where media_id = :id::uuid order by number desc limit 1000;
