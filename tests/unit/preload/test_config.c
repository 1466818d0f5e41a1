/* Parsing of FLAMEMEM_OPTIONS, and the trace's name. */
#include "preload/runtime/config.h"
#include "preload/runtime/log.h"
#include "tests/tap.h"

int main(void)
{
    static struct config c;
    char path[64], longer[5000];

    log_disable(); /* complaints are tested from outside, on standard error */
    config_parse(&c, NULL);
    ok(c.depth == 1024 && c.follow && !c.quiet && c.out[0] == '/',
       "an absent FLAMEMEM_OPTIONS gives the defaults");
    config_parse(&c, "out=/x/%e-%p.%n:depth=64:follow=0:quiet=1");
    ok(c.depth == 64 && !c.follow && c.quiet, "each key sets its option");
    config_parse(&c, "depth=1090:sample=1099511627776:depth=1091x:sample=1099511627777");
    is_int(c.depth, 1090, "a number must consist of digits");
    is_int((intmax_t)c.sample, (intmax_t)1 << 40, "the sampling period is at most 2^40");
    config_parse(&c, "out=/x/%e-%p.%n:depth=64:follow=0:quiet=1");
    ok(config_expand(&c, "a/b", 12, 3, path, sizeof path), "config_expand succeeds");
    is_str(path, "/x/a_b-12.3", "config_expand replaces %%e, %%p and %%n");
    config_parse(&c, "out=/x/100%%:depth=7:depth=x:depth=70000:depth=:nonsense:=:follow=2:::");
    ok(c.depth == 1024 && c.follow, "wrong values and unknown keys are ignored");
    config_expand(&c, "p", 1, 0, path, sizeof path);
    is_str(path, "/x/100%", "config_expand replaces %%%% with a percent sign");
    config_expand(&c, "p", 1, 4, path, sizeof path);
    is_str(path, "/x/100%.4", "without %%n a later name gets the number at its end");
    config_parse(&c, "out=/x/%q%");
    config_expand(&c, "p", 1, 0, path, sizeof path);
    is_str(path, "/x/%q%", "config_expand keeps unknown letters");
    config_parse(&c, "out=/%e%e%e%e%e%e%e%e");
    ok(!config_expand(&c, "0123456789", 1, 0, path, sizeof path),
       "config_expand fails for a name that does not fit");
    memset(longer, 'x', sizeof longer);
    memcpy(longer, "out=/", 5);
    longer[sizeof longer - 1] = '\0';
    config_parse(&c, longer);
    ok(strstr(c.out, "xxx") == NULL, "a path that is too long is ignored");
    config_parse(&c, "out=/a:notes=/bb:sites=/ccc:snapshots=/dddd:notes=/e");
    is_str(c.out, "/a", "the out key sets the trace's path");
    is_str(c.notes, "/e", "the last of several notes keys counts");
    is_str(c.sites, "/ccc", "the sites key sets its own path");
    is_str(c.snapshots, "/dddd", "the snapshots key sets its own path");
    config_parse(&c, "quiet=1");
    ok(!c.notes[0] && !c.sites[0] && !c.snapshots[0] && c.out[0] == '/',
       "config_parse removes the paths of an earlier call");
    ok(!config_is_filtered(NULL) && !config_is_filtered("") && !config_is_filtered("filtered=0"),
       "options without filtered=1 are not filtered");
    ok(config_is_filtered("filtered=1") && config_is_filtered("out=/x:filtered=1:quiet=1"),
       "filtered=1 is found at any place");
    ok(!config_is_filtered("out=/filtered=1") && !config_is_filtered("filtered=10:xfiltered=1"),
       "text that only contains filtered=1 does not count");
    return done_testing();
}
