/*
 * ---- page_search.js: which names match, and how much they make up ----
 *
 * A search is an expression and a set of names picked in the table; a frame
 * matches when its name does either. The result is one byte a name.
 */

function makeSearch(profile, { query, matchCase, regex, picks }) {
    const match = new Uint8Array(profile.names.length);
    const result = { match, active: false, error: "", count: 0 };
    if (query) {
        let re;
        try {
            re = new RegExp(regex ? query : escapeRegex(query), matchCase ? "" : "i");
        } catch (e) {
            result.error = e.message.replace(/^Invalid regular expression: /, "");
        }
        for (let i = 1; re && i < match.length; i++)
            if (re.test(profile.names[i]))
                match[i] = 1;
    }
    for (const i of picks)
        match[i] = 1;
    result.active = (query !== "" && !result.error) || picks.size > 0;
    for (let i = 0; i < match.length; i++)
        result.count += match[i];
    return result;
}

const frameMatches = (graph, match, i) => graph.chain ?
    graph.chain[i].some((name) => match[name]) : match[graph.name[i]] === 1;

/* What all stacks with a match in them come to, each counted once. */
function matchedTotal(graph, match) {
    let sum = 0;
    for (let i = graph.n > 1 ? 1 : 0; i < graph.n;)
        if (frameMatches(graph, match, i)) {
            sum += graph.total[i];
            i = graph.end[i];
        } else {
            i++;
        }
    return sum;
}
