#!/usr/bin/env node
// Callers of a page against callers made here of the same stacks, one by one; and that what
// takes little memory (narrow arrays, trees that nobody looks at any more) has every count still.
import { is, main, ok, open, renderTo } from "./page.mjs";
import { quiet, untroubled } from "./explorer.mjs";

// Stacks that share beginnings and ends, repeat frames, and end above others.
let seed = 7;
const any = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
const STACKS = Array.from({ length: 900 }, (_, i) => [
    ["main", ...Array.from({ length: i % 9 ? any(9) : 0 }, () => "fghrxm"[any(6)] + any(3))], 1 + any(50)]);
const fold = (stacks) => stacks.map(([names, count]) => `${names.join(";")} ${count}\n`).join("");

// Callers: "leaf<its caller<..." and its sum, in the order of those texts.
function callersOf(stacks) {
    const sums = new Map();
    for (const [names, count] of stacks)
        for (let i = names.length - 1, path = ""; i >= 0; i--) {
            path += "<" + names[i];
            sums.set(path, (sums.get(path) || 0) + count);
        }
    return [...sums].map(([path, sum]) => `${path} ${sum}`).sort().join("\n");
}

const shown = (page) => page.evaluate(() => {
    const { graph, profile } = document.querySelector(".chart-canvas").chart, paths = [""], lines = [];
    const { n, name, depth, end, total } = graph, parent = [], path = [];
    let sound = end[0] === n && graph.parent === null; /* which ends of subtrees tell */
    for (let i = 0; i < n; i++) {
        while (path.length && end[path[path.length - 1]] <= i)
            path.pop();
        parent[i] = path.length ? path[path.length - 1] : -1;
        path.push(i);
    }
    for (let i = 1; i < n; i++) {
        paths[i] = paths[parent[i]] + "<" + profile.names[name[i]];
        if (total[i] > 0)
            lines.push(`${paths[i]} ${total[i]}`);
        sound = sound && depth[i] === depth[parent[i]] + 1 && end[i] > i && end[i] <= end[parent[i]] &&
            (parent[i] === i - 1 || profile.names[name[i]] > profile.names[name[before(i)]]);
    }
    function before(i) {
        let at = parent[i] + 1;
        while (end[at] < i)
            at = end[at];
        return at;
    }
    return { tree: lines.sort().join("\n"), sound };
});

const path = renderTo("html", fold(STACKS));
const at = (hash) => open(path, { ...quiet, hash });
const child = STACKS.find(([names]) => names.length > 5)[0][1]; /* of main */
const calm = (page, name) => {
    page.trouble = page.trouble.filter((s) => !s.startsWith("request: blob:")); /* no requests to anybody */
    return untroubled(page, name);
};
const once = (names) => names.filter((s, i) => s !== names[i + 1]);

await main(async () => {
    const filter = (op) => "&filter=" + encodeURIComponent(JSON.stringify([op, "", "f1"])), cases = [
        ["all", "", (names) => names],
        ["recursion collapsed", "&recursion=1", once],
        ["of a subtree", "&focus=" + encodeURIComponent(";main;" + child), (names) => names[1] === child ? names.slice(1) : null],
        ["without a function", "&hideNames=" + encodeURIComponent(";h2"), (names) => names.includes("h2") ? null : names],
        ["with a function", filter("keep"), (names) => names.includes("f1") ? names : null],
        ["from a function on", filter("from"), (names) => names.includes("f1") ? names.slice(names.indexOf("f1")) : null],
        ["one merged away, recursion, too", filter("fold") + "&recursion=1",
            (names) => once(names.filter((s) => s !== "f1"))],
    ];
    for (const [what, hash, how] of cases) {
        const page = await at("#layout=callers" + hash), { tree, sound } = await shown(page);
        const want = callersOf(STACKS.map(([names, count]) => [how(names), count]).filter(([names]) => names));
        ok(want.length > 300, `${what}: there are callers`);
        is(tree, want, `${what}: each caller has its count`);
        ok(sound, `${what}: callers are in pre-order, and siblings are ordered by name`);
        await untroubled(page, what);
    }

    // Counts that 32 bits have no room for, and one that they just have.
    const most = 2 ** 32 - 1;
    for (const [a, b, bytes] of [[most - 5, 5, 4], [most - 5, 6, 8], [2 ** 45, 3, 8]]) {
        const page = await open(renderTo("html", `x;a ${a}\ny;a ${b}\n`), { ...quiet, hash: "#layout=callers" });
        const got = await page.evaluate(() => {
            const { graph, profile } = document.querySelector(".chart-canvas").chart;
            return [graph.total[0], ...graph.own, profile.columns[0].own.BYTES_PER_ELEMENT].join();
        });
        is(got, [a + b, 0, 0, a, b, bytes].join(),
            `counts: ${a + b} is exact`);
        await untroubled(page, "counts");
    }

    // Stacks deeper than eight and than sixteen bits, and more names than sixteen.
    for (const deep of [255, 256, 65536]) {
        const names = Array.from({ length: deep }, (_, i) => "d" + i % 7);
        const page = await open(renderTo("html", `${names.join(";")} 3\n${names.slice(1).join(";")};z 4\n`), quiet);
        const heights = async () => page.evaluate(() => {
            const { graph } = document.querySelector(".chart-canvas").chart;
            return [graph.height, graph.depth.reduce((a, b) => Math.max(a, b), 0), graph.total[graph.n - 1]].join();
        });
        is(await heights(), `${deep},${deep},4`,
            `a stack of ${deep} frames has its depth and count`);
        await page.locator("#layouts [data-value=callers]").click();
        await page.waitForFunction(() => document.querySelector(".chart-canvas").chart.reversed);
        is(await heights(), `${deep},${deep},4`,
            `the callers of ${deep} frames have their depth and count`);
        await calm(page, `depth ${deep}`);
    }
    const page = await open(renderTo("html", Array.from({ length: 61000 }, (_, i) => `r;n${i} 2\n`).join("")), quiet);
    is(await page.evaluate(() => {
        const { graph, profile } = document.querySelector(".chart-canvas").chart;
        return [graph.name.BYTES_PER_ELEMENT, new Set(graph.name).size, profile.names[graph.name[graph.n - 1]]].join();
    }), "4,61002,n9999", "a page can have more names than 16 bits number");

    // A tree of 122,001 frames of callers goes when nobody looks at it.
    const press = async (value) => {
        await page.locator(`#layouts [data-value=${value}]`).click();
        await page.waitForFunction((s) => !document.documentElement.classList.contains("working") &&
            document.querySelector(".chart-canvas").chart.reversed === (s === "callers"), value);
    };
    await press("callers");
    is(await page.evaluate(() => {
        const { graph } = document.querySelector(".chart-canvas").chart;
        window.tree = new WeakRef(graph.end);
        const arrays = new Set(Object.values(graph).filter(ArrayBuffer.isView));
        return [graph.n, [...arrays].filter((a) => a.length === graph.n)
            .reduce((bytes, a) => bytes + a.BYTES_PER_ELEMENT, 0)].join();
    }), "122001,13", "a caller takes 13 bytes (11 where names are few)");
    await press("forward");
    const cdp = await page.context().newCDPSession(page);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    await cdp.send("HeapProfiler.collectGarbage");
    ok(await page.evaluate(() => !window.tree.deref()),
        "callers use no memory when they are not shown");
    await calm(page, "many names");
});
