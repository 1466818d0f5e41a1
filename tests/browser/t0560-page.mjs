#!/usr/bin/env node
// The explorer page: table, graph, zoom, search, callers, sandwich, keys, the address.
import { choose, click, color, crumbs, explore, frame, hover,
    point, quiet, row, table, text, untroubled } from "./explorer.mjs";
import { done, is, main, near, ok, open, renderTo } from "./page.mjs";

const FOLDED = `# flame: view=live unit=bytes
app;main;parse;alloc 1572864
app;main;parse;alloc;alloc;alloc 524288
app;main;emit;alloc 1048576
app;main;Emit 524288
app;exit 524288
`;
const symbol = (page, name) => page.locator(".symbol").getByText(name, { exact: true });

async function views() {
    const page = await explore(FOLDED);
    is(await page.title(), "Memory live at the end", "the document title is the view's");
    is(await text(page, "#title"), "Memory live at the end",
        "the heading of the page is the view's title");
    is(await text(page, "#subtitle"), "4.00 MiB", "the subtitle shows the total");
    ok(!await page.locator("#columns").isVisible(), "a page of one column shows no switch");
    is((await table(page)).join(", "),
        "alloc 3.00 MiB 3.00 MiB, Emit 512.0 KiB 512.0 KiB, exit 512.0 KiB 512.0 KiB, " +
        "app 0 B 4.00 MiB, main 0 B 3.50 MiB, parse 0 B 2.00 MiB, emit 0 B 1.00 MiB",
        "the table shows self and total, and counts recursion once");
    is(await row(page, 3), "Emit:524288 emit:1048576 parse:2097152", "frames are ordered by name");
    await page.locator("th.col-total button").click();
    is((await table(page)).map((s) => s.split(" ")[0]).join(" "),
        "app main alloc parse emit Emit exit",
        "a click on the total column sorts the table by total");
    await page.locator("th.col-name button").click();
    is((await table(page))[0].split(" ")[0], "Emit",
        "a click on the name column sorts the table by name");
    is(await page.locator("th.col-name").getAttribute("aria-sort"), "ascending",
        "the header of the name column is marked as sorted");
    await page.locator("th.col-name button").click();
    is((await table(page))[0].split(" ")[0], "parse",
        "a second click on the name column reverses the order");
    for (const [key, shown] of [["1", "table"], ["3", "graph"], ["2", "both"]]) {
        await page.keyboard.press(key);
        is([await page.locator("#table").isVisible(), await page.locator("#graph").isVisible()]
            .join(), [shown !== "graph", shown !== "table"].join(), `key ${key} shows ${shown}`);
    }
    await page.locator("#views button", { hasText: "Graph" }).click();
    near((await frame(page, "app")).w, 1374, 2, "a graph without a table takes all the width");
    await untroubled(page, "views");
}

async function zoom() {
    const page = await explore(FOLDED);
    await hover(page, "parse");
    const tip = (await text(page, "#tooltip")).replace(/\s+/g, " ");
    ok(tip.startsWith("parse Memory live at the end 2.00 MiB 2,097,152 bytes Of all 50.00% " +
        "Of caller 57.14% Self 0 B, 0.00%"), "the tooltip of a frame shows its counts", tip);
    is(await text(page, "#details"), "parse: 2.00 MiB, 50.00%",
        "the details line shows the frame under the pointer");
    await page.mouse.move(300, 5);
    ok(!await page.locator("#tooltip").isVisible(),
        "the tooltip is hidden after the pointer has left");
    const before = await frame(page, "parse");
    await click(page, "parse");
    const all = (await frame(page, "all")).w;
    near((await frame(page, "parse")).w, all, 1, "zoom: a click gives the frame the full width");
    near((await frame(page, "main")).w, all, 1, "zoom: callers of the frame stay in sight");
    ok(!await frame(page, "emit"), "zoom: frames outside the frame disappear");
    is(await crumbs(page), "all app main parse", "zoom: the path leads to the frame");
    await hover(page, "alloc", { nth: 1 });
    ok((await text(page, "#tooltip")).includes("25.00%"),
        "zoom: the tooltip shows the percentage of the zoomed frame");
    await page.locator("#crumbs button", { hasText: "main" }).click();
    ok(await frame(page, "emit"), "zoom: a crumb leads back");
    await page.goBack();
    near((await frame(page, "parse")).w, all, 1, "zoom: Back undoes a crumb");
    await page.keyboard.press("Escape");
    near((await frame(page, "parse")).w, before.w, 0.1, "zoom: Escape resets it");
    await click(page, "parse");
    await page.keyboard.press("0");
    near((await frame(page, "parse")).x, before.x, 0.1, "zoom: the key 0 resets it");
    await page.mouse.move(...await point(page, "emit"));
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await page.waitForFunction(() =>
        document.getElementById("crumbs").innerText.includes("in sight"));
    ok((await frame(page, "emit")).w > 1.5 * before.w / 2,
        "zoom: Ctrl and the wheel zoom at the pointer");
    ok(await page.locator(".minimap-frame").isVisible(),
        "zoom: the minimap marks the part in sight");
    const map = await page.locator("#minimap").boundingBox();
    await page.mouse.dblclick(map.x + 5, map.y + 5);
    near((await frame(page, "parse")).w, before.w, 0.1,
        "zoom: a double click on the minimap shows all");
    await page.mouse.move(map.x + map.width / 2, map.y + 20);
    await page.mouse.down();
    await page.mouse.move(map.x + map.width * 0.9, map.y + 20, { steps: 4 });
    await page.mouse.up();
    near((await frame(page, "parse")).w, map.width, 3, "zoom: a drag on the minimap shows a range");
    await untroubled(page, "zoom");
}

async function search() {
    const page = await explore(FOLDED);
    const grey = async (name, nth = 0) => await color(page, name, { nth }) === "230,233,237";
    await page.keyboard.press("/");
    await page.keyboard.type("/^alloc$/");
    is(await text(page, "#matched"), "75.00% \u00b7 1 name",
        "search: the matched share counts nested matches once");
    ok(await grey("parse") && !await grey("alloc"), "search: frames that do not match are grey");
    is((await table(page)).length, 1, "search: the table shows only symbols that match");
    await page.keyboard.press("Enter");
    is(await text(page, "#details"), "alloc: 1.00 MiB, 25.00%",
        "search: Enter selects the first match");
    await page.keyboard.press("Enter");
    is(await text(page, "#details"), "alloc: 2.00 MiB, 50.00%",
        "search: Enter selects the next match");
    await page.keyboard.press("Shift+Enter");
    is(await text(page, "#details"), "alloc: 1.00 MiB, 25.00%",
        "search: Shift+Enter selects the previous match");
    await page.locator("#query").fill("emit");
    is(await text(page, "#matched"), "37.50% \u00b7 2 names", "search: case is ignored at first");
    await page.locator("#matchcase").click();
    is(await text(page, "#matched"), "25.00% \u00b7 1 name",
        "search: the button makes it match case");
    await page.locator("#matchcase").click();
    await page.locator("#query").fill("em(");
    is(await text(page, "#matched"), "0.00% \u00b7 0 names", "search: a query is plain text");
    await page.locator("#regex").click();
    is(await text(page, "#matched"), "a ( without its ); as text: 0.00% \u00b7 0 names",
        "search: a wrong expression is searched as text");
    await page.locator("#query").fill("em+i");
    is(await text(page, "#matched"), "37.50% \u00b7 2 names",
        "search: a right expression is used as one");
    await page.locator("#regex").click();
    await page.locator("#query").press("Escape");
    is(await page.locator("#query").inputValue(), "", "search: Escape clears the box");
    await symbol(page, "exit").click();
    is(await text(page, "#matched"), "12.50% \u00b7 1 name",
        "search: a row of the table selects its symbol");
    is((await table(page)).length, 7, "search: all rows stay in the table when one is selected");
    await symbol(page, "Emit").click();
    is(await text(page, "#matched"), "25.00% \u00b7 2 names",
        "search: a second row of the table adds its symbol");
    await symbol(page, "exit").click();
    is(await text(page, "#matched"), "12.50% \u00b7 1 name",
        "search: a second click on a row deselects its symbol");
    await page.locator("#clear").click();
    is(await text(page, "#matched"), "", "search: the clear button deselects all symbols");
    await page.keyboard.press("Control+f");
    ok(await page.locator("#query").evaluate((e) => e === document.activeElement),
        "search: Ctrl-F moves the focus to its box");
    await untroubled(page, "search");
}

async function layouts() {
    const page = await explore(FOLDED);
    await page.keyboard.press("r");
    is(await row(page, 1), "Emit:524288 alloc:3145728 exit:524288",
        "callers: leaves are at the root");
    is(await row(page, 2), "main:524288 alloc:524288 emit:1048576 parse:1572864 app:524288",
        "callers: the second row has the callers of the leaves");
    await page.keyboard.press("r");
    is(await row(page, 1), "app:4194304", "callers: R leads back to callees");
    await choose(page, "alloc", "Sandwich");
    is(await row(page, 1, 0), "emit:1048576 parse:2097152", "sandwich: callers are above");
    is(await row(page, 0, 1), "alloc:3145728", "sandwich: the function is between");
    is(await row(page, 1, 1), "alloc:524288", "sandwich: callees are below");
    const [upper, lower] = [await frame(page, "emit"), await frame(page, "alloc", { chart: 1 })];
    ok(upper.y < lower.y && (await frame(page, "app")).y < upper.y,
        "sandwich: the chart of callers is above that of callees");
    await page.setViewportSize({ width: 1400, height: 330 });
    await page.waitForFunction(() => document.querySelector(".chart-scroll").clientHeight < 150);
    /* The chart is told of its new size some time after it has it. */
    const sights = async () => {
        const edge = await page.locator(".chart-scroll").first().boundingBox();
        return [(await frame(page, "alloc")).y + 20, edge.y + edge.height];
    };
    let [at, end] = await sights();
    for (let i = 0; i < 100 && Math.abs(at - end) > 3; i++) {
        await page.waitForTimeout(50);
        [at, end] = await sights();
    }
    near(at, end, 3,
        "sandwich: the function stays in sight in a low window");
    await page.setViewportSize({ width: 1400, height: 800 });
    await page.locator("#filters button", { hasText: "Sandwich" }).click();
    is(await row(page, 1), "app:4194304", "sandwich: a click on its tag ends it");
    await symbol(page, "emit").hover();
    await symbol(page, "emit").locator("..").locator(".row-action").click();
    is(await row(page, 0, 1), "emit:1048576", "sandwich: a button in the table opens it");
    await page.locator("#layouts button", { hasText: "Callees" }).click();
    const top = (await frame(page, "app")).y;
    await page.keyboard.press("i");
    ok((await frame(page, "parse")).y < (await frame(page, "app")).y,
        "I puts the root at the bottom");
    await page.keyboard.press("i");
    is((await frame(page, "app")).y, top, "I pressed again puts the root at the top");
    await untroubled(page, "layouts");
}

async function subtrees() {
    const page = await explore(FOLDED);
    await choose(page, "parse", "Hide this subtree");
    is(await row(page, 3), "Emit:524288 emit:1048576", "a hidden subtree is not drawn");
    is(await text(page, "#subtitle"), "2.00 MiB", "a hidden subtree is not counted");
    await page.locator("#filters button", { hasText: "hidden" }).click();
    is(await row(page, 3), "Emit:524288 emit:1048576 parse:2097152",
        "a hidden subtree is drawn again after its tag is removed");
    await choose(page, "parse", "Focus");
    is(await row(page, 0), "parse:2097152", "focus: only the subtree is drawn");
    is(await text(page, "#subtitle"), "2.00 MiB", "focus: the total is that of the subtree");
    is((await table(page)).join(), "alloc 2.00 MiB 2.00 MiB",
        "focus: the table shows only symbols of the subtree");
    await page.goBack();
    await choose(page, "alloc", "Hide this function everywhere");
    is(await row(page, 3), "Emit:524288", "a function can be hidden wherever it is called");
    await page.goBack();
    await page.locator("#display summary").click();
    await page.locator("#display label", { hasText: "recursion" }).click();
    is(await row(page, 4), "alloc:1048576 alloc:2097152",
        "collapsed recursion: nested frames of one name are merged");
    is(await row(page, 5), "", "collapsed recursion: the merged frames leave no row");
    await page.locator("#display label", { hasText: "recursion" }).click();
    await page.locator("#display label", { hasText: "chains" }).click();
    is(await row(page, 2), "exit:524288 main:3670016", "chains: app has two callees");
    is(await row(page, 3), "Emit:524288 alloc:1048576 alloc:2097152",
        "chains: emit and parse are merged with their only callee");
    await page.keyboard.press("Escape");
    await page.locator("#display summary").click();
    await page.locator("#display label", { hasText: "by size" }).click();
    is(await row(page, 3), "alloc:2097152 alloc:1048576 Emit:524288",
        "the option \"by size\" orders frames by size");
    await untroubled(page, "subtrees");
}

async function keys() {
    const page = await explore(FOLDED);
    await page.locator(".chart-canvas").focus();
    const steps = [["ArrowDown", "app"], ["ArrowDown", "main"], ["ArrowLeft", "exit"],
        ["ArrowRight", "main"], ["ArrowDown", "parse"], ["ArrowLeft", "emit"], ["ArrowUp", "main"]];
    for (const [key, name] of steps) {
        await page.keyboard.press(key);
        ok((await text(page, "#live")).startsWith(name + ": "),
            `${key} moves the selection to ${name}`);
    }
    await page.keyboard.press("Enter");
    is(await crumbs(page), "all app main", "Enter zooms to the selected frame");
    await page.keyboard.press("m");
    ok(await page.locator("#menu").isVisible(), "M opens the menu of the selected frame");
    await page.keyboard.press("ArrowDown");
    is(await page.evaluate(() => document.activeElement.firstChild.data),
        "Sandwich: callers and callees", "menu: arrow keys move the focus");
    await page.keyboard.press("Escape");
    ok(!await page.locator("#menu").isVisible(), "menu: Escape closes it");
    ok(await page.evaluate(() => document.activeElement.matches(".chart-canvas")),
        "menu: Escape gives the focus back to the chart");
    await page.keyboard.press("s");
    is(await row(page, 0, 1), "main:3670016", "S opens the sandwich of the selected frame");
    await page.keyboard.press("?");
    ok(await page.locator("#keys").isVisible(), "? opens the list of keys");
    await page.keyboard.press("Escape");
    await page.locator("tr[data-at]").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    is(await page.locator("tr.picked .symbol").innerText(), "Emit",
        "table: an arrow key moves to the next row, and Enter selects it");
    is(await page.locator("table.top").getAttribute("aria-rowcount"), "8",
        "table: a screen reader gets the number of rows");
    await untroubled(page, "keys");
}

async function address() {
    const path = renderTo("html", FOLDED);
    const page = await open(path, quiet);
    await click(page, "parse");
    await page.keyboard.press("3");
    await page.locator("#color").selectOption("name");
    await page.keyboard.press("t");
    await page.keyboard.press("/");
    await page.keyboard.type("alloc");
    await page.waitForFunction(() => location.hash.includes("q=alloc"));
    const hash = new URL(page.url()).hash;
    await page.reload();
    is(await crumbs(page), "all app main parse", "address: the zoom survives a reload");
    is(await text(page, "#matched"), "75.00% \u00b7 1 name",
        "address: the search survives a reload");
    is(await page.locator("html").getAttribute("data-theme"), "dark",
        "address: the theme survives a reload");
    ok(!await page.locator("#table").isVisible(), "address: the hidden table survives a reload");
    await untroubled(page, "address");
    const other = await open(path, { ...quiet, hash, width: 800 });
    is(await crumbs(other), "all app main parse", "address: a shared link shows the zoom");
    await untroubled(other, "link");
    const wrong = await open(path, { ...quiet, hash: "#zoom=99999&column=x&hide=-1.a.777777&q=%5B" +
        "&layout=sandwich&sandwich=12345&range=5~1&view=%00&picks=1e9&color=change" });
    is(await row(wrong, 1), "app:4194304", "address: a link with wrong values shows all");
    await untroubled(wrong, "nonsense");
}

/* Links name frames and functions, so they are right for other data, too. */
async function otherRun() {
    const page = await explore("a;b;c 4\nm;x;y;z 5\nm;x;w 6\nm;q 1\n");
    await choose(page, "w", "Hide this subtree");
    await click(page, "y");
    await page.keyboard.press("r");
    is(await row(page, 1), "z:5", "address: a zoom leads to the callers of the frame");
    await page.keyboard.press("0");
    is(await row(page, 1), "c:4 q:1 z:5", "address: the callers of all leave out what is hidden");
    await page.goBack();
    await page.goBack();
    is(await crumbs(page), "all m x y", "address: Back restores the zoom of another layout");
    const { hash } = new URL(page.url());
    await done(page);
    const other = (folded, at) => explore(folded, { hash: at });
    const more = await other("A;z 2\nm;0;w 3\nm;x;w 6\nm;x;v 2\nz;z 2\n", hash);
    is(await crumbs(more), "all m x",
        "another run: a link to a missing frame zooms to its nearest caller");
    is(await row(more, 3), "v:2", "another run: a hidden subtree is hidden");
    await untroubled(more, "a link of another run");
    const none = await other("A;z 2\n", hash);
    is(await row(none, 1), "A:2", "another run: a link to missing functions shows all");
    await untroubled(none, "a link of something else");
    const named = await other("f;3;g;h 2\nf_[k];k 1\nf;g 4\n", "#zoom=1%3Bf&picks=%3B3");
    is(await crumbs(named), "all f", "address: a place tells frames of one name apart");
    is(await row(named, 2), "k:1", "address: a place leads to the frame of the kernel");
    is(await text(named, "#picks"), "1 picked \u2715", "address: a name may be a number");
    await untroubled(named, "names");
    const sandwich = await other("a;f;g 3\nb;f;h 4\n", "#layout=sandwich&sandwich=%3Bf&zoom=%3Bh");
    is(await crumbs(sandwich), "f h", "address: a link keeps a sandwich and the zoom in it");
    await untroubled(sandwich, "a sandwich's link");
}

async function copies() {
    const page = await explore(FOLDED);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copied = async (item) => {
        await choose(page, "alloc", item);
        await page.waitForFunction(() => document.getElementById("note").textContent);
        return page.evaluate(() => navigator.clipboard.readText());
    };
    is(await copied("Copy name"), "alloc", "the menu copies the name of a frame");
    is(await copied("Copy stack"), "app\nmain\nemit\nalloc",
        "the menu copies the stack of a frame");
    const link = await copied("Copy link");
    await page.goto("about:blank");
    await page.goto(link);
    is(await crumbs(page), "all app main emit alloc", "a copied link leads to its frame");
    await page.context().close();
}

await main([views, zoom, search, layouts, subtrees, keys, address, otherRun, copies]);
