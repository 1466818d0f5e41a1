// page.mjs: what the browser tests share: TAP, flame itself, and a browser without
// network: Chromium, or for some of them Firefox as well (see firefox()).
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, firefox as gecko } from "playwright-core";

const flame = resolve(process.env.FLAME || "build/flame");
const scratch = mkdtempSync(join(tmpdir(), "flame-browser."));

let count = 0, failed = 0, browser = null;
let kind = "chromium", gathered = null;

export function ok(pass, name, why) {
    count++;
    console.log(`${pass ? "" : "not "}ok ${count} - ${name.replace(/[#\n]/g, " ")}`);
    if (!pass) {
        failed++;
        if (why !== undefined)
            console.error(`#   ${String(why).replaceAll("\n", "\n#   ")}`);
    }
    return pass;
}

export function is(got, want, name) {
    return ok(got === want, name, `got  ${JSON.stringify(got)}\nwant ${JSON.stringify(want)}`);
}

export function near(got, want, by, name) {
    return ok(Math.abs(got - want) <= by, name, `got ${got}, want ${want} within ${by}`);
}

// Draws folded text (string or Buffer); returns the path of the SVG.
export function render(folded, ...options) {
    return renderTo("svg", folded, ...options);
}

// Renders folded text in the format of that ending.
export function renderTo(ending, folded, ...options) {
    const out = join(scratch, `picture${Math.random().toString(36).slice(2)}.${ending}`);
    writeFileSync(out + ".folded", folded);
    return draw(out, [out + ".folded"], options);
}

function draw(out, inputs, options) {
    execFileSync(flame, ["render", "-o", out, ...options, ...inputs],
        { stdio: ["ignore", "inherit", "inherit"] });
    return out;
}

// Renders several files in the format of that ending.
export function renderFiles(ending, inputs, ...options) {
    return draw(join(scratch, `picture${Math.random().toString(36).slice(2)}.${ending}`), inputs,
        options);
}

// A file in the scratch directory.
export function file(name, text) {
    const path = join(scratch, name);
    writeFileSync(path, text);
    return path;
}

// Pages that tests are done with, by the settings of their context. A page used again takes a third
// of the processor's time that a page in a new context does.
const idle = new Map();

async function newPage(settings) {
    const page = await (await browser.newContext(settings)).newPage();
    if (kind === "firefox")
        page.mouse.dblclick = (x, y) => doubleClick(page, x, y);
    page.on("pageerror", (e) => page.trouble.push(`error: ${e.message}`));
    page.on("console", (m) => page.trouble.push(`console: ${m.text()}`));
    page.on("dialog", (d) => {
        page.trouble.push(`dialog: ${d.message()}`);
        d.dismiss();
    });
    page.on("request", (r) => {
        if (r.url() !== "about:blank" && r.url().split("#")[0] !== page.opened)
            page.trouble.push(`request: ${r.url()}`);
    });
    return page;
}

// Opens a file as a reader would, from disk. page.trouble collects script
// errors, dialogs, console messages and requests for anything but the file.
export async function open(path, { hash = "", width = 1200, height = 700, ...more } = {}) {
    const viewport = { width, height }, settings = JSON.stringify(more);
    const used = idle.get(settings)?.pop();
    const page = used || await newPage({ viewport, ...more });
    page.trouble = [];
    page.settings = settings;
    page.opened = pathToFileURL(path).href;
    if (used)
        await page.setViewportSize(viewport);
    await page.goto(page.opened + hash);
    return page;
}

// Ends the use of a page: the next open() with the same settings may get it, with nothing stored, no
// pointer over it and no script of the file before. A test that has changed its context or listens
// to its events closes the context instead.
export async function done(page) {
    if (kind === "firefox") {
        await page.context().close();
        return;
    }
    await page.evaluate(() => {
        localStorage.clear();
        sessionStorage.clear();
    });
    await page.goto("about:blank");
    await page.mouse.move(-10, -10);
    const { colorScheme = "light", reducedMotion = "no-preference" } = JSON.parse(page.settings);
    await page.emulateMedia({ media: null, colorScheme, reducedMotion });
    idle.set(page.settings, [...idle.get(page.settings) || [], page]);
}

// Over BiDi Firefox makes two clicks of it, whatever the time between them.
async function doubleClick(page, x, y) {
    await page.mouse.click(x, y);
    await page.evaluate(([clientX, clientY]) => document.elementFromPoint(clientX, clientY)
        .dispatchEvent(new MouseEvent("dblclick", { bubbles: true, clientX, clientY })), [x, y]);
}

const launch = {
    chromium: () => chromium.launch({
        executablePath: process.env.CHROMIUM ||
            ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync),
        args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync"],
    }),
    // Debian's own Firefox, by WebDriver BiDi. Without that channel playwright-core wants a
    // Firefox that its authors have patched.
    firefox: () => gecko.launch({
        executablePath: process.env.FIREFOX || "/usr/bin/firefox-esr",
        channel: "moz-firefox", headless: true,
        // BiDi has no word yet for what open()'s reducedMotion asks Chromium for.
        firefoxUserPrefs: { "ui.prefersReducedMotion": 1 },
    }),
};

// Runs tests of other files in Firefox: `files` are [module, ...names of its tests].
export async function firefox(files) {
    const tests = [];
    kind = "firefox";
    for (const [module, ...names] of files) {
        gathered = [];
        await import(module);
        for (const name of names)
            tests.push(gathered.find((test) => test.name === name) ||
                (() => ok(false, `${module} has a test ${name}`)));
    }
    gathered = null;
    await main(tests);
}

// Runs one test or several, prints the plan, cleans up. A test that throws is a failure.
export async function main(tests) {
    if (gathered) {
        gathered.push(...[tests].flat());
        return;
    }
    try {
        browser = await launch[kind]();
        for (const test of [tests].flat())
            await test();
        console.log(`1..${count}`);
    } catch (e) {
        ok(false, "no test throws an exception", e.stack);
    } finally {
        if (browser)
            await browser.close();
        rmSync(scratch, { recursive: true, force: true });
    }
    if (failed)
        console.error(`# ${failed} of ${count} failed`);
    process.exitCode = failed || !count ? 1 : 0;
}
