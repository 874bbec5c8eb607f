/** Server-sent events. The browser's own client cannot send a token, so this one reads the stream of an answer. */

import { Failure, request } from './api.js';

/** @typedef {{event: string, id: string, data: string}} ServerEvent */

/** How long a stream may be silent, in milliseconds. The service sends a comment every 15 s. */
const SILENCE_MAX = 40_000;
/** How long the first octets may take, in milliseconds. A proxy that holds them back would hold back all others too. */
const BEGIN_MAX = 5_000;
/** The longest event in characters. */
const EVENT_CHARS_MAX = 1_000_000;

/**
 * The events of a path until its stream ends. Fails with a {@link Failure} if the service refuses, and with another error
 * if the stream is silent for too long.
 *
 * @param {string} path
 * @param {AbortSignal} signal
 * @param {() => void} onOpen Called once the first octets are there.
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* events(path, signal, onOpen) {
  const silent = new AbortController();
  const ended = AbortSignal.any([signal, silent.signal]);
  let timer = setTimeout(() => silent.abort(), BEGIN_MAX);
  try {
    const answer = await request(path, { accept: 'text/event-stream', signal: ended });
    if (!answer.body) return;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = '';
    for (let isFirst = true; ; isFirst = false) {
      const { value, done } = await reader.read();
      if (done) return;
      if (isFirst) onOpen();
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), SILENCE_MAX);
      const blocks = (buffer + value).split('\n\n');
      buffer = blocks.pop() ?? '';
      if (buffer.length > EVENT_CHARS_MAX) return;
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (silent.signal.aborted && !signal.aborted) throw new Error('the stream is silent');
    throw error instanceof Failure || signal.aborted ? error : new Failure(0, 'offline', String(error));
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

/** The event of a block of lines, each with a name of its own; null if it has no data. @param {string} block @returns {ServerEvent | null} */
function parse(block) {
  const event = { event: 'message', id: '', data: '' };
  for (const line of block.split('\n')) {
    const [, name, value] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
    if (name === 'event' || name === 'id' || name === 'data') event[name] = value;
  }
  return event.data ? event : null;
}
