/*
 * ---- regex.js: regular expressions in linear time ----
 *
 * A search can come from a link and names can be any length, while the browser's own expressions
 * backtrack: (x+x+)+y takes seconds in a long name, and cannot be stopped. So expressions are
 * parsed here and run as a set of the places that a match may have reached, which reads each
 * character once (K. Thompson, "Regular Expression Search Algorithm", 1968). Sets are cached with
 * the set to which each character leads, so that most characters are one table lookup.
 *
 * The syntax is JavaScript's, without look-ahead, look-behind and \1, which such a set cannot
 * express. The only result is whether a name holds a match, so greedy and lazy are the same.
 */

const PATTERN_PLACES = 2000; /* greatest number of places of an expression, with counted parts
                              * repeated */
const PATTERN_DEPTH = 200; /* groups within groups */
const PATTERN_SETS = 4000; /* cached at a time */
const PATTERN_WORK = 2e8; /* steps to build sets in one search: about half a second */

const WORD = [[48, 57], [65, 90], [95, 95], [97, 122]], DIGIT = [[48, 57]];
const SPACE = [[9, 13], [32, 32], [160, 160], [0x1680, 0x1680], [0x2000, 0x200a],
    [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff]];
const CLASSES = { d: DIGIT, w: WORD, s: SPACE };
const CONTROLS = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

const inRanges = (ranges, c) => ranges.some(([from, to]) => from <= c && c <= to);

/* The complement of the ranges. */
function others(ranges) {
    const rest = [];
    let next = 0;
    for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
        if (from > next)
            rest.push([next, from - 1]);
        next = Math.max(next, to + 1);
    }
    return next > 0xffff ? rest : [...rest, [next, 0xffff]];
}

/*
 * Reads an expression into a tree of [kind, ...]: ["any", ranges, negated], ["at", where], ["all",
 * ...parts], ["either", ...parts], ["times", part, least, most]. Throws an Error for an invalid
 * expression.
 */
class PatternReader {
    constructor(text) {
        this.text = text;
        this.at = 0;
        this.depth = 0;
    }

    read() {
        const tree = this.either();
        if (this.at < this.text.length)
            throw new Error("a ) without its (");
        return tree;
    }

    accept(s) {
        const here = this.text.startsWith(s, this.at);
        this.at += here ? s.length : 0;
        return here;
    }

    either() {
        const ways = [this.all()];
        while (this.accept("|"))
            ways.push(this.all());
        return ways.length > 1 ? ["either", ...ways] : ways[0];
    }

    all() {
        const parts = ["all"];
        while (this.at < this.text.length && !"|)".includes(this.text[this.at]))
            parts.push(this.repeated(this.one()));
        return parts;
    }

    repeated(part) {
        for (let first = true; ; first = false) {
            const [least, most] = this.accept("*") ? [0, Infinity] : this.accept("+") ?
                [1, Infinity] : this.accept("?") ? [0, 1] : this.counts();
            if (least === undefined)
                return part;
            if (!first || part[0] === "at")
                throw new Error("nothing to repeat");
            if (least > most)
                throw new Error("{} with its numbers the wrong way round");
            this.accept("?");
            part = ["times", part, least, most];
        }
    }

    /* {2}, {2,} or {2,3}; any other { is an ordinary character. */
    counts() {
        const m = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.text.slice(this.at, this.at + 16));
        if (!m)
            return [];
        this.at += m[0].length;
        return [Number(m[1]), !m[2] ? Number(m[1]) : m[3] ? Number(m[3]) : Infinity];
    }

    one() {
        const c = this.text[this.at++];
        if (c === "(")
            return this.group();
        if (c === "[")
            return this.set();
        if (c === "\\")
            return this.escaped();
        if (c === ".")
            return ["any", [[10, 10], [13, 13], [0x2028, 0x2029]], true];
        if (c === "^" || c === "$")
            return ["at", c];
        if ("*+?".includes(c))
            throw new Error("nothing to repeat");
        return this.char(c.charCodeAt(0));
    }

    char(code) {
        return ["any", [[code, code]], false];
    }

    group() {
        if (this.accept("?:")) {
            /* Groups are not captured. */
        } else if (/^\?<[A-Za-z_$]/.test(this.text.slice(this.at, this.at + 3))) {
            this.at = this.text.indexOf(">", this.at) + 1 || this.text.length;
        } else if (this.accept("?")) {
            throw new Error("looking ahead or behind is not known here");
        }
        if (++this.depth > PATTERN_DEPTH)
            throw new Error("too many groups within groups");
        const tree = this.either();
        this.depth--;
        if (!this.accept(")"))
            throw new Error("a ( without its )");
        return tree;
    }

    escaped() {
        const c = this.text[this.at];
        if (c === "b" || c === "B") {
            this.at++;
            return ["at", c];
        }
        if (c >= "1" && c <= "9")
            throw new Error("\\" + c + " is not known here");
        const ranges = this.escapedRanges();
        return ["any", ranges, false];
    }

    /* The ranges of an escape, after its backslash. */
    escapedRanges() {
        if (this.at >= this.text.length)
            throw new Error("a \\ at the end");
        const c = this.text[this.at++], lower = c.toLowerCase();
        if (CLASSES[lower])
            return c === lower ? CLASSES[lower] : others(CLASSES[lower]);
        const hex = { x: 2, u: 4 }[c];
        const digits = hex ? this.text.slice(this.at, this.at + hex) : "";
        let code = c.charCodeAt(0);
        if (CONTROLS[c] !== undefined) {
            code = CONTROLS[c];
        } else if (hex && digits.length === hex && /^[0-9a-f]+$/i.test(digits)) {
            this.at += hex;
            code = parseInt(digits, 16);
        }
        return [[code, code]];
    }

    /* [a-z], [^0-9] */
    set() {
        const negated = this.accept("^"), ranges = [];
        const one = () => {
            const c = this.text[this.at++];
            if (c !== "\\")
                return [[c.charCodeAt(0), c.charCodeAt(0)]];
            return this.accept("b") ? [[8, 8]] : this.escapedRanges();
        };
        while (!this.accept("]")) {
            if (this.at >= this.text.length)
                throw new Error("a [ without its ]");
            const from = one(), single = (r) => r.length === 1 && r[0][0] === r[0][1];
            ranges.push(...from);
            if (this.text[this.at] !== "-" || (this.text[this.at + 1] || "]") === "]")
                continue;
            this.at++;
            const to = one();
            if (!single(from) || !single(to)) {
                ranges.push([45, 45], ...to);
                continue;
            }
            if (to[0][0] < from[0][0])
                throw new Error("a range with its ends the wrong way round");
            ranges.push([from[0][0], to[0][0]]);
        }
        return ["any", ranges, negated];
    }
}

/*
 * The tree as a list of places, [kind, ...], each leading to the next one: "any" reads a character,
 * "at" is an assertion, "fork" also leads to another place, "go" leads only there, "end" is a
 * match.
 */
function placesOf(tree) {
    const places = [];
    const put = (...what) => {
        if (places.push(what) > PATTERN_PLACES)
            throw new Error("too long an expression");
        return what;
    };
    const add = (part) => {
        const [what, ...rest] = part;
        if (what === "all") {
            rest.forEach(add);
        } else if (what === "either") {
            const ends = [];
            rest.forEach((way, i) => {
                const fork = i + 1 < rest.length ? put("fork", 0) : null;
                add(way);
                if (fork) {
                    ends.push(put("go", 0));
                    fork[1] = places.length;
                }
            });
            for (const end of ends)
                end[1] = places.length;
        } else if (what === "times") {
            times(...rest);
        } else {
            put(...part);
        }
    };
    const times = (part, least, most) => {
        for (let i = 0; i < least; i++)
            add(part);
        if (most === Infinity) {
            const fork = put("fork", 0), again = places.length - 1;
            add(part);
            put("go", again);
            fork[1] = places.length;
            return;
        }
        const forks = [];
        for (let i = least; i < most; i++) {
            forks.push(put("fork", 0));
            add(part);
        }
        for (const fork of forks)
            fork[1] = places.length;
    };
    add(tree);
    put("end");
    return places;
}

/* The neighbour of a place: a name's end, a letter of a word, or another character. */
const EDGE = 0, LETTER = 1, OTHER = 2;
const sideOf = (code) => code < 0 ? EDGE : inRanges(WORD, code) ? LETTER : OTHER;

class Pattern {
    /* Throws an Error for an invalid expression. */
    constructor(text, matchCase) {
        this.places = placesOf(new PatternReader(text).read());
        this.matchCase = matchCase;
        this.work = 0;
        this.mark = new Int32Array(this.places.length);
        this.stamp = 0;
        this.forget();
    }

    forget() {
        this.sets = new Map();
        this.first = this.setOf([0], EDGE);
    }

    /* A set of places and the kind of character before them. `to`: the next sets by character. */
    setOf(list, before) {
        const id = before + ":" + list.join();
        let set = this.sets.get(id);
        if (!set)
            this.sets.set(id, set = { list, before, to: [] });
        return set;
    }

    takes([, ranges, negated], code) {
        let found = inRanges(ranges, code);
        if (!found && !this.matchCase) {
            const c = String.fromCharCode(code), low = c.toLowerCase(), high = c.toUpperCase();
            found = (low.length === 1 && inRanges(ranges, low.charCodeAt(0))) ||
                (high.length === 1 && inRanges(ranges, high.charCodeAt(0)));
        }
        return found !== negated;
    }

    stands(where, before, after) {
        if (where === "^")
            return before === EDGE;
        if (where === "$")
            return after === EDGE;
        return ((before === LETTER) !== (after === LETTER)) === (where === "b");
    }

    /* The set that a character leads to, -1 being the name's end; null: a match. */
    step(set, code) {
        const { places, mark } = this, after = sideOf(code), next = [];
        const stamp = ++this.stamp, open = set.list.slice();
        this.work += 1 + places.length;
        if (this.work > PATTERN_WORK)
            throw new Error("takes too long");
        while (open.length) {
            const at = open.pop(), here = places[at];
            if (mark[at] === stamp)
                continue;
            mark[at] = stamp;
            if (here[0] === "end")
                return null;
            if (here[0] === "fork")
                open.push(at + 1, here[1]);
            else if (here[0] === "go")
                open.push(here[1]);
            else if (here[0] === "at" && this.stands(here[1], set.before, after))
                open.push(at + 1);
            else if (here[0] === "any" && code >= 0 && this.takes(here, code))
                next.push(at + 1);
        }
        next.push(0); /* a match may begin anywhere */
        return this.setOf([...new Set(next)].sort((a, b) => a - b), after);
    }

    /* Throws an Error if all names together have taken too long. */
    test(text) {
        let set = this.first;
        for (let i = 0; i <= text.length; i++) {
            const code = i < text.length ? text.charCodeAt(i) : -1;
            let to = set.to[code + 1];
            if (to === undefined) {
                if (this.sets.size > PATTERN_SETS) {
                    this.forget();
                    set = this.setOf(set.list, set.before);
                }
                to = set.to[code + 1] = this.step(set, code);
            }
            if (to === null)
                return true;
            set = to;
        }
        return false;
    }
}

/*
 * Finds the names that match a query, among `count` names, nameOf(0) being the first: {match,
 * error, asText}, match[] having a byte for each name. The query is plain text, or an expression if
 * `regex` is set or it is written as /.../. An expression that is invalid (`error` has the reason)
 * or matches nothing is searched as text. `asText`: it was found as text, or is invalid.
 */
function findNames(query, { matchCase, regex }, count, nameOf) {
    const match = new Uint8Array(count);
    const slashes = query.length > 2 && query.startsWith("/") && query.endsWith("/");
    const look = (test) => {
        let found = 0;
        for (let i = 0; i < count; i++)
            found += match[i] = test(nameOf(i)) ? 1 : 0;
        return found;
    };
    const expression = regex || slashes;
    let error = "", found = 0;
    if (query && expression)
        try {
            const pattern = new Pattern(slashes ? query.slice(1, -1) : query, matchCase);
            found = look((s) => pattern.test(s));
        } catch (e) {
            error = e.message;
        }
    const before = found;
    if (query && !found) {
        const fold = (s) => matchCase ? s : s.toLowerCase(), text = fold(query);
        found = look((s) => fold(s).includes(text));
    }
    return { match, error, asText: expression && (error !== "" || (before !== found)) };
}
