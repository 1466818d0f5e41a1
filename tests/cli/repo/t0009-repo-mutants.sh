#!/bin/bash
# scripts/mutants.py changes code, not comments, strings, declarations or dangerous code.
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
run_expect_status 0 'mutants.py --list succeeds' python3 -B mutants.py --list sample.c
is_str "$(cat out)" 'sample.c:9: if (a < 10)  ->  if (a <= 10)
sample.c:9: if (a < 10)  ->  if (a < 11)
sample.c:9: if (a < 10)  ->  if (0)
sample.c:9: if (a < 10)  ->  if (1)
sample.c:10: return a + 2;  ->  return a - 2;
sample.c:10: return a + 2;  ->  return a + 3;
sample.c:10: return a + 2;  ->  return 0;
sample.c:13: note(s);  ->  ;
sample.c:14: return 0;  ->  return 1;' \
    'mutants.py changes one operator, constant, condition, return or call at a time'

mkdir scripts
echo 'sample.c ## note(s); ## ; ## it only says something' >scripts/mutants.equivalent
run_expect_status 0 'mutants.py with a known equivalent succeeds' python3 -B mutants.py --list sample.c
file_lacks out 'note' 'mutants.py leaves out a known equivalent'

# Equivalents whose line is gone must leave the list.
gone=$(cd "$ROOT" && awk -F ' ## ' '!/^#/ && NF == 4 { print }' scripts/mutants.equivalent |
    while IFS= read -r row; do
        file=${row%% ## *} rest=${row#* ## }
        grep -qF -- "${rest%% ## *}" "$file" || echo "$row"
    done)
is_str "$gone" '' 'each line of mutants.equivalent exists'

done_testing
