#!/bin/bash
# The growth of a program that marks nothing is found as time goes by.
. "${0%/*}/../lib.sh"
compile_victim growers -O1 -pthread

# How many passes fall into an interval is the machine's business; what grows is not, nor how
# much faster one stack does than the other. A program that stood still for a good part of the
# time does not grow evenly in it: then it is asked again, for some time.
grown_in_time() {
    rm -f g.folded
    run "$FLAME" leak --growth=100ms -o g.folded -- ./growers 300 unmarked pause list buffer cache array comes
    (($(sed -n 's/ ms late$//p' out) <= 400))
}
again 8 grown_in_time
is_int "$status" 23 'a program that marks nothing is looked at as time goes by'
is_str "$(sed -n 's/^flame:   .*: \([a-z_]*\) .*/\1/p' err | sort | tr '\n' ' ')" \
    'grow_buffer grow_list make_name ' 'what grows is told'
is_str "$(awk '/grow_list / { l = $NF } /make_name / { m = $NF }
    END { print (l > 3.5 * m && l < 4 * m) ? "yes" : "no " l " " m }' g.folded)" yes 'in proportion'
done_testing
