-- The one way from text to search terms, for rows and for queries alike. {config} is fixed at first start.
--
-- Three kinds of lexemes:
--   words        what the text configuration makes of the text, identifiers taken apart at their separators
--   identifiers  ERR-4471-QX, client/acme, v1.2.3, user_id: also whole, lower case
--   bigrams      pairs of neighbouring characters of scripts that are written without spaces
-- Accents and width are folded first (NFKD, combining marks dropped, NFC), so no extension is needed for it.
create or replace function keepsake_lexemes(body text) returns tsvector
language plpgsql immutable strict parallel safe as $function$
declare
  folded text := lower(body);
  runs text[];
  identifiers text[];
  grams text[];
  result tsvector;
begin
  if folded ~ '[^\x01-\x7f]' then
    folded := normalize(regexp_replace(normalize(folded, nfkd), '[\u0300-\u036f]', '', 'g'), nfc);
    -- Thai, Lao, Myanmar, Khmer, Kana, Han, Hangul
    runs := array(
      select hit[1] from regexp_matches(
        folded,
        '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af]+',
        'g') as hit);
    if cardinality(runs) > 0 then
      -- By window, not by substr: that would count from the start of the run for every character.
      grams := array(
        select distinct pair
        from (
          select letter || lead(letter) over (partition by run_number order by place) as pair
          from (select row_number() over () as run_number, string_to_array(run, null) as letters from unnest(runs) as run)
            as spelled
          cross join lateral unnest(letters) with ordinality as spelt(letter, place)
        ) as pairs
        where pair is not null
        union
        select run from unnest(runs) as run where length(run) = 1);
      folded := regexp_replace(
        folded,
        '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af]+',
        ' ', 'g');
    end if;
  end if;
  if folded ~ '[[:alnum:]][-_./:@#+][[:alnum:]]' then
    identifiers := array(
      select distinct hit[1]
      from regexp_matches(folded, '([[:alnum:]]+(?:[-_./:@#+]+[[:alnum:]]+)+)', 'g') as hit
      where length(hit[1]) <= 200);
  end if;
  -- Separators become spaces: the parser would take paths, hosts, tags and signed numbers as one token or drop them.
  result := to_tsvector({config}, translate(folded, '-_./:@#+<>&\=~%', '               '));
  if cardinality(identifiers) > 0 then
    result := result || array_to_tsvector(identifiers);
  end if;
  if cardinality(grams) > 0 then
    result := result || array_to_tsvector(grams);
  end if;
  return result;
end
$function$;

-- What a row can be found by. A tsvector holds 1 MiB: of a longer text as much as fits is indexed, and the row is kept.
create or replace function keepsake_search(title text, content text, summary text, about_key text, tags text)
returns tsvector language plpgsql immutable parallel safe as $function$
declare
  kept integer := length(content);
begin
  loop
    begin
      return setweight(keepsake_lexemes(coalesce(title, '')), 'A')
        || setweight(keepsake_lexemes(coalesce(about_key, '') || ' ' || coalesce(tags, '')), 'B')
        || setweight(keepsake_lexemes(coalesce(summary, '')), 'C')
        || keepsake_lexemes(left(content, kept));
    exception when program_limit_exceeded then
      if kept < 1000 then
        raise;
      end if;
      kept := kept / 2;
    end;
  end loop;
end
$function$;
