#!/usr/bin/env node
// t0571: the columns of a comparison, half of the table for names, and what is kept when the
// reader changes something else: lines apart, callers and callees.
import { click, crumbs, explore, shownTab, untroubled } from "./explorer.mjs";
import { is, main, ok } from "./page.mjs";

const cells = (page, key) => page.locator("tr[data-at]").evaluateAll((rows, k) => rows.map((r) =>
    r.querySelector(".symbol").textContent + r.querySelector(`.col-${k} .value`).textContent).join(), key);
const heads = (page) => page.locator(".top th").evaluateAll((all) =>
    all.map((e) => e.className.replace("col-", "")).join());
/* The share of the table that names have, and whether a cell's text is wider than the cell. */
const room = (page) => page.evaluate(() => {
    const [all, name] = [".top", "th.col-name"].map((s) => document.querySelector(s).getBoundingClientRect().width);
    const cut = [...document.querySelectorAll("tr[data-at] td:not(.col-name)")]
        .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent);
    return { share: name / all, cut: cut.join("; ") };
});

const MANY = "m;alpha;beta 10485760 34603008\nm;alpha 5242880 1048576\nm;gamma 20971520 0\n";
const TIMES = "# flame: view=alloc unit=bytes\n";

async function comparison() {
    const page = await explore(TIMES + MANY, { width: 1200 });
    is(await heads(page), "name,own,total,ownChange,change",
        "table: a comparison has both changes");
    is(await cells(page, "ownChange"),
        "beta+23.00 MiB,alpha\u22124.00 MiB,m0 B,gamma\u221220.00 MiB",
        "table: a comparison has the changes of self");
    is(await cells(page, "change"),
        "beta+23.00 MiB,alpha+19.00 MiB,m\u22121.00 MiB,gamma\u221220.00 MiB",
        "table: a comparison has the changes of all");
    await page.locator("th.col-ownChange button").click();
    is(await page.locator("tr[data-at] .symbol").allTextContents().then((all) => all.join()),
        "beta,gamma,alpha,m", "table: changes sort by their size, whatever the sign");
    await page.waitForFunction(() => location.hash.includes("sort=ownChange"));
    await page.reload();
    is(await page.locator("th.col-ownChange").getAttribute("aria-sort"), "descending",
        "table: a link keeps the order");
    await page.locator("select.by").selectOption("package");
    is(await cells(page, "ownChange"),
        "beta+23.00 MiB,gamma\u221220.00 MiB,alpha\u22124.00 MiB,m0 B",
        "table: places have the changes of self");
    await untroubled(page, "comparison");
}

async function widths() {
    for (const [width, folded, name] of [[1200, TIMES + MANY, "a comparison"], [1400, TIMES + MANY, "a comparison"],
        [1200, TIMES + "m;a 53000\n", "a profile"], [1400, TIMES + "m;a 53000\n", "a profile"]])
        for (const theme of ["light", "dark"]) {
            const page = await explore(folded, { width, hash: `#theme=${theme}` });
            const { share, cut } = await room(page);
            ok(share >= 0.495, `${name} at ${width} in ${theme}: names have half of the table`, share);
            is(cut, "", "table: no count is cut");
            await untroubled(page, "widths");
        }
    const page = await explore(TIMES + MANY, { width: 1200, hash: "#sort=change" });
    await page.locator("#divider").focus();
    for (let i = 0; i < 8; i++)
        await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(() => document.querySelectorAll(".top th").length === 3);
    is(await heads(page), "name,own,change", "table: a narrow one has the column it is sorted by");
    ok(/wider for 2 columns more/.test(await page.locator("th.col-name").getAttribute("title")),
        "table: the title of a narrow one has the number of hidden columns");
    await untroubled(page, "narrow");
}

async function kept() {
    const lines = "# flame: view=alloc unit=bytes\nm;f a.c:1;x 4\nm;f a.c:2;y 6\n" +
        "# flame: view=count unit=calls\nm;f a.c:1;x 1\nm;f a.c:2;y 2\n";
    const page = await explore(lines, { hash: "#column=count&sort=total" });
    await page.locator("#query").fill("y");
    await page.waitForFunction(() => location.hash.includes("q=y"));
    await page.locator("#display summary").click();
    await Promise.all([page.waitForEvent("load"), page.locator("#lines").click()]);
    await page.waitForFunction(() => document.querySelector("#lines").checked);
    is(await page.locator("#query").inputValue(), "y", "lines apart keep the search");
    is(await shownTab(page), "count",
        "lines apart keep the column");
    is(await page.locator("th.col-total").getAttribute("aria-sort"), "descending",
        "lines apart keep the order");
    await page.locator("#display summary").click();
    await Promise.all([page.waitForEvent("load"), page.locator("#lines").click()]);
    await page.waitForFunction(() => !document.querySelector("#lines").checked);
    is(await page.locator("#query").inputValue() + await shownTab(page),
        "ycount", "merged lines keep the search and the column");
    await untroubled(page, "lines");

    const turned = await explore("m;a;f 3\nm;b;f 9\nm;b;g;f 1\nm;h 2\n");
    await click(turned, "f", { nth: 0 });
    is(await crumbs(turned), "all m a f", "a click zooms to a callee");
    await turned.keyboard.press("r");
    is(await crumbs(turned), "all f", "callers show the zoomed function");
    await turned.keyboard.press("r");
    is(await crumbs(turned), "all m a f", "callees show the frame that was zoomed before");
    await turned.locator("#layouts [data-value=callers]").click();
    await click(turned, "g");
    is(await crumbs(turned), "all f g", "a caller can be zoomed to");
    await turned.locator("#layouts [data-value=forward]").click();
    is(await crumbs(turned), "all m b g",
        "a zoomed caller is found among callees with what it called");
    await turned.locator("#layouts [data-value=callers]").click();
    await turned.keyboard.press("0");
    await turned.keyboard.press("r");
    is(await crumbs(turned), "all", "a page without a zoom stays so in another layout");
    await turned.goBack();
    await turned.goBack();
    is(await crumbs(turned), "all f g", "Back restores the zoom of an earlier layout");
    await untroubled(turned, "turned");
}

await main(async () => {
    await comparison();
    await widths();
    await kept();
});
