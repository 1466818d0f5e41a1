// explorer.mjs: what a reader sees and does on an explorer page, for its tests.
import { done, is, open, renderTo } from "./page.mjs";

// Opens the page of a folded text; `how` as for page.mjs's open.
export const quiet = { reducedMotion: "reduce", width: 1400, height: 800 };
export const explore = async (folded, how = {}, ...options) =>
    open(renderTo("html", folded, ...options), { ...quiet, ...how });
export const untroubled = async (page, name) => {
    is(page.trouble.join("\n"), "", `${name}: the page has no script error and makes no request`);
    await done(page);
};

// The button of a view in the switch of views, by the view's name; the names of all buttons and of the
// pressed one.
export const tab = (page, view) => page.locator(`#columns button[data-name="${view}"]`);
export const tabs = (page) => page.locator("#columns button").evaluateAll((all) =>
    all.map((b) => b.dataset.name).join(" "));
export const shownTab = (page) => page.locator("#columns [aria-pressed=true]").getAttribute("data-name");

// The frames drawn on chart `at`, by rows: [{name, x, y, w, depth, run}].
export const frames = (page, at = 0) => page.evaluate((nth) => {
    const canvas = document.querySelectorAll(".chart-canvas")[nth], { chart } = canvas;
    const box = canvas.getBoundingClientRect(), { boxes, graph, profile } = chart;
    return Array.from({ length: boxes.n }, (_, i) => ({
        name: profile.names[graph.name[boxes.node[i]]], depth: boxes.depth[i],
        run: boxes.run[i] ? boxes.last[i] - boxes.node[i] : 0, total: graph.total[boxes.node[i]],
        x: box.left + Math.max(0, boxes.x[i]),
        w: Math.min(boxes.w[i], chart.width - Math.max(0, boxes.x[i])),
        y: box.top - chart.scroller.scrollTop + chart.boxTop(boxes.depth[i]),
    }));
}, at);

export async function frame(page, name, { nth = 0, chart = 0 } = {}) {
    return (await frames(page, chart)).filter((f) => f.name === name && !f.run)[nth];
}

// "a:1 b:2", the names of a row of frames with their totals.
export async function row(page, depth, chart = 0) {
    return (await frames(page, chart)).filter((f) => f.depth === depth)
        .map((f) => `${f.run ? "~" + f.run : f.name}:${f.total}`).join(" ");
}

export async function point(page, name, how = {}) {
    const f = await frame(page, name, how);
    return [f.x + Math.min(f.w / 2, 40), f.y + 9];
}

export const click = async (page, name, how) => page.mouse.click(...await point(page, name, how));
export const hover = async (page, name, how) => page.mouse.move(...await point(page, name, how));

export async function choose(page, name, item, how) {
    await page.mouse.click(...await point(page, name, how), { button: "right" });
    await page.locator("#menu button").filter({ hasText: item }).click();
}

// The colour on the canvas inside a frame, near its left edge.
export async function color(page, name, how = {}) {
    const f = await frame(page, name, how);
    return page.evaluate(([x, y, nth]) => {
        const canvas = document.querySelectorAll(".chart-canvas")[nth], { chart } = canvas;
        const box = canvas.getBoundingClientRect();
        chart.draw();
        const copy = document.createElement("canvas")
            .getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, -((x - box.left) * chart.ratio + 1), -((y - box.top) * chart.ratio + 3));
        return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
    }, [f.x, f.y, how.chart || 0]);
}

export const text = (page, selector) => page.locator(selector).innerText();
export const crumbs = (page) => page.locator("#crumbs").innerText()
    .then((s) => s.split(/\s*\n\s*/).join(" "));

// The table's rows: ["name self total", ...], as shown.
export const table = (page) => page.locator("tr[data-at]").evaluateAll((rows) =>
    rows.map((r) => [r.querySelector(".symbol").textContent,
        ...[...r.querySelectorAll(".value")].map((v) => v.textContent)].join(" ")));
