#!/usr/bin/env node
// Chains of a part of the time: the page splits each wait over what the thread that ended it did then, in the
// graph and for a click on a wait.
import { explore, untroubled } from "./explorer.mjs";
import { lanes, MS, SHARE, SLEEP } from "./lanetext.mjs";
import { is, main, ok } from "./page.mjs";

// a waits from 0 to 10 for b, the last 1 without a CPU. b waits from 2 to 5 for a disk, and from 6 to 8 for c, which b had
// made at 5.5 and which slept from 7 to 8. From 8 to 9 b is half on a CPU, half in the run queue.
const ROOT = 0, WAKER = 1, SLEPT = 2, CREATOR = 3, RUNQ = 4;
const NAMES = ["a;f;lock", "a;f;lock;--;give_[w];b_[w]", "a;f;lock;--;give_[w];b_[w];--;[disk]_[w];read_[w];b_[w]",
    "a;f;lock;--;give_[w];b_[w];--;exit_[w];c_[w]", "a;f;lock;--;give_[w];b_[w];--;exit_[w];c_[w];--;nap_[w];c_[w]",
    "a;f;lock;--;give_[w];b_[w];--;[run queue]_[w]", "a;f;lock;--;[run queue]_[w]",
    "b;g;read;--;[disk]_[w]", "b;g;join;--;exit_[w];c_[w]", "b;g;join;--;exit_[w];c_[w];--;nap_[w];c_[w]", "c;nap",
    "b;g;join;--;exit_[w];c_[w];--;b_[w]"];
const LINKS = [[-1, ROOT, 0], [0, WAKER, 0], [1, SLEPT, 1], [1, WAKER, 2], [3, SLEPT, 3], [1, RUNQ, -1], [0, RUNQ, -1],
    [-1, ROOT, 1], [-1, ROOT, 2], [8, WAKER, 2], [9, SLEPT, 3], [9, CREATOR, 1], [-1, ROOT, 3]];
const AT = [0, 1, 2, 3, 4, 5, 6, 7, -1, 8, 9, 11, 10]; // by link its name
const CHAINS = { links: LINKS, woke: [0, -1, 2, -1, -1], lives: [[0, 20, -1], [0, 20, 0], [5.5, 8, 1]] };
const ROWS = [[0, 1, 1], [1, 2, -1], [1, 7, 2], [2, 6, -1], [1, 15, -1]];
const WAITS = [[[SLEEP, 0, 0, 10, 1]],
    [[SLEEP, 1, 2, 5, 0], [SLEEP, 2, 6, 8, 0], [SHARE, 4, 8, 9, 0.5, [0.5, 1, 0]]],
    [[SLEEP, 3, 7, 8, 0]]];
const COUNTS = [0, 3.5, 3, 1, 1, 0.5, 1, 3, 1, 1, 1, 0]; // by name, in ms, of the whole
const text = (chains) => "# flame: view=off unit=us\na;f;lock 10000\nb;g;read 3000\nb;g;join 2000\nc;nap 1000\n" +
    "# flame: view=chain unit=us\n" + NAMES.map((name, i) => COUNTS[i] ? `${name} ${COUNTS[i] * 1000}\n` : "").join("") +
    lanes([[1, 1, "a"], [1, 2, "b"], [1, 3, "c"]], ROWS,
        [["off", "a;f;lock", [0]], ["off", "b;g;read", [1]], ["off", "b;g;join", [2]], ["off", "c;nap", [3]],
            ...NAMES.flatMap((name, i) => {
                const links = AT.flatMap((of, link) => of === i ? [link] : []);
                return links.length && COUNTS[i] ? [["chain", name, links]] : [];
            })], WAITS, { chains });

const select = (page, from, to) => page.evaluate((range) =>
    document.querySelector(".lanes-plot").chart.listener.range(range), [from * MS, to * MS]);
const counts = (page) => page.evaluate(() => {
    const { profile } = document.querySelector(".chart-canvas").chart, { shape, names } = profile;
    const { own } = profile.columns.find((c) => c.name === "chain"), found = [];
    const path = (i) => shape.parent[i] > 0 ? path(shape.parent[i]) + ";" + names[shape.name[i]] : names[shape.name[i]];
    own.forEach((v, i) => v > 0 && found.push(`${path(i)} ${v}`));
    return found.sort().join("\n");
});
const wanted = (ms) => NAMES.flatMap((name, i) => ms[i] ? [`${name.replaceAll("_[w]", "")} ${ms[i] * 1000}`] : []).sort().join("\n");

async function parts() {
    const page = await explore(text(CHAINS), { hash: "#column=chain" });
    is(await counts(page), wanted(COUNTS), "chains: without a range the page has the counts of the text");
    await select(page, 0, 20);
    is(await counts(page), wanted(COUNTS), "chains: a range of all has the same");
    await select(page, 1, 7.5);
    is(await counts(page), wanted([0, 2, 3, 1, 0.5, 0, 0, 3, 1, 0.5, 0.5]), "chains: a range splits what lies in it");
    await select(page, 8.5, 9.5);
    is(await counts(page), wanted([0, 0.25, 0, 0, 0, 0.25, 0.5, 0, 0, 0, 0]), "chains: the run queue after the wake is apart");
    await untroubled(page, "parts");
}

async function picked() {
    const page = await explore(text(CHAINS), { hash: "#wait=1~0" });
    const items = await page.locator(".lanes-parts li").allTextContents();
    is(items.map((s) => s.replace(/ +/g, " ")).join("|"), "3.50 ms b: give|3.00 ms b \u21d0 b: [disk] \u2190 read|1.00 ms b \u21d0 c: exit|" +
        "1.00 ms b \u21d0 c \u21d0 c: nap|1.00 ms [run queue]|500.0 \u00b5s b \u21d0 [run queue]",
    "chains: a click on a wait lists what its waker did meanwhile");
    await untroubled(page, "picked");
}

// a waits while b has hundreds of waits for a disk: 1 ms of each 2.
async function many() {
    const MANY = { links: [[-1, ROOT, 0], [0, WAKER, 0], [1, SLEPT, 1], [-1, ROOT, 1]], woke: [0, -1],
        lives: [[0, 2000, -1], [0, 2000, 0]] };
    const names = ["a;lock;--;give_[w];b_[w]", "a;lock;--;give_[w];b_[w];--;[disk]_[w];read_[w];b_[w]", "b;read;--;[disk]_[w]"];
    const page = await explore("# flame: view=off unit=us\na;lock 1000000\nb;read 500000\n# flame: view=chain unit=us\n" +
        names.map((name) => `${name} 500000\n`).join("") +
        lanes([[1, 1, "a"], [1, 2, "b"]], [[0, 1, 1], [1, 2, -1]], [["off", "a;lock", [0]], ["off", "b;read", [1]],
            ["chain", names[0], [1]], ["chain", names[1], [2]], ["chain", names[2], [3]]],
        [[[SLEEP, 0, 0, 1000, 0]], Array.from({ length: 500 }, (_, i) => [SLEEP, 1, 2 * i + 1, 2 * i + 2, 0])], { chains: MANY }),
    { hash: "#column=chain" });
    await select(page, 100, 900.5);
    is(await counts(page), [["a;lock;--;give;b", 400500], ["a;lock;--;give;b;--;[disk];read;b", 400000], ["b;read;--;[disk]", 400000]]
        .map(([name, us]) => `${name} ${us}`).join("\n"), "chains: a long wait is split over hundreds of waits");
    await untroubled(page, "many");
}

async function wrong() {
    for (const [what, chains] of [["a link on a later one", { ...CHAINS, links: [[-1, ROOT, 0], [3, WAKER, 0]] }],
        ["a row that is not there", { ...CHAINS, links: [[-1, ROOT, 9]] }],
        ["a thread without a life", { ...CHAINS, lives: [[0, 1, -1]] }],
        ["a stack of no row", { ...CHAINS, links: [[-1, ROOT, -1]] }]]) {
        const page = await explore(text(chains), { hash: "#column=chain" });
        ok(await page.evaluate(() => !document.querySelector(".lanes-plot").chart.data.links),
            `chains: ${what} leaves the page without links`);
        await untroubled(page, what);
    }
}

await main([parts, picked, many, wrong]);
