#!/bin/bash
# Growth of a program without marks is found by time.
. "${0%/*}/../lib.sh"
compile_victim growers -O1 -pthread

# How many passes fall into an interval depends on the machine; the growing stacks do not, nor how
# much faster one stack does than the other. A program that stalled for a good part of the
# time does not grow evenly in it: then the test tries again.
grown_in_time() {
    rm -f g.folded
    run "$FLAME" leak --growth=100ms -o g.folded -- ./growers 300 unmarked pause list buffer cache array comes
    (($(sed -n 's/ ms late$//p' out) <= 400))
}
again 8 grown_in_time
is_int "$status" 23 'flame leak --growth=100ms of a program without marks ends with status 23'
is_str "$(sed -n 's/^flame:   .*: \([a-z_]*\) .*/\1/p' err | sort | tr '\n' ' ')" \
    'grow_buffer grow_list make_name ' '--growth=100ms reports the growing stacks'
is_str "$(awk '/grow_list / { l = $NF } /make_name / { m = $NF }
    END { print (l > 3.5 * m && l < 4 * m) ? "yes" : "no " l " " m }' g.folded)" yes \
    '--growth=100ms reports slopes in proportion'
done_testing
