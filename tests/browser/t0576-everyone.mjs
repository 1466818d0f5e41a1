#!/usr/bin/env node
// Page and picture for everyone: axe-core finds nothing in any state, theme or size.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { crumbs, explore, point, quiet, text, untroubled } from "./explorer.mjs";
import { done, is, main, ok, open, render, renderTo } from "./page.mjs";
import { EYES, blend, color, contrast, distance } from "./vision.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TWO = "a;up 10 30\na;down 30 10\na;same 20 20\na;gone;f 20 0\na;new;f 0 20\n";
const CHAIN = "# flame: view=chain unit=us\nT1;run;futex;--;post_[w];loop_[w];T2_[w] 5000\nT1;run;poll 5000\n";
const MANY = Array.from({ length: 300 }, (_, i) => `main;group${i % 7};work${i};leaf_[k] ${i + 1}\n`).join("");
const SIZES = [[1400, 900], [640, 400], [700, 450]]; /* the last is 1400x900 at 200 % */

// Violations that axe-core finds in the page, a line each. Preloading is for sounds and for a rule
// that is off; a page without another file has nothing to load, and the wait for it doubles the time.
async function complaints(page) {
    await page.evaluate(AXE);
    return page.evaluate(async () => {
        const found = await window.axe.run(document, { resultTypes: ["violations"], preload: false });
        return found.violations.map((v) => `${v.id}: ${v.help}: ` + v.nodes.slice(0, 4).map((node) =>
            `${node.target} ${node.any.concat(node.all).map((check) => check.message).join("; ")}`)
            .join(" | ")).join("\n");
    });
}

async function holds(page, name) {
    const found = await complaints(page);
    ok(found === "", `axe-core finds nothing: ${name}`, found);
}

const STATES = {
    "as it opens": async () => {},
    "a frame selected by the keyboard, then its menu": async (page) => {
        await page.locator(".chart-canvas").last().focus();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("m");
    },
    "how to read this": async (page) => page.keyboard.press("e"),
    "keys": async (page) => page.keyboard.press("?"),
    "a tooltip, a frame zoomed into": async (page) => {
        await page.locator(".chart-canvas").last().focus();
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");
        const box = await page.locator(".chart-canvas").last().boundingBox();
        await page.mouse.move(box.x + 30, box.y + 10);
    },
    "what is displayed": async (page) => page.locator("#display summary").click(),
    "a search, its filters": async (page) => {
        await page.keyboard.press("/");
        await page.keyboard.type("e");
        await page.locator("#filter").click();
    },
    "a filter, a wrong search, a row picked": async (page) => {
        await page.locator("tr[data-at]").first().focus();
        await page.keyboard.press("Enter");
        await page.locator("#filter").click();
        await page.keyboard.press("Enter");
        await page.locator("#regex").click();
        await page.locator("#query").fill("(");
    },
    "the table alone": async (page) => page.keyboard.press("1"),
    "callers, recursion collapsed": async (page) => {
        await page.keyboard.press("r");
        await page.locator("#display summary").click();
        await page.locator("#display input[name=recursion]").check();
    },
    "a sandwich": async (page) => {
        await page.locator("tr[data-at]").first().focus();
        await page.keyboard.press("s");
    },
};

// axe-core takes a second for a state, so the gate of minutes looks at one, and FULL=1 at all.
const FULL = process.env.FLAME_TEST_FULL === "1";

// Every state in both themes; in small windows (one theme each), and for other profiles, those
// that differ.
async function pages() {
    const some = ["as it opens", "a frame selected by the keyboard, then its menu", "how to read this",
        "a tooltip, a frame zoomed into", "what is displayed"];
    const few = FULL ? some : some.slice(0, 1);
    let opened = 0;
    for (const [what, folded, sizes, states] of [["one view", MANY, SIZES.slice(0, 1), FULL ? Object.keys(STATES) : few],
        ["one view", MANY, SIZES.slice(1), few], ["a comparison", TWO, SIZES.slice(0, 1), few],
        ["a comparison side by side", TWO, SIZES.slice(0, 1), few.slice(0, 1)],
        ["a chain", CHAIN, SIZES.slice(0, 1), few]]) {
        const path = renderTo("html", folded);
        const hash = what.endsWith("side") ? "#layout=compare" : "";
        for (const [colorScheme, [width, height]] of sizes.length > 1 ? sizes.map((size, i) =>
            [["light", "dark"][i], size]) : ["light", "dark"].map((theme) => [theme, sizes[0]])) {
            const page = await open(path, { ...quiet, colorScheme, width, height, hash });
            for (const state of states) {
                await page.goto(`file://${path}?${++opened}${hash}`); /* loads it again */
                await STATES[state](page);
                await holds(page, `${what}, ${colorScheme}, ${width}x${height}: ${state}`);
            }
            await done(page);
        }
    }
}

async function pictures() {
    for (const [what, folded] of [["one view", MANY], ["a comparison", TWO], ["a chain", CHAIN]])
        for (const colorScheme of ["light", "dark"]) {
            const page = await open(render(folded), { colorScheme });
            if (FULL)
                await holds(page, `picture of ${what}, ${colorScheme}: as it opens`);
            await page.locator("#frames").focus();
            await page.keyboard.press("ArrowUp");
            await page.keyboard.press("ArrowUp");
            await page.keyboard.press("Control+f");
            await page.keyboard.type("/a/");
            await holds(page, `picture of ${what}, ${colorScheme}: a search, a frame selected`);
            await done(page);
        }
}

// The least contrast of a label on the chart, of names and of what is behind them.
const leastContrast = async (page) => {
    const looks = await page.evaluate(() => [...document.querySelectorAll(".chart-canvas")].flatMap(
        ({ chart: { view, graph, alphas } }) => Array.from({ length: graph.n }, (_, i) => [view.color(i),
            view.marks && [1, 2].includes(view.marks[i]) ? "#ffffff" : view.theme.label,
            graph.depth[i], alphas, view.theme])));
    return Math.min(...looks.flatMap(([fill, label, , alphas, theme]) => {
        const [box, ink, paper, other] = [fill, label, theme.panel, theme.text].map(color);
        const caller = blend(box, paper, theme.caller);
        return [contrast(ink, box), contrast(blend(ink, box, alphas.note), box),
            contrast(blend(other, caller, alphas.note), caller),
            contrast(color(theme.muted), color(theme.faded)), contrast(color(theme.text), color(theme.thin)),
            contrast(color(theme.panel), color(theme.accent))];
    }));
};

// Every label on a frame can be read: 4.5 is what WCAG 2.2 wants of text (1.4.3).
async function labels() {
    const marked = MANY + ["i", "j", "w", "o"].map((m) => `main;f${m}_[${m}] 9\n`).join("");
    for (const [what, folded, modes] of [["one view", marked, ["package", "name", "kind", "own", "total"]],
        ["a comparison", TWO, ["change", "relative", "ratio", "kind"]], ["a chain", CHAIN, ["package", "kind"]]]) {
        const page = await explore(folded);
        for (const theme of ["light", "dark"])
            for (const mode of modes) {
                await page.evaluate((hash) => { location.hash = hash; }, `color=${mode}&theme=${theme}`);
                await page.waitForFunction(([c, t]) => document.getElementById("color").value === c &&
                    document.documentElement.dataset.theme === t, [mode, theme]);
                const least = await leastContrast(page);
                ok(least >= 4.5,
                    `labels of ${what} by ${mode}, ${theme}, can be read: ${least.toFixed(2)}`);
            }
        await untroubled(page, what);
    }
}

// Contrast of labels in pictures, in all palettes, also beside a zoom and in frames that a search found.
async function pictureLabels() {
    const marked = MANY + ["i", "j", "w", "o"].map((m) => `main;f${m}_[${m}] 9\n`).join("") + "--;- 9\n";
    const palettes = "hot mem io java js perl python rust wakeup chain red green blue aqua yellow purple orange hotcold";
    const least = { light: [99], dark: [99] };
    for (const [folded, ...options] of [...palettes.split(" ").map((p) => [marked, "--colors", p]),
        [TWO], [TWO, "--negate"], [TWO, "--widths", "elided"], [TWO, "--change", "ratio"], [CHAIN]]) {
        const page = await open(render(folded, ...options));
        const look = async () => {
            for (const colorScheme of ["light", "dark"]) {
                await page.emulateMedia({ colorScheme });
                const looks = await page.evaluate(() => {
                    const paper = getComputedStyle(document.querySelector(".paper2")).stopColor;
                    const all = [...document.querySelectorAll("#frames > g")]
                        .filter((g) => g.getBoundingClientRect().width > 0).map((g) => {
                            const rect = getComputedStyle(g.children[1]);
                            return [rect.fill, getComputedStyle(g.children[2]).fill, Number(rect.opacity), paper];
                        });
                    return [...new Map(all.map((one) => [one.join(), one])).values()];
                });
                for (const [fill, ink, opacity, paper] of looks) {
                    const has = contrast(color(ink), blend(color(fill), color(paper), opacity));
                    if (has < least[colorScheme][0])
                        least[colorScheme] = [has, `${options.join(" ")}: ${ink} on ${fill} at ${opacity}`];
                }
            }
        };
        await look();
        await page.locator("#frames > g").nth(folded === CHAIN ? 8 : 3).click();
        await look();
        await page.keyboard.press("Control+f");
        await page.keyboard.type("/./");
        await page.waitForFunction(() => document.querySelector("#frames .match"));
        await look();
        await done(page);
    }
    for (const [theme, [has, where]] of Object.entries(least))
        ok(has >= 4.5, `labels of pictures, ${theme}, can be read: ${has.toFixed(2)}`, where);
}

// [words, [r, g, b]] of each swatch of a picture's or a page's legend.
const swatches = (page, selector) => page.evaluate((key) => [...document.querySelectorAll(key)].map((g) =>
    [g.textContent, [...g.querySelectorAll("rect, i")].map((e) =>
        e.tagName === "rect" ? e.getAttribute("fill") : getComputedStyle(e).backgroundColor)])
    .filter(([, colors]) => colors.length === 1), selector)
    .then((found) => found.map(([words, [fill]]) => [words.trim(), color(fill)]));

function apart(pairs, least, name) {
    let worst = [9];
    for (const [[a, p], [b, q]] of pairs)
        for (const who of Object.keys(EYES))
            worst = [[distance(p, q, who), `${a} and ${b}, ${who}`], worst].sort((x, y) => x[0] - y[0])[0];
    ok(pairs.length && worst[0] >= least,
        `${name} have colours that differ: ${worst[0].toFixed(3)}`, worst[1]);
}

const consecutive = (list) => list.slice(1).map((e, i) => [list[i], e]);
const allPairs = (list) => list.flatMap((e, i) => list.slice(i + 1).map((f) => [e, f]));

// Kinds, wakers one after another, and both ends of a scale, to all eyes; 0.02 can just be seen.
async function eyes() {
    const kinds = "a;plain 9\n" + ["k", "i", "j", "w", "o"].map((m) => `a;f${m}_[${m}] 9\n`).join("");
    const chain = "# flame: view=chain unit=us\nT;run;" + [1, 2, 3, 4, 5].map((i) => `--;f${i}_[w];T${i}_[w]`).join(";") + " 9\n";
    for (const colorScheme of ["light", "dark"]) {
        const kind = await explore(kinds, { colorScheme, hash: "#color=kind" });
        apart(allPairs(await swatches(kind, ".legend-key")), 0.08, `kinds on a page, ${colorScheme},`);
        await done(kind);
        const hops = await explore(chain, { colorScheme });
        apart(allPairs((await swatches(hops, ".legend-key")).slice(0, 5)), 0.08, `wakers on a page, ${colorScheme},`);
        await done(hops);
        const change = await explore(TWO, { colorScheme });
        const scale = (await change.evaluate(() => [...document.querySelectorAll(".scale i")].map((e) =>
            getComputedStyle(e).backgroundColor))).map((s, i) => [String(i), color(s)]);
        apart([[scale[0], scale[8]], [scale[0], scale[4]], [scale[4], scale[8]]], 0.1, `more, less and the same, ${colorScheme},`);
        await done(change);
    }
    for (const palette of ["hot", "mem", "io", "wakeup", "orange", "hotcold"]) {
        const page = await open(render(kinds, "--colors", palette));
        const found = await swatches(page, "#legend > g"), own = found.find(([words]) => words === "other functions");
        is(found.length, 6, `${palette}: the legend has six kinds`);
        apart(found.filter((f) => f !== own).map((f) => [own, f]), 0.045, `${palette}: functions and marked ones`);
        await done(page);
    }
    const page = await open(render(chain));
    apart(consecutive((await swatches(page, "#legend > g")).slice(0, 6)), 0.045, "sleeper and wakers of a picture");
    await done(page);
    const two = await open(render(TWO));
    const ends = (await two.evaluate(() => [...document.querySelectorAll("#legend rect")].map((e) =>
        e.getAttribute("fill")))).map((s, i) => [String(i), color(s)]);
    apart([[ends[0], ends[8]], [ends[0], ends[4]], [ends[4], ends[8]]], 0.1, "more, less and the same in a picture");
    await done(two);
}

// A finger: the first tap tells, the second zooms; Show all stays in sight.
async function touch() {
    const page = await explore("main;parse;alloc 30\nmain;emit 10\n", { hasTouch: true, width: 640, height: 400 });
    await page.touchscreen.tap(...await point(page, "parse"));
    ok(await page.locator("#tooltip").isVisible(), "touch: a tap shows the details");
    ok((await text(page, "#tooltip")).includes("Tap again to zoom"),
        "touch: the tooltip tells how to zoom");
    is(await text(page, "#details"), "parse: 30, 75.00%",
        "touch: the details line shows the tapped frame");
    is(await crumbs(page), "all", "touch: the first tap does not zoom");
    ok(!await page.locator("#reset").isVisible(), "touch: Show all is hidden before a zoom");
    await page.touchscreen.tap(...await point(page, "parse"));
    is(await crumbs(page), "all main parse", "touch: a second tap zooms");
    ok(await page.locator("#reset").isVisible(), "touch: Show all is visible after a zoom");
    await page.locator("#reset").tap();
    is(await crumbs(page), "all", "touch: Show all resets the zoom");
    ok(!await page.locator("#reset").isVisible(), "touch: Show all is hidden after the reset");
    await untroubled(page, "touch");
    const picture = await open(render("main;parse;alloc 30\nmain;emit 10\n"), { hasTouch: true });
    await picture.locator("#frames > g").nth(2).tap();
    ok((await picture.evaluate(() => document.getElementById("details").textContent)).startsWith("Function: "),
        "touch: a tap on a picture shows the details");
    await done(picture);
}

// Table and graph keep a height in which they can be read, and all of the page can be reached.
async function small() {
    for (const [width, height] of SIZES.slice(1)) {
        const page = await explore(MANY, { width, height });
        const high = await page.evaluate(() => ["graph", "table"].map((id) => document.getElementById(id).clientHeight));
        ok(high[0] >= 250 && high[1] >= 210, `${width}x${height}: graph and table have room (${high})`);
        is(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true,
            "small window: nothing hangs over the right edge");
        await page.locator("tr[data-at]").nth(3).scrollIntoViewIfNeeded();
        const box = await page.locator("tr[data-at]").nth(3).boundingBox();
        ok(box.y >= 0 && box.y + box.height <= height, "small window: rows can be scrolled to");
        await page.locator("#display summary").click();
        const panel = await page.locator(".dropdown .panel").boundingBox();
        ok(panel.x >= 0 && panel.x + panel.width <= width,
            "small window: the Display panel opens inside the window");
        await untroubled(page, `${width}x${height}`);
    }
}

// A picture higher than the window opens where its root is, with its controls in sight.
async function tall() {
    const deep = "f;".repeat(200) + "leaf 3\n";
    const inSight = (page, id) => page.evaluate((at) => {
        const e = at === "root" ? document.querySelector("#frames rect") : document.getElementById(at);
        const box = e.getBoundingClientRect();
        return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
    }, id);
    for (const [what, ...options] of [["root below", ], ["root above", "--inverted"]]) {
        const page = await open(render(deep, ...options), { height: 500 });
        await page.waitForFunction(() => document.querySelector("svg.live"));
        ok(await inSight(page, "root"), `${what}: the root is in sight`);
        ok(await inSight(page, "legend"), "high picture: the legend is in sight");
        ok(await inSight(page, "search"), "high picture: the search is in sight");
        await page.locator("#frames > g").nth(1).click();
        await page.evaluate(() => window.scrollTo(0, 1500));
        await page.waitForFunction(() => scrollY === 1500 && document.querySelector("#toolbar.pinned"));
        /* The toolbar was pinned before, and follows when the window has told that it was scrolled. */
        await page.evaluate(() => new Promise((painted) =>
            requestAnimationFrame(() => requestAnimationFrame(painted))));
        ok(await inSight(page, "unzoom"), "high picture: Reset Zoom stays in sight");
        is(page.trouble.join(), "", "high picture: there is no script error");
        await done(page);
    }
    const page = await open(render("a;b 3\n"), { height: 700 });
    is(await page.evaluate(() => scrollY), 0, "a picture that fits is not scrolled");
    await done(page);
}

await main([pages, pictures, labels, pictureLabels, eyes, touch, small, tall]);
