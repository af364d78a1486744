-- One row a memory. '' in user_id, agent_id and facet means "none": blank ids are refused at the edge, and
-- `user_id = any(...)` then says the whole of visibility in a form that an index serves.
create table memories (
  id uuid primary key,
  user_id text not null default '',
  agent_id text not null default '',
  facet text not null default '',
  tier text not null generated always as (
    case
      when user_id <> '' and agent_id <> '' then 'user_for_agent'
      when user_id <> '' then 'user'
      when agent_id <> '' then 'agent'
      else 'institutional'
    end) stored,
  kind text not null,
  title text,
  content text not null,
  summary text,
  confidence double precision not null check (confidence between 0 and 1),
  metadata jsonb not null default '{}',
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
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  confirmed_at timestamptz not null,
  expires_at timestamptz,
  evidence_count integer not null default 1,
  revision integer not null default 1,
  body_size_bytes integer not null generated always as (octet_length(content)) stored,
  -- Rule 3 of the house: what a row can be found by is a column of the row, so the two cannot drift.
  search tsvector not null generated always as (
    keepsake_search(title, content, summary, about_key, metadata ->> 'tags')) stored,
  check ((about_kind is null) = (about_key is null)),
  check ((turn_first is null) = (turn_last is null))
);
create index memories_scope on memories (user_id, agent_id, created_at desc, id desc);
-- Without the shared tiers' rows, so that recall, which asks for them too, is never planned through it.
create index memories_user on memories (user_id, created_at desc, id desc) where user_id <> '';
create index memories_session on memories (session_id) where session_id is not null;
create index memories_search on memories using gin (search) with (fastupdate = off);

-- updated_at tells every write, whichever path it took.
create function keepsake_touch() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  return new;
end
$$;
create trigger memories_touch before update on memories for each row execute function keepsake_touch();

-- Vectors stand apart from the texts: a scan of a scope's vectors reads no bodies. The dimension is fixed when the store
-- is claimed for a Provider (claim.py).
create table memory_vectors (
  memory_id uuid primary key references memories on delete cascade,
  embedding halfvec not null
);

-- Memories whose vector is still to come. A row here is work that is certain to be done, or has `failed` for good.
create table embedding_queue (
  memory_id uuid primary key references memories on delete cascade,
  revision integer not null,
  -- Refusals of this text; an outage of the provider does not count.
  attempts integer not null default 0,
  queued_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  failed boolean not null default false
);
create index embedding_queue_due on embedding_queue (next_attempt_at) where not failed;

create table relations (
  id uuid primary key,
  source_id uuid not null references memories on delete cascade,
  target_id uuid not null references memories on delete cascade,
  relation_type text not null,
  weight double precision not null check (weight between 0 and 1),
  created_at timestamptz not null default now(),
  unique (source_id, target_id, relation_type),
  check (source_id <> target_id)
);
create index relations_target on relations (target_id);

-- What this database is: one row, written when it is first claimed.
create table store (
  only_row boolean primary key default true check (only_row),
  workspace_name text not null,
  workspace_uid uuid not null,
  text_config text not null,
  embedding_model text,
  embedding_dimensions integer,
  -- The vectors of another model were let go of, and not every memory has its new one yet.
  reembedding boolean not null default false,
  claimed_at timestamptz not null default now()
);
