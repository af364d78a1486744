-- Only indexes: replicas of before go on beside it. Reads are never held up; writes wait while one is built. Not
-- concurrently: that needs a session of its own, waits for every open transaction (other replicas wait in one for their
-- turn to migrate), and leaves an invalid index where it fails.

-- What a list filters by travels in the index: it is counted and paged without its rows. It serves recall's scope, too.
create index memories_listed on memories (user_id, agent_id, created_at desc, id desc)
  include (facet, expires_at, kind);
drop index memories_scope;

create index memories_about on memories (user_id, agent_id, about_kind, about_key, created_at desc, id desc)
  include (facet, expires_at) where about_kind is not null;

-- The heaviest edges of a hub, without the others.
create index relations_from on relations (source_id, weight desc, created_at desc, id desc) include (target_id);
create index relations_to on relations (target_id, weight desc, created_at desc, id desc) include (source_id);
drop index relations_target
