-- Recall: one statement, one ranked list over every tier that the caller may see (design: docs/recall.md).
--
-- The visibility predicate and the request's filters, both on `memories m`, are filled in. They stand inside the
-- arms, so a filter never leaves the result short of what exists. Every number is float8: numeric literals made the same
-- statement twice as slow. No body, vector or tsvector of a row that is not returned leaves the database.
-- The planner knows little about the size of a CTE and joins two of them by nested loops (measured: 245 ms of 250), so
-- what a later step needs travels with the row, and rows are brought together by union and grouping or by full join.
with
-- What the query asks for in words.
lexemes as materialized (
  select lexeme, positions, quoted, quoted::tsquery as term
  from unnest(keepsake_lexemes(:query))
  cross join lateral (select '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''' as quoted) as spelt
  where :lexical
  -- A pasted document asks with its longest words: they are the rare ones, and the cost stays bounded.
  order by length(lexeme) desc, lexeme
  limit {most_lexemes}
),
any_lexeme as materialized (select string_agg(term::text, ' | ')::tsquery as terms from lexemes),

-- The caller's rows, narrow; one more than the limit of them are enough to know that the scope is large.
scope as materialized (
  select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first,
    ({timely}) as timely, m.search @@ (select terms from any_lexeme) as worded
  from {memories} m
  where {visible} {filters}
  limit {large_scope} + 1
),
scope_size as materialized (
  select large, case when large then greatest(rows, stored) else rows end as n
  from (select count(*)::float8 as rows, count(*) > {large_scope} as large from scope) as seen
  cross join (select reltuples::float8 as stored from pg_class where oid = 'memories'::regclass) as known
),

-- Lexical arm: rows with at least one lexeme of the query, ranked by the sum of the IDF of those present. Document
-- frequencies are counted among the candidates, which is exact: every row that has a lexeme is a candidate.
-- In a large scope the most common lexemes are left out, by what ANALYZE knows of them: the rarest first, as long as
-- they promise no more rows than the limit. Where those find too little, the others are asked too.
common as materialized (
  select elem as lexeme, freq::float8 as share
  from pg_stats
  cross join lateral unnest(most_common_elems::text::text[], most_common_elem_freqs) as seen(elem, freq)
  where (select large from scope_size) and schemaname = current_schema() and tablename = 'memories'
    and attname = 'search' and elem in (select lexeme from lexemes)
),
weighed as materialized (
  select *, not large or promised * n <= {most_matches}::float8 as bounded
  from (
    select lexeme, term, quoted, positions, share, row_number() over rarest as place,
      sum(coalesce(share, 0::float8)) over rarest as promised
    from lexemes left join common using (lexeme)
    window rarest as (order by coalesce(share, 0::float8), length(lexeme) desc, lexeme)
  ) as ordered
  cross join scope_size
),
any_bounded as materialized (select string_agg(term::text, ' | ')::tsquery as terms from weighed where bounded),
widespread as materialized (
  select lexeme, term, quoted, positions, share, place
  from weighed
  where not bounded and cast(:limit as integer) > (
    select count(*)
    from (
      select from {memories} m
      where {visible} {filters} and m.search @@ (select terms from any_bounded)
      limit cast(:limit as integer)
    ) as enough
  )
),
-- Words so common are in many of the newest rows, so it is enough to look through those: first for the least common one.
spread as materialized (
  select id
  from (
    select m.id from ({newest}) as m
    where exists (select from widespread) and m.search @@ (select term from widespread order by place limit 1)
    limit {depth}
  ) as least_common
  union
  select id
  from (
    select m.id from ({newest}) as m
    where exists (select from widespread)
      and m.search @@ (select string_agg(term::text, ' | ')::tsquery from widespread)
    limit {depth}
  ) as any_of_them
),
asked as materialized (
  select lexeme, term, quoted, positions, null::float8 as share from weighed where bounded
  union all
  select lexeme, term, quoted, positions, share from widespread
),
-- What a row is asked for: the words; and what counts beside them, a word in the title and two words side by side as in
-- the query. Each is worth `factor` times the mean IDF of its two words.
terms as materialized (
  select row_number() over (order by kind, term::text) as key, kind, term, word, other, factor, share
  from (
    select 'word' as kind, term, lexeme as word, lexeme as other, 1::float8 as factor, share from asked
    union all
    select 'title', (quoted || '\:A')::tsquery, lexeme, lexeme, cast(:title_weight as float8) - 1::float8, null
    from asked
    where cast(:title_weight as float8) <> 1::float8
    union all
    select distinct 'phrase', tsquery_phrase(term, next_term, next_place - place), lexeme, next_lexeme,
      cast(:phrase_bonus as float8), null::float8
    from (
      select lexeme, term, place::integer, lead(lexeme) over places as next_lexeme, lead(term) over places as next_term,
        lead(place::integer) over places as next_place
      from asked cross join lateral unnest(positions) as place
      window places as (order by place)
    ) as pairs
    where cast(:phrase_bonus as float8) > 0::float8 and next_place - place between 1 and 5
  ) as wanted
),
-- The rows of a small scope are asked one by one, so that the cost follows the scope; a large one is asked by index.
exact as materialized (
  select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first, scope.timely, terms.key
  from scope
  cross join lateral (select * from {memories} own where own.id = scope.id limit 1) as m
  cross join terms
  where not (select large from scope_size) and scope.worded and m.search @@ terms.term
  union all
  select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first, ({timely}), terms.key
  from {memories} m
  cross join any_bounded
  cross join terms
  where (select large from scope_size) and {visible} {filters}
    and m.search @@ any_bounded.terms and m.search @@ terms.term
  union all
  select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first, ({timely}), terms.key
  from spread
  cross join lateral (select * from {memories} own where own.id = spread.id limit 1) as m
  cross join terms
  where m.search @@ terms.term and (m.search @@ (select terms from any_bounded)) is not true
),
-- Where no word is found as it is written: what the store has one letter off.
misspelt as materialized (
  select terms.key, other.term
  from keepsake_misspelt(:query)
  join terms using (word)
  cross join lateral (
    select ('''' || replace(replace(meant, '\', '\\'), '''', '''''') || '''')::tsquery as term
  ) as other
  where terms.kind = 'word' and not exists (select from exact)
    and exists (select from {memories} m where m.search @@ other.term)
  limit {most_lexemes}
),
any_misspelt as materialized (select string_agg(term::text, ' | ')::tsquery as terms from misspelt),
near as materialized (
  select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first, scope.timely, misspelt.key
  from scope
  cross join lateral (select * from {memories} own where own.id = scope.id limit 1) as m
  cross join misspelt
  where not (select large from scope_size) and m.search @@ (select terms from any_misspelt)
    and m.search @@ misspelt.term
  union
  select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first, ({timely}), misspelt.key
  from {memories} m
  cross join any_misspelt
  cross join misspelt
  where (select large from scope_size) and {visible} {filters}
    and m.search @@ any_misspelt.terms and m.search @@ misspelt.term
),
matches as materialized (select * from exact union all select * from near),
rarity as materialized (
  -- Of a large scope n is what ANALYZE last knew, which may be less than df: no word counts less than nothing.
  select word, ln(1::float8 + (greatest(n, df) - df + 0.5::float8) / (df + 0.5::float8)) as idf
  from (
    select word, greatest(coalesce(df, 0::float8), share * (select n from scope_size)) as df
    from terms left join (select key, count(*)::float8 as df from matches group by key) as counted using (key)
    where kind = 'word'
  ) as frequency
  cross join scope_size
),
-- By key, so that a row's score needs no join.
worth as materialized (
  select array_agg(factor * (mine.idf + others.idf) / 2::float8 order by key) as of_term,
    array_agg(case kind when 'word' then mine.idf else 0::float8 end order by key) as of_word
  from terms join rarity mine using (word) join rarity others on others.word = terms.other
),
worded as materialized (
  select id, tier, confirmed_at, observed_at, session_id, turn_first, timely,
    sum((select of_term from worth)[key]) as score, sum((select of_word from worth)[key]) as own
  from matches
  group by id, tier, confirmed_at, observed_at, session_id, turn_first, timely
  order by score desc, confirmed_at desc, id desc
  limit {depth}
),
-- Session context: a hit lends part of its score to the turns beside it, where the caller may see them; half as much to
-- the second turn, a third to the third. The members of the hits' sessions come along for it.
seated as materialized (
  select id, tier, confirmed_at, observed_at, session_id, turn_first, timely, max(score) as score, max(own) as own
  from (
    select * from worded where session_id is not null
    union all
    select id, tier, confirmed_at, observed_at, session_id, turn_first, timely, 0::float8, 0::float8
    from scope
    where cast(:neighbours as integer) > 0 and not (select large from scope_size)
      and (session_id in (select session_id from worded)) is true
    union all
    select m.id, m.tier, m.confirmed_at, m.observed_at, m.session_id, m.turn_first, ({timely}), 0::float8, 0::float8
    from {memories} m
    where cast(:neighbours as integer) > 0 and (select large from scope_size) and {visible} {filters}
      and m.session_id = any(array(select distinct session_id from worded where session_id is not null))
  ) as members
  group by id, tier, confirmed_at, observed_at, session_id, turn_first, timely
),
lent as materialized (
  select *,
    cast(:lend_1 as float8) * (coalesce(lag(score, 1) over seats, 0::float8) + coalesce(lead(score, 1) over seats, 0::float8))
    + cast(:lend_2 as float8) * (coalesce(lag(score, 2) over seats, 0::float8) + coalesce(lead(score, 2) over seats, 0::float8))
    + cast(:lend_3 as float8) * (coalesce(lag(score, 3) over seats, 0::float8) + coalesce(lead(score, 3) over seats, 0::float8))
    + cast(:lend_4 as float8) * (coalesce(lag(score, 4) over seats, 0::float8) + coalesce(lead(score, 4) over seats, 0::float8))
    + cast(:lend_5 as float8) * (coalesce(lag(score, 5) over seats, 0::float8) + coalesce(lead(score, 5) over seats, 0::float8))
    as borrowed
  from seated
  window seats as (partition by session_id order by turn_first, observed_at, id)
  union all
  select *, 0::float8 from worded where session_id is null
),
lexical as materialized (
  select id, tier, confirmed_at, session_id, timely, score,
    -- A word that is there only by a letter is worth half as a reason.
    own / nullif((select sum(idf) from rarity), 0::float8)
      * case when exists (select from exact) then 1::float8 else 0.5::float8 end as coverage,
    row_number() over (order by score desc, confirmed_at desc, id desc) as rank
  from (
    select id, tier, confirmed_at, session_id, timely, own, score + borrowed as score
    from lent
    where score + borrowed > 0::float8
    order by score + borrowed desc, confirmed_at desc, id desc
    limit {depth}
  ) as best
),

-- Vector arm: cosine, exact over the scope; in a large scope by the HNSW index, whose iterative scan goes on until enough
-- rows pass the filters. The choice is ours: the planner takes the index where it is slower and finds less.
semantic as materialized (
  select *, row_number() over (order by cosine desc, confirmed_at desc, id desc) as rank
  from (
    select * from (
      select s.id, s.tier, s.confirmed_at, s.session_id, s.timely, cosine
      from scope s
      -- Row by row through the primary key (limit 1 keeps it so): in a store of some 10,000 rows the planner would read
      -- all vectors for one user's few.
      cross join lateral (
        select 1::float8 - (v.embedding <=> cast(:vector as halfvec)) as cosine
        from {vectors} v
        where v.memory_id = s.id
        limit 1
      ) as compared
      where cast(:vector as halfvec) is not null and not (select large from scope_size)
      order by cosine desc, s.confirmed_at desc, s.id desc
      limit {depth}
    ) as exact
    union all
    select * from (
      select m.id, m.tier, m.confirmed_at, m.session_id, ({timely}) as timely, 1::float8 - (v.embedding <=> cast(:vector as halfvec)) as cosine
      from {vectors} v
      join {memories} m on m.id = v.memory_id
      where cast(:vector as halfvec) is not null and (select large from scope_size) and {visible} {filters}
      order by v.embedding <=> cast(:vector as halfvec)
      limit {index_depth}
    ) as indexed
  ) as closest
),

-- What happened when the query says; in a large scope the other two arms alone decide what is looked at.
dated as materialized (
  select id, tier, confirmed_at, session_id
  from scope
  where timely and not (select large from scope_size)
  order by confirmed_at desc, id desc
  limit {depth}
),

-- Fusion: RRF, the sum of weight / (k + rank), everything that happened when the query says being first of its own list;
-- or convex, the weighted mean of both scores scaled to 0..1, with the time as a third score of 0 or 1.
candidates as materialized (
  select id, coalesce(lexical.tier, semantic.tier, dated.tier) as tier,
    coalesce(lexical.confirmed_at, semantic.confirmed_at, dated.confirmed_at) as confirmed_at,
    coalesce(lexical.session_id, semantic.session_id, dated.session_id, id::text) as session,
    coalesce(lexical.timely, semantic.timely, true) as timely,
    lexical.rank as lexical_rank, lexical.score as lexical_score, coalesce(lexical.coverage, 0::float8) as coverage,
    semantic.rank as vector_rank, semantic.cosine,
    case cast(:fusion as text)
      when 'rrf' then
        coalesce(cast(:lexical_weight as float8) / (cast(:k as float8) + lexical.rank), 0::float8)
        + coalesce(cast(:vector_weight as float8) / (cast(:k as float8) + semantic.rank), 0::float8)
        + case when coalesce(lexical.timely, semantic.timely, true)
          then cast(:date_weight as float8) / (cast(:k as float8) + 1::float8) else 0::float8 end
      else (
        cast(:lexical_weight as float8)
          * coalesce(lexical.score / nullif(max(lexical.score) over (), 0::float8), 0::float8)
        + cast(:vector_weight as float8) * coalesce(
          (semantic.cosine - min(semantic.cosine) over ())
            / nullif(max(semantic.cosine) over () - min(semantic.cosine) over (), 0::float8), 0::float8)
        + case when coalesce(lexical.timely, semantic.timely, true) then cast(:date_weight as float8) else 0::float8 end
      ) / (cast(:lexical_weight as float8) + cast(:vector_weight as float8))
    end as fused
  from lexical full join semantic using (id) full join dated using (id)
),

-- A session that ranks well lifts its members; a row without a session is its own. RRF ranks the sessions by their best
-- member, convex adds a share of the best member's score.
grouped as materialized (
  select *, max(fused) over members as session_best, max(confirmed_at) over members as session_latest
  from candidates
  window members as (partition by session)
),
lifted as materialized (
  select *, dense_rank() over (order by session_best desc, session_latest desc, session) as session_rank from grouped
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
    -- What happened when the query says does not fade: its age was asked for.
    -- 2^-900 is as good as nothing and still a number that float8 can multiply.
    select case when half_life is null or timely then 1::float8 else
      cast(:floor as float8) + (1::float8 - cast(:floor as float8)) * power(2::float8, -least(
        greatest(extract(epoch from {now} - confirmed_at)::float8, 0::float8) / half_life, 900::float8))
    end as decay
  ) as recency
  where greatest(coverage, coalesce(cosine, 0::float8)) >= cast(:min_relevance as float8)
    -- Where nothing comes near the query by words and meaning together, there is no answer.
    and (cast(:abstain_below as float8) = 0::float8 or exists (
      select from candidates
      where timely or coverage + coalesce(cosine, 0::float8) >= cast(:abstain_below as float8)))
),
top as materialized (
  select *, row_number() over (order by score desc, confirmed_at desc, id desc) as place
  from ranked order by score desc, confirmed_at desc, id desc limit cast(:limit as integer)
),
-- Asked to fold near-identical hits: the vectors of the hits, to hold each against those before it.
held as materialized (
  select top.id, top.place, compared.embedding
  from top
  cross join lateral (select v.embedding from {vectors} v where v.memory_id = top.id limit 1) as compared
  where cast(:alike as float8) is not null
)
select {columns},
  top.score, top.timely, top.lexical_rank, top.lexical_score, top.coverage, top.vector_rank, top.cosine, top.session_rank, top.fused,
  top.decay, top.weight,
  array(
    select better.id
    from held mine join held better on better.place < mine.place
    where mine.id = top.id and 1::float8 - (mine.embedding <=> better.embedding) >= cast(:alike as float8)
  ) as alike
from top join {memories} m using (id)
order by top.score desc, top.confirmed_at desc, top.id desc
