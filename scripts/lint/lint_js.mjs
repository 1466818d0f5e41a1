// lint_js.mjs: ESLint over the scripts of pictures and pages, and over the tests and
// benchmarks in JavaScript.
//
// The files of one page are one function when they reach a browser, in the order of
// render/backends/assets.c: so they are joined before the check, or every name of another file
// would be unknown. An error is reported with its own file and line.
import { readFileSync, readdirSync } from "node:fs";

let Linter, globals;
try {
    ({ Linter } = await import("eslint"));
    ({ default: globals } = await import("globals"));
} catch {
    console.error("flame: eslint is missing; 'make lint' installs it");
    process.exit(2);
}

const rules = {
    "no-undef": "error",
    "no-unused-vars": ["error", { args: "after-used" }],
    "no-redeclare": ["error", { builtinGlobals: false }],
    "no-shadow": "error",
    "no-var": "error",
    "prefer-const": "error",
    "eqeqeq": "error",
    "no-implied-eval": "error",
    "no-eval": "error",
    "no-unreachable": "error",
    "no-fallthrough": "error",
    "no-constant-condition": ["error", { checkLoops: false }],
    "no-self-assign": "error",
    "no-dupe-keys": "error",
    "no-cond-assign": "error",
    "array-callback-return": "error",
    "default-case-last": "error",
    "no-throw-literal": "error",
    "no-useless-concat": "error",
    "no-lonely-if": "error",
};

// Rules for pages: render/backends/pagecode.c removes the blanks at the beginnings of lines.
const pageRules = {
    ...rules,
    "no-restricted-syntax": ["error", { selector: "TemplateElement[value.raw=/\\n/]",
        message: "a text over several lines" }],
    "no-multi-str": "error",
};

// The scripts of one ASSET() in that table.
function assets(asset) {
    const table = readFileSync("render/backends/assets.c", "utf8");
    const [files] = table.slice(table.indexOf(`ASSET(${asset},`)).split("\nASSET(");
    return [...files.matchAll(/"([\w/]+\.js)"/g)].map((m) => `render/assets/${m[1]}`);
}

// The file and line of a line of several files joined.
function place(files, line) {
    for (const { name, lines } of files) {
        if (line <= lines)
            return `${name}:${line}`;
        line -= lines;
    }
    return "?";
}

let complaints = 0;

function lint(names, environment, sourceType) {
    const files = names.map((name) => {
        const text = readFileSync(name, "utf8");
        return { name, text, lines: text.split("\n").length - 1 };
    });
    const found = new Linter().verify(files.map((f) => f.text).join(""), [{
        languageOptions: { ecmaVersion: 2022, sourceType, globals: environment,
            // A page's files are one function: page_worker.js ends it early.
            parserOptions: { ecmaFeatures: { globalReturn: sourceType === "script" } } },
        linterOptions: { reportUnusedDisableDirectives: "error" },
        rules: sourceType === "script" ? pageRules : rules,
    }]);
    for (const { line, message, ruleId } of found) {
        console.error(`${place(files, line)}: ${message} (${ruleId})`);
        complaints++;
    }
}

lint(assets("asset_svg_js"), globals.browser, "script");
lint(assets("asset_page_js"), globals.browser, "script");
for (const dir of ["tests/browser", "bench", "scripts/lint"])
    for (const name of readdirSync(dir).filter((n) => n.endsWith(".mjs")))
        lint([`${dir}/${name}`], { ...globals.node, ...globals.browser }, "module");
process.exit(complaints ? 1 : 0);
