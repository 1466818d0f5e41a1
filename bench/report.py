"""Tables of what the sections measured, and the figures the project holds itself to.

Tables are Markdown that reads as plain text. A cell is a median with its quartiles,
1.08 [1.07..1.10]; "-" is what was not measured.
"""

import sections
from measure import Spread, geometric_mean, paired


def table(title, explanation, head, rows):
    """Prints a table; the first column is left-aligned, the others right."""
    rows = [[str(cell) for cell in row] for row in rows]
    if not rows:
        return
    widths = [max(len(r[i]) for r in [head] + rows) for i in range(len(head))]
    print("\n### %s\n\n%s\n" % (title, explanation))

    def line(cells):
        first = cells[0].ljust(widths[0])
        rest = [c.rjust(w) for c, w in zip(cells[1:], widths[1:])]
        print("| " + " | ".join([first] + rest) + " |")

    line(head)
    print("|" + "|".join(["-" * (widths[0] + 2)] + ["-" * (w + 1) + ":" for w in widths[1:]]) + "|")
    for row in rows:
        line(row)


def cell(spread, digits=2):
    return spread.text(digits) if spread else "-"


def megabytes(n):
    return "%.2f" % (n / 1e6)


def size_text(n):
    """A number of bytes as a label: 64 B, 64 KiB, 1 MiB."""
    for unit in ("B", "KiB", "MiB"):
        if n < 1024 or n % 1024:
            break
        n //= 1024
    return "%d %s" % (n, unit)


def each(runs, what):
    return [getattr(run, what) for run in runs]


def slowdown(columns, variant, base="plain", what="cpu"):
    return paired(
        lambda a, b: a / b if b > 0 else None,
        each(columns.get(variant, []), what),
        each(columns.get(base, []), what),
    )


def added_ratio(columns, variant, other, base="plain"):
    """Ratio of the CPU time that `variant` adds to the CPU time that `other` adds."""
    return paired(
        lambda a, b, plain: (a - plain) / (b - plain) if b > plain else None,
        each(columns.get(variant, []), "cpu"),
        each(columns.get(other, []), "cpu"),
        each(columns.get(base, []), "cpu"),
    )


class Report:
    """Prints, and collects (figure, goal, measured, met) on the way."""

    def __init__(self, bench):
        self.bench = bench
        self.figures = []

    def figure(self, what, goal, measured, met, digits=2):
        if measured is not None:
            text = "%.*f" % (digits, measured)
            self.figures.append([what, goal, text, "yes" if met else "no"])

    def recorders(self, section=None):
        return [v for v in self.bench.fast(section) if v.key != "plain"]

    # ---- programs ----

    def programs(self, results):
        if not results:
            return
        self.slowdowns(
            results,
            "cpu",
            "Slowdown, CPU time",
            "User and system time under the recorder over the program's own, same round.",
        )
        self.slowdowns(
            results, "wall", "Slowdown, wall time", "The same, by the clock on the wall."
        )
        self.against_heaptrack(results)
        self.against_allocators(results)
        self.program_figures(results)

    def slowdowns(self, results, what, title, explanation):
        rows = []
        seconds = [
            "%.2f" % Spread(each(columns["plain"], what)).median if columns["plain"] else "-"
            for columns in results.values()
        ]
        rows.append(["plain, seconds"] + seconds + [""])
        for variant in self.recorders():
            spreads = [slowdown(c, variant.key, what=what) for c in results.values()]
            mean = self.mean(spreads)
            rows.append([variant.label] + [cell(s) for s in spreads] + [mean])
        table(title, explanation, ["CPU" if what == "cpu" else "wall"] + list(results)
              + ["geometric mean"], rows)

    @staticmethod
    def mean(spreads):
        if not spreads or not all(spreads):
            return "-"
        return "%.2f" % geometric_mean([s.median for s in spreads])

    def against_heaptrack(self, results):
        rows = []
        for key in ("off", "flame", "sampled"):
            variant = self.bench.variant(key)
            spreads = [added_ratio(c, key, "heaptrack") for c in results.values()]
            if variant and any(spreads):
                rows.append([variant.label] + [cell(s) for s in spreads])
        table(
            "CPU added, as a fraction of what heaptrack adds",
            "heaptrack's preloaded library alone, writing its raw file, no analysis beside it.",
            ["added / added"] + list(results),
            rows,
        )

    def against_allocators(self, results):
        rows = []
        for variant in self.recorders():
            if variant.base != "plain":
                spreads = [slowdown(c, variant.key, variant.base) for c in results.values()]
                rows.append([variant.label] + [cell(s) for s in spreads] + [self.mean(spreads)])
        table(
            "Profilers inside allocators, over the same allocator not profiling",
            "Their slowdown above is that of another malloc as well; this is the profiler's part.",
            ["CPU"] + list(results) + ["geometric mean"],
            rows,
        )

    def program_figures(self, results):
        medians = []
        for name, columns in results.items():
            share = added_ratio(columns, "flame", "heaptrack")
            if share:
                self.figure(
                    "exact, %s: CPU added / heaptrack's" % name, "at most 0.50", share.median,
                    share.median <= 0.5,
                )
            exact = slowdown(columns, "flame")
            if exact:
                medians.append(exact.median)
            sampled = slowdown(columns, "sampled")
            if sampled:
                self.figure(
                    "%s, %s: slowdown" % (self.bench.variant("sampled").label, name),
                    "at most 1.02", sampled.median,
                    sampled.median <= 1.02, 3,
                )
        if medians:
            mean = geometric_mean(medians)
            self.figure("exact: slowdown, geometric mean", "at most 1.20", mean, mean <= 1.2)

    # ---- churn ----

    def churn(self, cells):
        if not cells:
            return

        def added(key, heap, threads, depth):
            columns = cells[heap, threads, depth]
            variant = self.bench.variant(key)
            base = variant.base if variant else "plain"
            return paired(lambda a, b: a - b, columns.get(key, []), columns[base])

        order = [v for v in self.recorders() if v.key in ("off", "flame", "sampled", "heaptrack")]
        rows = []
        for place, columns in cells.items():
            heap, threads, depth = place
            row = ["%s, %d thread%s, depth %d" % (heap, threads, "s"[: threads - 1], depth)]
            row.append(cell(Spread(columns["plain"]) if columns["plain"] else None, 0))
            row += [cell(added(v.key, *place), 0) for v in order]
            rows.append(row)
        table(
            "Churn: nanoseconds of CPU added to a malloc+free pair",
            "Narrow: %d live blocks of 16 to 271 bytes a thread; wide: %d."
            % tuple(sections.churn_width(self.bench, heap) for heap in ("narrow", "wide")),
            ["ns", "plain takes"] + [v.label for v in order],
            rows,
        )

        rows = []
        for variant in self.recorders("churn"):
            if variant not in order and variant.base != variant.key:
                row = [variant.label]
                for heap in ("narrow", "wide"):
                    row += [cell(added(variant.key, heap, t, 8), 0) for t in (1, 2)]
                rows.append(row)
        table(
            "Churn at depth 8 under the others: nanoseconds added to a pair",
            "Over plain malloc, over the same allocator not profiling, or, of lifetimes, over "
            "flame's exact recording.",
            ["ns", "narrow, 1 thread", "narrow, 2", "wide, 1 thread", "wide, 2"],
            rows,
        )

        rows = []
        for variant in order:
            row = [variant.label]
            for heap in ("narrow", "wide"):
                row.append(cell(self.per_frame(cells, variant.key, heap), 1))
            rows.append(row)
        table(
            "Churn: nanoseconds a further frame",
            "From depth 8 to depth 40, one thread.",
            ["ns a frame", "narrow", "wide"],
            rows,
        )

        rows = []
        for variant in [self.bench.variant("plain")] + order:
            row = [variant.label]
            for heap in ("narrow", "wide"):
                row.append(cell(self.two_over_one(cells, variant.key, heap, False)))
                row.append(cell(self.two_over_one(cells, variant.key, heap, True)))
            rows.append(row)
        table(
            "Churn: two threads over one, per pair, depth 8",
            "Of the whole pair, and of what the recorder adds to it. A plain pair costs more "
            "with two threads as well: malloc locks then, and two cores may be one.",
            ["2 / 1", "narrow, pair", "narrow, added", "wide, pair", "wide, added"],
            rows,
        )
        self.churn_figures(cells, added)

    @staticmethod
    def per_frame(cells, key, heap):
        low, high = cells[heap, 1, 8], cells[heap, 1, 40]
        return paired(
            lambda a, b, c, d: ((a - b) - (c - d)) / 32,
            high.get(key, []), high["plain"], low.get(key, []), low["plain"],
        )

    @staticmethod
    def two_over_one(cells, key, heap, only_added):
        two, one = cells[heap, 2, 8], cells[heap, 1, 8]
        if not only_added:
            return paired(lambda a, b: a / b, two.get(key, []), one.get(key, []))
        if key == "plain":
            return None
        return paired(
            lambda a, b, c, d: (a - b) / (c - d) if c - d > 0.05 * d else None,
            two.get(key, []), two["plain"], one.get(key, []), one["plain"],
        )

    def churn_figures(self, cells, added):
        for heap in ("narrow", "wide"):
            pair = added("flame", heap, 1, 8)
            if pair:
                self.figure(
                    "churn, %s, depth 8: ns added a pair" % heap, "at most 60", pair.median,
                    pair.median <= 60, 0,
                )
            for clock in ("bytes", "time"):
                lives = added("lives-" + clock, heap, 1, 8)
                if lives:
                    self.figure(
                        "churn, %s: ns an event more with lifetimes by %s" % (heap, clock),
                        "at most 20", lives.median / 2, lives.median <= 40, 1,
                    )
            frame = self.per_frame(cells, "flame", heap)
            if frame:
                self.figure(
                    "churn, %s: ns a further frame" % heap, "at most 4", frame.median,
                    frame.median <= 4, 1,
                )
            for what, only_added in (("whole pair", False), ("what is added", True)):
                two = self.two_over_one(cells, "flame", heap, only_added)
                if two:
                    self.figure(
                        "churn, %s: two threads / one, %s" % (heap, what), "at most 1.10",
                        two.median, two.median <= 1.1,
                    )

    # ---- memory and disk ----

    def memory(self, results, live, holds):
        keys = [k for k in ("off", "flame", "sampled", "heaptrack") if self.bench.variant(k)]
        labels = [self.bench.variant(k).label for k in keys]
        rows = []
        for size, columns in holds.items():
            row = [size_text(size)]
            for key in keys:
                found = columns.get(key)
                row.append("%.3f (%.3f) + %.1f MB" % (found[1], found[2], found[0] / 1e6)
                           if found else "-")
            rows.append(row)
        table(
            "Memory added to blocks that are held",
            "Bytes of peak RSS a live byte asked for (in brackets: a byte that is resident "
            "without a recorder, malloc's headers and rounding included) and what is there "
            "with the first block. Medians of %d rounds." % sections.hold_rounds(self.bench),
            ["blocks of"] + labels,
            rows,
        )
        rows = []
        for name, columns in results.items():
            row = [name, megabytes(live.get(name, 0))]
            row.append(cell(paired(lambda a: a / 1e6, each(columns["plain"], "rss")), 1))
            for key in keys:
                extra = paired(lambda a, b: (a - b) / 1e6, each(columns[key], "rss"),
                               each(columns["plain"], "rss"))
                row.append(cell(extra, 1))
            share = paired(lambda a, b: (a - b) / live[name], each(columns["flame"], "rss"),
                           each(columns["plain"], "rss")) if live.get(name) else None
            row.append(cell(share))
            rows.append(row)
        table(
            "Memory added to the programs, MB",
            "Peak RSS over the plain program's; the pages of a mapped trace that were touched "
            "count as well. Live is the bytes asked for and not freed, at their peak.",
            ["MB", "live", "plain RSS"] + labels + ["exact / live"],
            rows,
        )
        small, large = (holds.get(size, {}).get("flame") for size in (64, 65536))
        if small:
            self.figure(
                "memory added a live byte asked for, blocks of 64 B", "at most 0.50", small[1],
                small[1] <= 0.5,
            )
            self.figure(
                "the same, a resident byte (with malloc's headers)", "at most 0.50", small[2],
                small[2] <= 0.5,
            )
        if large:
            self.figure(
                "memory added a live byte, blocks of 64 KiB", "nothing", large[1],
                large[1] < 0.005, 3,
            )

    def disk(self, results):
        rows = []
        shown = [v for v in self.recorders() if v.base == "plain"
                 and v.key not in ("off", "lsan", "jemalloc", "tcmalloc")]
        shown += [v for v in self.recorders() if v.base != "plain"]
        for name, columns in results.items():
            row = [name]
            for variant in shown:
                sizes = each(columns[variant.key], "disk")
                row.append(megabytes(Spread(sizes).median) if sizes else "-")
            share = paired(lambda a, b: b / a if a else None, each(columns["flame"], "disk"),
                           each(columns.get("heaptrack", []), "disk"))
            row.append("1/%.1f" % share.median if share else "-")
            if share:
                self.figure(
                    "%s: trace / heaptrack's raw file" % name, "at most 0.05", 1 / share.median,
                    share.median >= 20, 3,
                )
            rows.append(row)
        table(
            "Bytes on disk, MB",
            "As the file system allots them. heaptrack: its raw file.",
            ["MB"] + [v.label for v in shown] + ["exact / heaptrack"],
            rows,
        )

    # ---- folding ----

    def folding(self, results):
        rows, carried = [], []
        for name, columns in results.items():
            mine = Spread(columns["flame"])
            row = [name, cell(mine, 3)]
            ratio = paired(lambda a, b: b / a, columns["flame"], columns["print"])
            interpret = columns["interpret"]
            row.append(cell(Spread(columns["print"]), 3) if columns["print"] else "-")
            row.append("%.3f" % interpret[0] if interpret else "-")
            row.append(cell(ratio, 1))
            if ratio and interpret:
                both = (Spread(columns["print"]).median + interpret[0]) / mine.median
                row.append("%.1f" % both)
            else:
                row.append("-")
            if ratio:
                self.figure(
                    "to folded, %s: heaptrack_print / flame fold" % name, "at least 5",
                    ratio.median, ratio.median >= 5, 1,
                )
            rows.append(row)
            carried.append(
                [name, cell(Spread(columns["pack"]), 3), cell(Spread(columns["of_packed"]), 3),
                 cell(mine, 3), "%.0f" % (Spread(columns["names"]).median / 1024)]
            )
            self.figure("names a recording carries, %s: MB" % name, "at most 1",
                        Spread(columns["names"]).median / 1e6,
                        Spread(columns["names"]).median <= 1e6, 2)
            self.figure("finding them, %s: CPU seconds" % name, "at most 0.3",
                        Spread(columns["pack"]).median, Spread(columns["pack"]).median <= 0.3, 2)
        table(
            "From a recording to folded stacks, CPU seconds",
            "With symbols, and inlined frames where there is debug information. "
            "heaptrack_print reads what heaptrack_interpret made of the raw file; the symbols "
            "are found there, so the last column compares the same work.",
            ["recording of", "flame fold", "heaptrack_print", "heaptrack_interpret",
             "print / fold", "(print + interpret) / fold"],
            rows,
        )
        table(
            "Recordings that carry their names, CPU seconds",
            "flame pack finds names, lines and inlined frames of all addresses once; what it "
            "wrote needs no other file.",
            ["recording of", "flame pack", "flame fold of that", "flame fold of the other",
             "names, KiB"],
            carried,
        )

    # ---- the slow ones, and the end ----

    def slow(self, results):
        labels = {v.key: v.label for v in self.bench.variants if v.once}
        rows = []
        for name, columns in results.items():
            rows.append([name] + ["%.0f" % columns[k] if k in columns else "-" for k in labels])
        if labels:
            table(
                "Slowdown under simulators, CPU time",
                "Once, on small inputs, starting up included.",
                ["CPU"] + list(labels.values()),
                rows,
            )

    def verdict(self):
        table(
            "Figures to reach",
            "Medians of this run. Only ratios taken on a quiet machine mean anything.",
            ["figure", "goal", "here", "met"],
            self.figures,
        )
