/*
 * ---- page_read.js: "How to read this": an explanation of the picture in a few sentences ----
 */

/* Explanations by column; the counts of each view are defined in flame-fold(1) and flame-off(1). */
const READINGS = {
    live: ["Memory that was allocated and not yet freed when the recording ended.",
        "Live is not leaked: caches and tables that are still in use are live as well.",
        "The widest frame near the leaves is the code that asked for most of what is still there."],
    leak: ["Memory that nothing in the program leads to any more, so it can never be freed.",
        "The stack is the one that allocated it; look there, or at its callers, for who should have freed it."],
    growth: ["Memory that grew from pass to pass of a loop and did not shrink again.",
        "A stack that keeps growing is a leak or a cache without a limit; one that stops growing was filling up."],
    peak: ["What was live at the moment when most was, not at the end.",
        "To need less memory, begin with the widest frames: what is freed before that moment does not lower it."],
    alloc: ["All bytes that were ever allocated, also those that were freed soon after.",
        "A wide frame is busy with memory; it need not hold much of it. Compare with live or peak."],
    count: ["How often memory was asked for, whatever its size.",
        "Many calls cost time, even small ones: a wide frame is where allocating less often pays."],
    temp: ["Allocations that were freed before the next one of their thread was made.",
        "A buffer that is kept and used again would do."],
    rss: ["Memory that really lay in RAM at the end, given to the stacks that allocated it.",
        "What was allocated and never touched is not in it."],
    off: ["Time in which threads were not running, by what they were doing when they stopped.",
        "Waiting is not always bad: a thread without work waits as well. Look for waits on the way to an answer.",
        "The function near the leaves is what it waited in; its callers say why."],
    wakeup: ["Time that threads waited, by the stack of who woke them.",
        "It says who ended the waits, not what was waited for: see off, or offwake for both."],
    offwake: ["Time that threads waited: at the root what they waited in, and beyond \u201c--\u201d the stack of who woke them.",
        "The waker's frames stand the other way round, so both meet at the wakeup.",
        "A wide waker is what the waits were for."],
    chain: ["Time that threads waited, split over what the thread that woke them did meanwhile: it ran, waited for a CPU, or slept until another woke it.",
        "Each \u201c--\u201d leads to a waker, or to what that one waited for; its frames stand the other way round, up to its thread's name.",
        "Follow a wide stack away from the root: its end is what took that time."],
    io: ["Time that threads waited for files, disks and the network.",
        "Callers say which read or write it was."],
    runq: ["Time that threads could have run and had no processor.",
        "Much of it means that there are more busy threads than processors, whatever they do."],
    oncpu: ["Time that threads were running.", "The widest frames near the leaves are where the time went."],
    latency: ["How often threads slept, by stack; the last box is no function but how long these sleeps took.",
        "Boxes that say \u201clongest\u201d are one sleep each, of exactly that length.",
        "The table has p50, p95, p99 and the longest of each function in the view off."],
    sizes: ["How many blocks were allocated, by stack; the last box is no function but how large these blocks were.",
        "Many small blocks of one stack may be one larger one."],
    lifetimes: ["How many blocks were freed, by stack; the last box is no function but how long these blocks lived.",
        "Blocks that live very shortly are churn; those that live long are what memory is made of."],
    short: ["Memory that was freed soon after it was allocated.",
        "A buffer that is kept and used again would do."],
    old: ["Memory that was live at the end and had been for long.",
        "Caches are old, and so are leaks: a stack that only ever adds to it is the one to look at."],
    slack: ["Memory that is resident and in no block: what was rounded up, and what lies free around blocks.",
        "It stands at the stacks whose blocks keep its pages; freeing other blocks does not give it back."],
    swap: ["Memory of blocks that was swapped out at the end, by the stack that allocated it.",
        "What lies in swap was not used for some time."],
    definite: ["Memory that nothing leads to at all.",
        "Here is where to begin: what only these blocks lead to is counted as indirect."],
    indirect: ["Memory that only leaked blocks lead to.", "It goes when these are freed as they should be."],
    inner: ["Memory to whose inside something points, and nothing to its beginning.",
        "Some programs keep pointers so; else it is lost."],
    reachable: ["Memory that was live at the end and that something leads to.",
        "It is no leak, unless it grows: caches and tables are here."],
    region: ["Memory that a region of the program, a test case say, left behind at its end."],
    mmap: ["Memory that the program mapped itself, by what it mapped and where."],
    brk: ["Memory by which the program moved its break, with brk and sbrk."],
    unmapped: ["Memory that the program mapped and unmapped again."],
    fault: ["How often a page had to be brought in, by the stack that touched it.",
        "The first touch of new memory is such a fault as well; those that waited for a disk are marked."],
    touched: ["How often a page was touched first, by the stack whose memory it is."],
    critical: ["The chain of running and waiting, from waker to waker, that the length of the run is made of.",
        "All of it together is as long as the run; what is not on it could take longer and cost nothing."],
    hotcold: ["Time on the CPU and off it, below each function.",
        "What is off CPU has a colour of its own; a function with much of both both works and waits."],
};

const READING_UNITS = { bytes: ["Bytes of memory, by the stack that asked for them."],
    samples: ["Samples: how often a stack was seen. With a sampling profiler of the CPU that is time."] };

/* An explanation of the shown picture, in four to six sentences. */
function readingOf(app) {
    const { state, profile, column } = app, name = profile.delta ? profile.view || "" : column.name;
    const moment = name === "live" && state.span;
    const specific = moment ? [state.span[0] === state.span[1] ?
        "Memory that was live at the moment that is chosen on the chart." :
        "By how much more was live at the end of the time that is chosen on the chart than at its beginning.",
    "Drag on the chart for other times, Esc for the end of the recording."] : READINGS[name] || (timeUnit(column.unit) >= 0 ?
        ["Time, by the stack that it was spent in."] : READING_UNITS[column.unit] ||
        [`Counts of ${column.unit}, by stack.`]);
    const callers = state.layout === "callers";
    const lines = [state.layout === "sandwich" ?
        "In the middle is one function, all its callers on one side of it and all it calls on the other." :
        callers ? "Each box at the root is a function that took something itself, and what lies on it are its callers." :
            "Each box is a function, and what lies on it is what it called.",
    "The wider a box, the more of the total it stands for; " + (profile.ordered ?
        "from left to right is time." : "the order from left to right means nothing.")];
    if (profile.delta)
        lines.push("Two recordings are compared: widths are of the side chosen above, and colours say what changed.",
            "\u201c+\u201d and orange-red is more than before, \u201c\u2212\u201d and blue is less, grey is the same.",
            state.carry ? "A colour counts what a frame calls, too, so it leads from the root to what changed." :
                "A colour is of the frame itself: callers are grey where only what they call changed.",
            noisePeriod(app) ? "Counts are samples: point at a frame to see whether chance alone explains its change." :
                specific[0]);
    else
        lines.push(...specific);
    if (!profile.delta)
        lines.push(perIndex(state.color) >= 0 ? "Orange-red is more for each than over all, blue is less." :
            state.color === "own" || state.color === "total" ?
                "The deeper the colour, the more a frame took." : "Click a box to look closer, Esc to come back; the table sums each function over all its boxes.");
    return lines;
}

function openReading(app) {
    const dialog = byId("reading");
    dialog.querySelector("h2").textContent = "How to read this: " + byId("title").textContent;
    dialog.querySelector(".lines").replaceChildren(...readingOf(app).map((s) => element("p", "", s)));
    dialog.showModal();
}
