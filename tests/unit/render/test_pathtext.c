/* The words of `flame path`: order, shares, hostile names, bounds of rules with and without a
 * number of processors. */
#include "render/path/pathtext.h"

#include "common/trace_format.h"
#include "tests/tap.h"

#define MS 1000000u

static struct critical_text small_path(void)
{
    static char ends_in[] = "app\x1b[31m", worker[] = "worker", lock[] = "futex l",
                join[] = "[end]";

    return (struct critical_text){
        .paths = 1,
        .length_ns = 400 * MS,
        .from_ns = 100 * MS,
        .ran_ns = 100 * MS,
        .waited_ns = 299 * MS,
        .woken_ns = MS,
        .nthreads = 3,
        .ends_in = ends_in,
        .thread = {{.ns = 300 * MS, .tid = 12, .name = worker},
                   {.ns = 100 * MS, .tid = 11, .name = ends_in}},
        .threads = 2,
        .thing = {{.ns = 400 * MS, .kind = TRACE_OFF_LOCK, .waits = 1, .name = join},
                  {.ns = 250 * MS,
                   .kind = TRACE_OFF_LOCK,
                   .waits = 1200,
                   .path_ns = 200 * MS,
                   .name = lock}},
        .things = 2,
    };
}

static void says(void (*add)(struct strbuf *sb, const struct pathtext *p), const struct pathtext *p,
                 const char *want, const char *what)
{
    struct strbuf sb = STRBUF_INIT;

    add(&sb, p);
    is_str(sb.buf ? sb.buf : "", want, "%s", what);
    strbuf_release(&sb);
}

static void test_path(void)
{
    struct critical_text path = small_path();
    struct whatif_rules rules = {.n = 0};
    struct pathtext p = {.path = &path, .rules = &rules};

    says(pathtext_add_path, &p,
         "Critical path: 400.0 ms to the end of app\\x1b[31m, through 3 threads\n"
         "  299.0 ms   74.75%  waited for time, a disk, a network, or what is not traced\n"
         "  100.0 ms   25.00%  ran\n"
         "   1.00 ms    0.25%  waited for a CPU\n"
         "\n"
         "Threads on it:\n"
         "  300.0 ms   75.00%  worker (12)\n"
         "  100.0 ms   25.00%  app\\x1b[31m (11)\n"
         "  and 1 more\n"
         "\n"
         "Waited for, and by how much the path would be shorter at most if no thread had to wait "
         "for it:\n"
         "   at most   on path on path%    waits  for\n"
         "  250.0 ms  200.0 ms   50.00%    1,200  futex l\n"
         "         -      0 ns    0.00%        1  [end]\n",
         "flame path: the largest come first, joins last, and names are escaped");
    says(pathtext_add_what_if, &p, "", "flame path: without rules nothing is added");
    p.range = true;
    path.things = path.threads = 0;
    path.nthreads = path.ran_ns = path.woken_ns = 0;
    says(pathtext_add_path, &p,
         "Critical path: 400.0 ms in app\\x1b[31m, from 100.0 ms to 500.0 ms, through 0 threads\n"
         "  299.0 ms   74.75%  waited for time, a disk, a network, or what is not traced\n"
         "\n"
         "Threads on it:\n",
         "flame path: a range has its times, and a path without waits no table");
    path.regions = 2;
    p.range = false;
    says(pathtext_add_path, &p,
         "Critical path: 400.0 ms of 2 regions, through 0 threads\n"
         "  299.0 ms   74.75%  waited for time, a disk, a network, or what is not traced\n"
         "\n"
         "Threads on it:\n",
         "flame path: regions are counted");
}

static void rule(struct whatif_rules *rules, const char *text)
{
    whatif_take(rules, NULL,
                &(struct opts_given){.command = "path", .name = "--what-if", .value = text});
}

static void test_what_if(void)
{
    static char aside[] = "aside\x07";
    struct critical_text path = small_path();
    struct whatif_rules rules = {.n = 0};
    struct pathtext p = {.path = &path, .rules = &rules};

    rule(&rules, "l\x01=0");
    rule(&rules, "none=0.5");
    path.nwhat_if = 3;
    path.what_if[0] = (struct critical_text_what_if){.gain_ns = 200 * MS,
                                                     .waits = 2,
                                                     .path_ns = 150 * MS,
                                                     .all = 3,
                                                     .cpu_ns = 500 * MS,
                                                     .last = aside,
                                                     .last_tid = 13,
                                                     .last_gain_ns = 100 * MS};
    path.what_if[1] = (struct critical_text_what_if){.all = 1, .all_ns = MS, .cpu_ns = 500 * MS};
    path.what_if[2] = (struct critical_text_what_if){.gain_ns = 200 * MS, .cpu_ns = 500 * MS};
    says(pathtext_add_what_if, &p,
         "\n"
         "What if waits that match took only that part of their time:\n"
         "  l\\x01=0: at most -200.0 ms (50.00%) with the same work done; 2 waits on the path, "
         "150.0 ms of it\n"
         "    at most -100.0 ms (25.00%) if the run also waits for the end of aside\\x07 (13), "
         "which then ends last\n"
         "  none=0.5: at most -0 ns (0.00%) with the same work done; no wait on the path matches, "
         "only 1 other, 1.00 ms\n"
         "  all together: at most -200.0 ms (50.00%) with the same work done; no wait matches\n",
         "flame path --what-if: bounds, the last thread, and rules that match nothing on the path");

    /* 500 ms on CPUs take 250 ms on two of them. */
    p.cpus = 2;
    path.nwhat_if = 1;
    says(pathtext_add_what_if, &p,
         "\n"
         "What if waits that match took only that part of their time:\n"
         "  l\\x01=0: at most -150.0 ms (37.50%) with the same work done; 2 waits on the path, "
         "150.0 ms of it\n"
         "    without this limit of processors -200.0 ms (50.00%)\n"
         "    at most -100.0 ms (25.00%) if the run also waits for the end of aside\\x07 (13), "
         "which then ends last\n",
         "flame path --cpus: no gain beyond what the processors allow");
    p.cpus = 1;
    path.what_if[0].last = NULL;
    says(pathtext_add_what_if, &p,
         "\n"
         "What if waits that match took only that part of their time:\n"
         "  l\\x01=0: at most -0 ns (0.00%) with the same work done; 2 waits on the path, 150.0 ms "
         "of it\n"
         "    without this limit of processors -200.0 ms (50.00%)\n",
         "flame path --cpus: no gain where the processors were busy all the time");
    whatif_rules_release(&rules);
}

static bool takes(const char *text)
{
    struct whatif_rules rules = {.n = 0};
    int status = whatif_take(
        &rules, NULL, &(struct opts_given){.command = "x", .name = "--what-if", .value = text});
    bool taken = status == 0 && rules.n == 1;

    whatif_rules_release(&rules);
    return taken;
}

static void test_rules(void)
{
    static const char *const wrong[] = {"",      "=",   "=0",  "a",     "a=",    "a=-0.1",
                                        "a=1.1", "a=x", "(=0", "a=0x1", "a=1e0", "a= 0",
                                        "a=nan", "a=.", "a=2", "a=0,5", "a=0.5s"};
    static const char *const right[] = {"a=0", "a=1", "a=.5", "a=b=0.25", "^a;b$=1.0"};
    struct whatif_rules rules = {.n = 0};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ok(!takes(wrong[i]), "--what-if '%s' is refused", wrong[i]);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ok(takes(right[i]), "--what-if '%s' is taken", right[i]);
    rule(&rules, "^a=b$=0.25");
    is_int((intmax_t)(rules.rule[0].part * 100), 25, "--what-if: the part is behind the last '='");
    ok(whatif_matches(&rules.rule[0], "a=b_[i]", 7), "--what-if: the name without its annotation");
    ok(!whatif_matches(&rules.rule[0], "a=bc_[i]", 8), "--what-if: another name does not match");
    for (unsigned i = 0; i < 20; i++)
        rule(&rules, "a=0");
    is_int(rules.n, WHATIF_RULES_MAX, "--what-if: not more than WHATIF_RULES_MAX");
    whatif_rules_release(&rules);
}

int main(void)
{
    test_path();
    test_what_if();
    test_rules();
    return done_testing();
}
