-- Since when a row's wording is the live one; null: since it was observed, nobody has changed it.
alter table memories add column live_from timestamptz;
update memories set live_from = updated_at where revision > 1;

-- What a memory said before each change, so that a recall can look back. Who may see it is decided by the memory's own
-- row; forgetting the memory takes its past along. `embedding` is of the store's model, or null.
create table memory_revisions (
  memory_id uuid not null references memories on delete cascade,
  revision integer not null,
  live_from timestamptz not null,
  live_until timestamptz not null,
  kind text not null,
  title text,
  content text not null,
  summary text,
  confidence double precision not null,
  metadata jsonb not null,
  about_kind text,
  about_key text,
  consent_category text,
  provenance text,
  purpose text,
  session_id text,
  turn_first integer,
  turn_last integer,
  observed_at timestamptz not null,
  valid_from timestamptz,
  valid_until timestamptz,
  updated_at timestamptz not null,
  confirmed_at timestamptz not null,
  expires_at timestamptz,
  evidence_count integer not null,
  body_size_bytes integer not null generated always as (octet_length(content)) stored,
  search tsvector not null generated always as (
    keepsake_search(title, content, summary, about_key, metadata ->> 'tags')) stored,
  embedding halfvec,
  primary key (memory_id, revision)
);

-- Every change of a memory's revision leaves the earlier one behind, whichever path it took.
create function keepsake_touch_revision() returns trigger language plpgsql as $$
begin
  new.live_from := now();
  insert into memory_revisions (
    memory_id, revision, live_from, live_until, kind, title, content, summary, confidence, metadata, about_kind,
    about_key, consent_category, provenance, purpose, session_id, turn_first, turn_last, observed_at, valid_from,
    valid_until, updated_at, confirmed_at, expires_at, evidence_count, embedding)
  values (
    old.id, old.revision, coalesce(old.live_from, old.observed_at), now(), old.kind, old.title, old.content,
    old.summary, old.confidence, old.metadata, old.about_kind, old.about_key, old.consent_category, old.provenance,
    old.purpose, old.session_id, old.turn_first, old.turn_last, old.observed_at, old.valid_from, old.valid_until,
    old.updated_at, old.confirmed_at, old.expires_at, old.evidence_count,
    (select embedding from memory_vectors where memory_id = old.id));
  return new;
end
$$;
create trigger memories_touch_revision before update on memories
  for each row when (new.revision <> old.revision) execute function keepsake_touch_revision();
