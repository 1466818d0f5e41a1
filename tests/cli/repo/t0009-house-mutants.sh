#!/bin/bash
# scripts/mutants.py changes code, not comments, strings, declarations or what is dangerous.
. "${0%/*}/../lib.sh"

cat >sample.c <<'C'
#define MOST 3 /* 1 < 2 */
static const int table[] = {1, 2};

/* a == b */
int f(int a)
{
    const char *s = "a < 1 && b"; /* true */

    if (a < 10)
        return a + 2;
    kill(a, 9);
    free(s);
    note(s);
    return 0;
}
C
cp "$ROOT/scripts/mutants.py" .
run_expect_status 0 'mutants of a file' python3 -B mutants.py --list sample.c
is_str "$(cat out)" 'sample.c:9: if (a < 10)  ->  if (a <= 10)
sample.c:9: if (a < 10)  ->  if (a < 11)
sample.c:9: if (a < 10)  ->  if (0)
sample.c:9: if (a < 10)  ->  if (1)
sample.c:10: return a + 2;  ->  return a - 2;
sample.c:10: return a + 2;  ->  return a + 3;
sample.c:10: return a + 2;  ->  return 0;
sample.c:13: note(s);  ->  ;
sample.c:14: return 0;  ->  return 1;' 'one operator, constant, condition, return or call at a time'

mkdir scripts
echo 'sample.c ## note(s); ## ; ## it only says something' >scripts/mutants.equivalent
run_expect_status 0 'with one known to be equivalent' python3 -B mutants.py --list sample.c
file_lacks out 'note' 'it is left out'

# A known one whose line is gone is taken off the list.
gone=$(cd "$ROOT" && awk -F ' ## ' '!/^#/ && NF == 4 { print }' scripts/mutants.equivalent |
    while IFS= read -r row; do
        file=${row%% ## *} rest=${row#* ## }
        grep -qF -- "${rest%% ## *}" "$file" || echo "$row"
    done)
is_str "$gone" '' 'those known to be equivalent are of lines that are there'

done_testing
