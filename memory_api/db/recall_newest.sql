-- Recall with nothing to search for: decay and tier weight alone, newest first among equals.
select {columns}, decay * weight as score, decay, weight
from {memories} m
cross join lateral (
  select
    case m.tier when 'institutional' then cast(:half_life_institutional as float8)
      when 'agent' then cast(:half_life_agent as float8) else cast(:half_life_user as float8) end as half_life,
    case m.tier when 'institutional' then cast(:weight_institutional as float8)
      when 'agent' then cast(:weight_agent as float8) else cast(:weight_user as float8) end as weight
) as rules
cross join lateral (
  select case when half_life is null then 1::float8 else
    cast(:floor as float8) + (1::float8 - cast(:floor as float8)) * power(2::float8, -least(
      greatest(extract(epoch from {now} - m.confirmed_at)::float8, 0::float8) / half_life, 900::float8))
  end as decay
) as recency
where {visible} {filters}
order by decay * weight desc, m.confirmed_at desc, m.id desc
limit cast(:limit as integer)
