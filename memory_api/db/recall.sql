-- Recall: one statement, one ranked list over every tier that the caller may see (design: docs/recall.md).
--
-- {visible} is the visibility predicate and {filters} the request's filters, both on `memories m`; they stand inside the
-- arms, so a filter never leaves the result short of what exists. Every number is float8: numeric literals made the same
-- statement twice as slow. No body, vector or tsvector of a row that is not returned leaves the database.
with
-- The caller's rows: narrow, and the only place where visibility is asked.
scope as materialized (
  select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first
  from memories m
  where {visible} {filters}
),
scope_size as materialized (select count(*)::float8 as n from scope),

-- Lexical arm: rows with at least one lexeme of the query, ranked by the sum of the IDF of those present. Document
-- frequencies are counted among the candidates, which is exact: every row that has a lexeme is a candidate.
asked as materialized (
  select lexeme, ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery as term
  from unnest(keepsake_lexemes(:query))
  where :lexical
),
any_asked as materialized (select string_agg(term::text, ' | ')::tsquery as terms from asked),
matches as materialized (
  select m.id, asked.lexeme
  from memories m
  cross join any_asked
  cross join asked
  where {visible} {filters} and m.search @@ any_asked.terms and m.search @@ asked.term
),
rarity as materialized (
  select asked.lexeme, ln(1::float8 + (n - df + 0.5::float8) / (df + 0.5::float8)) as idf
  from asked
  cross join scope_size
  cross join lateral (select count(*)::float8 as df from matches where matches.lexeme = asked.lexeme) as seen
),
worded as materialized (
  select id, sum(idf) as score, sum(idf) / nullif((select sum(idf) from rarity), 0::float8) as coverage
  from matches join rarity using (lexeme)
  group by id
),

-- Session context: a hit lends part of its score to the turns beside it, where the caller may see them. Only sessions
-- that hold a hit are seated; rows without a session stay out of it.
seated as materialized (
  select id, session_id, row_number() over (partition by session_id order by turn_first, observed_at, id) as seat
  from scope
  where :neighbours > 0
    and session_id in (select session_id from worded join scope using (id) where session_id is not null)
),
lent as materialized (
  select beside.id, sum(worded.score * cast(:neighbour_weight as float8) / abs(step)) as score
  from worded
  join seated as hit using (id)
  cross join generate_series(-cast(:neighbours as integer), cast(:neighbours as integer)) as step
  join seated as beside on beside.session_id = hit.session_id and beside.seat = hit.seat + step and step <> 0
  group by beside.id
),
lexical as materialized (
  select id, score, coverage, matched,
    row_number() over (order by score desc, confirmed_at desc, id desc) as rank
  from (
    select id, coalesce(worded.score, 0::float8) + coalesce(lent.score, 0::float8) as score,
      coalesce(worded.coverage, 0::float8) as coverage, worded.id is not null as matched
    from worded full join lent using (id)
  ) as scored
  join scope using (id)
),

-- Vector arm: cosine over the scope, exact.
nearest as materialized (
  select v.memory_id as id, 1::float8 - (v.embedding <=> cast(:vector as halfvec)) as cosine, s.confirmed_at
  from scope s
  join memory_vectors v on v.memory_id = s.id
  where cast(:vector as halfvec) is not null
),
semantic as materialized (
  select id, cosine, row_number() over (order by cosine desc, confirmed_at desc, id desc) as rank
  from (
    select * from nearest order by cosine desc, confirmed_at desc, id desc limit cast(:depth as integer)
  ) as closest
),

-- Fusion: RRF, the sum of weight / (k + rank); or convex, the weighted mean of both scores scaled to 0..1.
candidates as materialized (
  select id, lexical.rank as lexical_rank, lexical.score as lexical_score, coalesce(lexical.coverage, 0::float8) as coverage,
    semantic.rank as vector_rank, semantic.cosine,
    case cast(:fusion as text)
      when 'rrf' then
        coalesce(cast(:lexical_weight as float8) / (cast(:k as float8) + lexical.rank), 0::float8)
        + coalesce(cast(:vector_weight as float8) / (cast(:k as float8) + semantic.rank), 0::float8)
      else (
        cast(:lexical_weight as float8)
          * coalesce(lexical.score / nullif(max(lexical.score) over (), 0::float8), 0::float8)
        + cast(:vector_weight as float8) * coalesce(
          (semantic.cosine - min(semantic.cosine) over ())
            / nullif(max(semantic.cosine) over () - min(semantic.cosine) over (), 0::float8), 0::float8)
      ) / (cast(:lexical_weight as float8) + cast(:vector_weight as float8))
    end as fused
  from lexical full join semantic using (id)
),

-- A session that ranks well lifts its members; a row without a session is its own. RRF ranks the sessions by their best
-- member, convex adds a share of the best member's score.
grouped as materialized (
  select c.*, s.tier, s.confirmed_at, coalesce(s.session_id, c.id::text) as session,
    max(c.fused) over (partition by coalesce(s.session_id, c.id::text)) as session_best
  from candidates c join scope s using (id)
),
lifted as materialized (
  select *, dense_rank() over (order by session_best desc, session) as session_rank from grouped
),
ranked as (
  select lifted.*, decay, weight,
    (fused + case
      when cast(:session_weight as float8) = 0::float8 then 0::float8
      when cast(:fusion as text) = 'rrf' then cast(:session_weight as float8) / (cast(:k as float8) + session_rank)
      else cast(:session_weight as float8) * session_best
    end) * decay * weight as score
  from lifted
  cross join lateral (
    select
      case tier when 'institutional' then cast(:half_life_institutional as float8)
        when 'agent' then cast(:half_life_agent as float8) else cast(:half_life_user as float8) end as half_life,
      case tier when 'institutional' then cast(:weight_institutional as float8)
        when 'agent' then cast(:weight_agent as float8) else cast(:weight_user as float8) end as weight
  ) as rules
  cross join lateral (
    -- 2^-900 is as good as nothing and still a number that float8 can multiply.
    select case when half_life is null then 1::float8 else
      cast(:floor as float8) + (1::float8 - cast(:floor as float8)) * power(2::float8, -least(
        greatest(extract(epoch from now() - confirmed_at)::float8, 0::float8) / half_life, 900::float8))
    end as decay
  ) as recency
  where greatest(coverage, coalesce(cosine, 0::float8)) >= cast(:min_relevance as float8)
),
top as materialized (
  select * from ranked order by score desc, confirmed_at desc, id desc limit cast(:limit as integer)
)
select {columns},
  top.score, top.lexical_rank, top.lexical_score, top.coverage, top.vector_rank, top.cosine, top.session_rank, top.fused,
  top.decay, top.weight
from top join memories m using (id)
order by top.score desc, top.confirmed_at desc, top.id desc
