/*
 * ---- page_play.js: the moments of a chart, one after the other ----
 *
 * A button beside the chart's text. All moments together take PLAY_SECONDS, but each at least
 * PLAY_LEAST ms. For readers who want less motion (prefers-reduced-motion), moments change twice a
 * second, without pictures in between.
 */

const PLAY_SECONDS = 8, PLAY_LEAST = 50, PLAY_CALM = 500;

class Player {
    /* {count: how many moments, at(): the shown one or -1, show(moment, more)} */
    constructor(moments) {
        this.moments = moments;
        this.button = element("button", "icon play");
        this.button.addEventListener("click", () => this.toggle());
        this.label();
    }

    get playing() {
        return this.timer !== undefined;
    }

    label() {
        this.button.textContent = this.playing ? "\u23f8\ufe0e" : "\u25b6\ufe0e";
        this.button.title = this.playing ? "Stop (Space)" : "Play the moments (Space)";
        this.button.setAttribute("aria-label", this.button.title);
        this.button.setAttribute("aria-pressed", String(this.playing));
    }

    toggle() {
        if (this.playing)
            this.stop();
        else
            this.start();
    }

    start() {
        const { moments } = this, at = moments.at(), last = moments.count() - 1;
        const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        this.next = at < 0 || at >= last ? 0 : at + 1;
        this.timer = setInterval(() => this.tick(),
            calm ? PLAY_CALM : Math.max(PLAY_LEAST, PLAY_SECONDS * 1000 / (last + 1)));
        this.label();
        this.tick();
    }

    /* Shows the next moment. A reader who chooses a moment meanwhile stops the player. */
    tick() {
        const { moments } = this;
        if (this.shown !== undefined && this.shown !== moments.at()) {
            this.stop();
            return;
        }
        const last = this.next >= moments.count() - 1;
        this.shown = this.next;
        moments.show(this.next++, !last);
        if (last)
            this.stop();
    }

    stop() {
        clearInterval(this.timer);
        this.timer = this.shown = undefined;
        this.label();
    }
}
