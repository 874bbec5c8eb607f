/** A plot of one value over time, as a line in a box. */

import { h } from './dom.js';

const WIDTH = 300;
const HEIGHT = 60;

export class Plot {
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

  /**
   * Shows these values, the latest at the right end.
   *
   * @param {number[]} values None is negative.
   * @param {number} room How many values fill the box.
   * @param {string} latest The latest value in words.
   */
  show(values, room, latest) {
    this.latest.textContent = latest;
    const top = Math.max(1, ...values);
    const points = values.map((value, index) => {
      const x = ((room - values.length + index) / (room - 1)) * WIDTH;
      return `${x.toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`;
    });
    this.#line.setAttribute('points', points.join(' '));
  }
}
