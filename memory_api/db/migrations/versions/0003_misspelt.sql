-- The words of a query, each with what it would be with one letter more, less, other, or two swapped: for a recall that
-- finds no word as it is written. Words of other signs than letters are names and numbers, which one letter makes another.
create function keepsake_misspelt(body text) returns table (word text, meant text)
language plpgsql immutable strict parallel safe as $function$
declare
  -- Accents are folded away, so this is every letter of the scripts with small alphabets.
  alphabets constant text[] := array[
    'abcdefghijklmnopqrstuvwxyz', 'абвгдежзийклмнопрстуфхцчшщъыьэюя', 'αβγδεζηθικλμνξοπρσςτυφχψω', 'אבגדהוזחטיכךלמםנןסעפףצץקרשת',
    'ءابةتثجحخدذرزسشصضطظعغفقكلمنهوي'];
  spelt text;
  alphabet text;
  variants text;
begin
  -- Short words are one letter from many others; of a long text the longest words are tried, the cost stays bounded.
  for spelt in
    select distinct hit[1]
    from regexp_matches(
      regexp_replace(normalize(lower(body), nfkd), '[\u0300-\u036f]', '', 'g'), '(?:^|\s)[[:punct:]]*([[:alpha:]]{4,20})[[:punct:]]*(?=\s|$)', 'g')
      as hit
    order by 1
  loop
    alphabet := (select one from unnest(alphabets) as one where strpos(one, left(spelt, 1)) > 0);
    continue when alphabet is null;
    variants := (
      select string_agg(variant, ' ')
      from generate_series(0, length(spelt)) as place
      cross join lateral (
        select left(spelt, place) || letter || substr(spelt, place + 1) from regexp_split_to_table(alphabet, '') as letter
        union all
        select left(spelt, place) || letter || substr(spelt, place + 2) from regexp_split_to_table(alphabet, '') as letter
        where place < length(spelt)
        union all
        select left(spelt, place) || substr(spelt, place + 2) where place < length(spelt)
        union all
        select left(spelt, place) || substr(spelt, place + 2, 1) || substr(spelt, place + 1, 1) || substr(spelt, place + 3)
        where place < length(spelt) - 1
      ) as made(variant));
    return query
      select own, other
      from unnest(tsvector_to_array(keepsake_lexemes(spelt))) as own
      cross join unnest(tsvector_to_array(keepsake_lexemes(variants))) as other
      where own <> other;
  end loop;
end
$function$;
