/** Elements of the page. Text of strangers becomes text nodes: nothing here reads markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {string | number | boolean | null | undefined | ((event: any) => void)} Value */

/**
 * Makes an element. A function becomes a listener, `true` an attribute without a value; `false` and null are left out.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Value>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name, value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  fill(element, ...children);
  return element;
}

/**
 * Replaces what an element contains.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const nodes = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...nodes.map((child) => (child instanceof Node ? child : String(child))));
}

/** The outlines of icons, in a square of 24. */
const ICONS = {
  attachment: 'M20 11.5l-8.2 8.2a5 5 0 0 1-7.1-7.1l8.6-8.6a3.4 3.4 0 0 1 4.8 4.8l-8.5 8.5a1.8 1.8 0 0 1-2.5-2.5l7.6-7.6',
  back: 'M15 5l-7 7 7 7',
  clock: 'M12 4a8 8 0 1 0 .01 0M12 8v4l3 2',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  delete: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M9 9.5a.5.5 0 1 0 0-1 .5.5 0 0 0 0 1',
  lock: 'M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3',
  random: 'M4 7h3l9 10h4M17 14l3 3-3 3M4 17h3l3-3.3M13 10.3l3-3.3h4M17 4l3 3-3 3',
  webhook: 'M9 8a3.5 3.5 0 1 1 5 3l3 5.5M15.5 16a3.5 3.5 0 1 1-.5 3H9M10 11l-3 5M8.5 17.5a3.5 3.5 0 1 1-3-4',
};

/**
 * An icon. Screen readers pass over it: what contains it has a name.
 *
 * @param {keyof typeof ICONS} name
 */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(svg.namespaceURI, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button with an icon and words. With `isShort` the words are a hint and for screen readers only.
 *
 * @param {keyof typeof ICONS | null} name
 * @param {string} words
 * @param {() => void} press
 * @param {{isShort?: boolean, kind?: string}} [options]
 */
export function button(name, words, press, { isShort = false, kind = '' } = {}) {
  const attributes = isShort ? { 'aria-label': words, title: words } : {};
  const content = [name && icon(name), !isShort && h('span', {}, words)];
  return h('button', { type: 'button', class: `${isShort ? 'short ' : ''}${kind}`, click: press, ...attributes }, ...content);
}

/**
 * A field of a form with its label.
 *
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export function field(label, control, hint) {
  return h('label', { class: 'field' }, h('span', {}, label), control, hint && h('small', {}, hint));
}

/**
 * The first element of a kind that a selector finds.
 *
 * @template {HTMLElement} Kind
 * @param {string} selector
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function find(selector, kind) {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new TypeError(`the page has no ${selector}`);
  return found;
}
