/** A plot of one value over time, as a line in a box. */

import { h } from './dom.js';
import { number } from './format.js';

const WIDTH = 300;
const HEIGHT = 60;
/** The most values of a plot. Older values are dropped. */
const VALUES_MAX = 120;

export class Plot {
  /** @type {number[]} */
  #values = [];
  #line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');

  /** @param {string} title */
  constructor(title) {
    this.latest = h('output', {}, '–');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    svg.append(this.#line);
    this.element = h('figure', { class: 'plot' }, h('figcaption', {}, h('span', {}, title), this.latest), svg);
  }

  /** Adds a value at the right end. @param {number} value Not negative. */
  add(value) {
    this.#values = [...this.#values, value].slice(-VALUES_MAX);
    this.latest.textContent = number(Math.round(value * 10) / 10);
    const top = Math.max(1, ...this.#values);
    const start = VALUES_MAX - this.#values.length;
    const points = this.#values.map((value, index) => {
      const x = ((start + index) / (VALUES_MAX - 1)) * WIDTH;
      return `${x.toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`;
    });
    this.#line.setAttribute('points', points.join(' '));
  }
}
