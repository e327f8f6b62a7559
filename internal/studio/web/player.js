// Playback: which frame is shown, what moves between two of them, when.

/** A movement at 1x, in milliseconds, unless another is set. Three quarters of it moving, one quarter standing. */
const usual = 650;
/** No climb takes longer by itself. */
const longest = 12000;

/**
 * @typedef {object} Screen
 * @property {() => number} last the last frame that is there
 * @property {() => boolean} complete whether no more will come
 * @property {(at: number) => boolean} ready whether a frame can be drawn at once
 * @property {(at: number) => Promise<void>} load fetches what it needs
 * @property {(at: number) => void} show numbers and words of a frame
 * @property {(from: number, to: number, part: number) => void} draw the picture, part of the way
 * @property {(playing: boolean) => void} playing
 */

export class Player {
  /** @param {Screen} screen */
  constructor(screen) {
    this.screen = screen;
    this.at = 0; // the frame shown, or moved to
    this.from = 0; // the frame moved away from
    this.aim = 0; // the frame asked for last, which may not be there yet: keys pressed meanwhile count from it
    this.playing = false;
    this.moving = false;
    this.speed = "auto";
    this.pace = usual; // milliseconds a movement at 1x, at most
    this.began = -1; // when the movement began, by the clock of frame callbacks
    this.wanted = 0; // counts jumps: the last one wins
    this.handle = 0;
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** Milliseconds that a movement takes. */
  get duration() {
    if (this.speed === "auto") return Math.min(this.pace, longest / Math.max(1, this.screen.last()));
    return this.pace / Number(this.speed);
  }

  play() {
    if (this.playing) return;
    if (this.at >= this.screen.last() && this.screen.complete()) this.place(0);
    this.playing = true;
    this.screen.playing(true);
    this.schedule();
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.screen.playing(false);
  }

  toggle() { this.playing ? this.pause() : this.play(); }

  /** Stops everything, as when the page is left. */
  stop() {
    this.pause();
    this.wanted++;
    this.moving = false;
    cancelAnimationFrame(this.handle);
    this.handle = 0;
  }

  /** Shows a frame without moving there. @param {number} at */
  place(at) {
    this.wanted++;
    this.moving = false;
    this.at = this.from = this.aim = at;
    this.screen.show(at);
    this.screen.draw(at, at, 1);
  }

  /**
   * Goes to a frame, as scrubbing does, once what it needs is there.
   * @param {number} at
   * @returns {Promise<void>}
   */
  async jump(at) {
    this.pause();
    at = Math.max(0, Math.min(this.screen.last(), at));
    this.aim = at;
    if (this.screen.ready(at)) return this.place(at);
    const wanted = ++this.wanted;
    await this.screen.load(at);
    if (wanted === this.wanted) this.place(at);
  }

  /** Goes on by frames, moving where it is a single one. @param {number} by */
  async step(by) {
    const to = Math.max(0, Math.min(this.screen.last(), this.aim + by));
    if (to !== this.at + 1 || this.still) return this.jump(to);
    this.pause();
    this.aim = to;
    const wanted = ++this.wanted;
    if (!this.screen.ready(to)) await this.screen.load(to);
    if (wanted === this.wanted) this.move(to);
  }

  /** Begins the movement to a frame. @param {number} to */
  move(to) {
    this.from = this.at;
    this.at = this.aim = to;
    this.moving = true;
    this.began = -1;
    this.screen.show(to);
    this.schedule();
  }

  schedule() { if (!this.handle) this.handle = requestAnimationFrame((now) => this.tick(now)); }

  /** @param {number} now */
  tick(now) {
    this.handle = 0;
    if (this.moving) this.glide(now);
    if (this.playing && !this.moving) this.next(now);
    if (this.playing || this.moving) this.schedule();
  }

  /** @param {number} now */
  glide(now) {
    if (this.began < 0) this.began = now;
    const t = (now - this.began) / this.duration;
    const u = this.still ? 1 : Math.min(1, Math.max(0, t / 0.75));
    this.screen.draw(this.from, this.at, u * u * (3 - 2 * u));
    if (t >= 1 || (u >= 1 && !this.playing)) this.moving = false;
  }

  /** Begins the next movement of playing, over several frames where they are shorter than one of the screen. @param {number} now */
  next(now) {
    const last = this.screen.last();
    if (this.at >= last) {
      if (this.screen.complete()) this.pause();
      return;
    }
    const late = this.began < 0 ? 0 : now - this.began - this.duration;
    const to = Math.min(last, this.at + Math.max(1, Math.floor(late / this.duration) + 1), this.at + Math.max(1, Math.ceil(17 / this.duration)));
    if (!this.screen.ready(to)) {
      this.screen.load(to).catch(() => this.pause());
      return;
    }
    this.move(to);
    this.began = now;
  }
}
