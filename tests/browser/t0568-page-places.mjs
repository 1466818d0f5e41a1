#!/usr/bin/env node
// t0568: the table by module, file, thread and process has the numbers of 'flame top --by', a
// click searches the frames of a place, and colours by package are the module's.
import { execFileSync } from "node:child_process";
import { color, explore, frames, text, untroubled } from "./explorer.mjs";
import { file, is, main, near, ok } from "./page.mjs";

const HOSTILE = "lib<script>alert(1):a b\"'.so";
const STACKS = "# flame: view=alloc unit=bytes\n# flame: modules=prefix\n" +
    "app-7;w-8;app`main m.c:3;libone.so`helper h.c:9 40\n" +
    "app-7;w-8;app`main m.c:3;libtwo.so`helper i.c:9 20\n" +
    "app-7;w-9;app`main m.c:4;libtwo.so`take;libcxx.so`operator new(unsigned long);libc.so`malloc 8\n" +
    "app-7;w-9;app`main m.c:4;libone.so`back;app`main m.c:4;libone.so`helper h.c:9 16\n" +
    "app-10 (fork);w-10;app`main m.c:3;cc1`[cc1+0x12] 5\n" +
    "app-10 (fork);w-10;app`main m.c:3;cc1`ggc_alloc;cc1`gimple_build 6\n" +
    `app-10 (fork);w-10;${HOSTILE}\`evil 2\n` +
    "app-10 (fork);w-10;app`main m.c:3;[anonymous memory] 3\nodd 1\n";

const top = (folded, by, ...options) => execFileSync(process.env.FLAME || "build/flame",
    ["top", "--by", by, "-e", "-n", "0", ...options, file("top.folded", folded)], { encoding: "utf8" })
    .split("\n").slice(2, -1).map((line) => {
        const m = /^ *(\S+) +\S+ +(\S+) +\S+ {2}(.*)$/.exec(line);
        return [m[3], m[1], m[2]].join("|").replaceAll(",", "");
    });
const shown = (page) => page.locator("tr[data-at]").evaluateAll((rows) => rows.map((r) =>
    [r.querySelector(".symbol").textContent, ...[...r.querySelectorAll(".col-own, .col-total")].map((e) =>
        e.title.split(" ")[0])].join("|").replaceAll(",", "")));
const by = (page, kind) => page.locator("select.by").selectOption(kind);

async function same(folded, kinds, options, changes) {
    const page = await explore(folded, { width: 1400 }, ...options);
    await changes(page);
    for (const kind of kinds) {
        await by(page, kind);
        is((await shown(page)).sort().join("\n"), top(folded, kind, ...options).sort().join("\n"),
            `rows of ${[kind, ...options].join(" ")} are those of flame top`);
    }
    return page;
}

async function numbers() {
    const kinds = ["module", "file", "thread", "process"];
    const page = await same(STACKS, kinds, [], () => {});
    is((await page.locator("select.by option").evaluateAll((all) => all.map((o) => o.value))).join(),
        "function,module,file,thread,process",
            "rows: the choice has function, module, file, thread and process");
    await untroubled(page, "numbers");
    await untroubled(await same(STACKS, kinds, ["--no-wrappers"], () => {}), "without wrappers");
    await untroubled(await same(STACKS, ["module", "file"], ["--focus", "^take$"], () => {}), "a part");
    const other = await same(STACKS.replace(/ [a-z]\.c:\d/g, ""), ["function"], [], () => {});
    ok((await shown(other)).includes("helper|76|76"), "rows: functions are merged by name");
    is((await frames(other)).filter((f) => f.name === "helper" && f.total === 60).length, 1,
        "rows: a function of two modules is one frame");
    await untroubled(other, "functions");
    const filtered = await explore(STACKS, { hash: `#by=module&filter=${encodeURIComponent(
        JSON.stringify(["keep", "", "", ";take"]))}` });
    is((await shown(filtered)).join(), top(STACKS, "module", "--focus", "^take$").join(),
        "rows: a filter of the page leaves the rows of flame top --focus");
    await untroubled(filtered, "filtered");
}

async function search() {
    const page = await explore(STACKS, { hash: "#by=module" });
    const line = (name) => page.locator("tr[data-at]", { hasText: name });
    await line(HOSTILE).click();
    is(await line(HOSTILE).getAttribute("aria-selected"), "true", "rows: a place can be selected");
    is((await text(page, "#matched")).replace(/.*\u00b7 /, ""), "1 name",
        "rows: the frames of the selected place are found");
    await page.waitForFunction(() => location.hash.includes("place="));
    const { hash } = new URL(page.url());
    await page.locator("#filter").click();
    await page.locator("#menu button", { hasText: "Show only stacks" }).click();
    is((await shown(page)).join(), `${HOSTILE}|2|2`,
        "rows: a filter of the selected place is made");
    ok((await text(page, "#filters")).includes(HOSTILE),
        "rows: the tag of the filter has the name of the place");
    await page.reload();
    is((await shown(page)).join(), `${HOSTILE}|2|2`,
        "rows: a link keeps the filter of the selected place");
    await untroubled(page, "filter");
    const link = await explore(STACKS, { hash });
    is(await link.locator("tr.picked .symbol").innerText(), HOSTILE,
        "rows: a link keeps the selected place");
    await link.keyboard.press("Escape");
    is(await link.locator("tr.picked").count(), 0, "rows: Escape deselects the place");
    await link.locator("tr[data-at]", { hasText: "cc1" }).focus();
    await link.keyboard.press("Enter");
    is(await link.locator("tr.picked .symbol").innerText(), "cc1", "rows: Enter selects a place");
    await link.keyboard.press("s");
    is(await link.locator("#filters").innerText(), "", "rows: a place has no sandwich");
    await link.keyboard.press("Escape");
    await link.locator("#query").fill("gimple");
    is((await shown(link)).join(), "cc1|11|11", "rows: a search finds places by their frames");
    await link.locator("#query").fill("libtw");
    is((await shown(link)).map((r) => r.split("|")[0]).join(), "libtwo.so",
        "rows: a search finds places by their names");
    await link.keyboard.press("Escape");
    await by(link, "process");
    ok(await link.waitForFunction(() => location.hash.includes("by=process")),
        "rows: the address has the kind of the rows");
    await untroubled(link, "search");
    const wrong = await explore("a;b 1\n", { hash: "#by=module&place=module:x&place=%00" });
    is((await shown(wrong)).join(), "b|1|1,a|0|1",
        "rows: a link with an unknown place shows functions");
    await untroubled(wrong, "wrong");
}

/* Hue, red being 0. */
const hueOf = (rgb) => {
    const [r, g, b] = rgb.split(",").map(Number);
    return Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b);
};

async function colors() {
    for (const theme of ["light", "dark"]) {
        const page = await explore(STACKS, { hash: `#theme=${theme}&color=package` });
        const hue = async (name) => hueOf(await color(page, name));
        near(await hue("ggc_alloc"), await hue("gimple_build"), 0.12,
            `${theme}: functions of one module have one colour`);
        near(await hue("ggc_alloc"), await hue("[cc1+0x12]"), 0.12,
            "a function without a name has the colour of its module");
        ok(Math.abs(await hue("ggc_alloc") - await hue("take")) > 0.15,
            "functions of two modules have two colours");
        await untroubled(page, theme);
    }
    const guessed = await explore("a;sqlite3_step;sqlite3_exec 3\na;png_read 2\n", { hash: "#by=package" });
    is((await shown(guessed)).join(), "sqlite3|3|3,png|2|2,a|0|5",
        "rows: a profile without modules has guessed packages");
    await untroubled(guessed, "guessed");
}

await main(async () => {
    await numbers();
    await search();
    await colors();
});
