#!/usr/bin/env node
// t0593: the view that a page begins with, where a lock is contended and where none is; its tabs in a window of
// 1000 pixels; the first row of a chain's table.
import { explore, shownTab, tab, table, tabs, untroubled } from "./explorer.mjs";
import { is, main, ok } from "./page.mjs";

const LOCK = "app;work;pthread_mutex_lock;futex g_lock", NAP = "app;rest;nanosleep";
const WAKER = "--;futex g_lock_[w];unlock_[w];report_[w];app_[w]";
const off = (lock) => `# flame: view=off unit=us\n${lock ? LOCK + " 900\n" : ""}${NAP} 100\n`;
const chain = (lock) => "# flame: view=chain unit=us\n" + (lock ?
    `${LOCK};${WAKER} 50\n${LOCK};${WAKER};--;[timer]_[w];nanosleep_[w];report_[w];app_[w] 850\n` : "") +
    `${NAP};--;[timer]_[w] 100\n`;
const LOCKED = off(true) + chain(true), FREE = off(false) + chain(false);
const MEMORY = "# flame: view=alloc unit=bytes\napp;work;malloc 4096\n";

async function opens(text, want, what, how = {}, ...options) {
    const page = await explore(text, how, ...options);
    is(await shownTab(page), want, `opens: ${what}`);
    await untroubled(page, `opens: ${what}`);
}

async function row() {
    const page = await explore(LOCKED);
    is((await table(page))[0], "nanosleep 850 \u00b5s 850 \u00b5s",
        "chain: the first row is the call of the last waker, and no thread's name");
    is((await table(page)).filter((line) => !/ 0 \u00b5s .*s$/.test(line)).join(", "),
        "nanosleep 850 \u00b5s 850 \u00b5s, [timer] 100 \u00b5s 950 \u00b5s, futex g_lock 50 \u00b5s 900 \u00b5s",
        "chain: own counts are of calls, and of what ended a wait without a waker");
    await tab(page, "off").click();
    is((await table(page))[0], "futex g_lock 900 \u00b5s 900 \u00b5s", "off: the first row is the call");
    await untroubled(page, "row");
}

const MANY = ["alloc", "count", "live", "peak", "temp", "mmap", "brk", "unmapped", "rss", "slack", "sizes", "short"];
const WAITS = ["off", "wakeup", "offwake", "chain", "io", "runq", "latency", "critical"];
const many = MANY.map((view) => `# flame: view=${view} unit=bytes\napp;f 1\n`).join("") +
    WAITS.map((view) => `# flame: view=${view} unit=us\napp;f 1\n`).join("");

async function wide() {
    const page = await explore(many, { width: 1000, height: 800 });
    is(await tabs(page), [...MANY, ...WAITS].join(" "), "tabs: there is one for each of twenty views");
    const at = await page.evaluate(() => ({
        over: document.documentElement.scrollWidth - innerWidth,
        cut: [...document.querySelectorAll("#columns button")].filter((b) => {
            const box = b.getBoundingClientRect();
            return box.left < 0 || box.right > innerWidth || b.scrollWidth > b.clientWidth;
        }).map((b) => b.textContent).join(),
        height: document.getElementById("columns").clientHeight,
    }));
    is(at.over, 0, "tabs: twenty fit into 1000 pixels");
    is(at.cut, "", "tabs: each is in sight with all its words");
    ok(at.height <= 100, "tabs: they leave room for the rest", at.height);
    await untroubled(page, "tabs");
}

await main(async () => {
    await opens(LOCKED, "chain", "a contended lock is shown with its holder");
    await opens(FREE, "off", "without a contended lock the first view is shown");
    await opens(LOCKED, "off", "--view wins", {}, "--view", "off");
    await opens(LOCKED, "off", "a link wins", { hash: "#column=off" });
    await opens(LOCKED, "chain", "a page without sentences begins as one with them", {}, "--no-findings");
    await opens(MEMORY + LOCKED, "alloc", "memory comes first, lock or not");
    await row();
    await wide();
});
