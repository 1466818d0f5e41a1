#!/usr/bin/env node
// Picture and page in Firefox: what readers do most, by the tests that Chromium has.
import { spawnSync } from "node:child_process";
import { firefox } from "./page.mjs";

const path = process.env.FIREFOX || "/usr/bin/firefox-esr";
const there = spawnSync(path, ["--version"], { stdio: "ignore" }).status === 0;
const maySkip = process.env.CI !== "true" ||
    (process.env.FLAME_MAY_SKIP || "").split(" ").includes("firefox");

if (there)
    await firefox([
        ["./t0550-svg.mjs", "hover", "zoom", "search", "keys", "address"],
        ["./t0560-page.mjs", "views", "zoom", "search", "layouts", "keys", "address"],
    ]);
else if (maySkip)
    console.log(`1..0 # SKIP there is no ${path} (FIREFOX=path names another)`);
else
    throw new Error(`there is no ${path}, and under CI=true it must be`);
