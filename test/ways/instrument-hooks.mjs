// A module hook of Node: in the gateway's own modules, every function says that it runs, and entries of ways begin one
// (way-recorder.mjs). Not for production: it costs a call each.

import { createRequire } from 'node:module';

const ts = createRequire(import.meta.url)('typescript');

/** Functions with which a way begins, besides requests over HTTP. Nothing else calls them but the event loop: */
export const ENTRIES = new Set([
  // a socket has data,
  'transport/websocket/websocket-stream##read',
  // time has passed since the caller spoke, and turn-taking has something to say of it,
  'pipeline/turn/turn-taking#advance',
  'pipeline/deferred-events#flush',
  // the recogniser's thread has words,
  'pipeline/call-recognizer#onPartial',
  'pipeline/call-recognizer#onFinal',
  // and a background job is due.
  'std/job-loop##runOnce',
]);

/** Functions that may end the way of a frame (way-recorder.mjs). */
export const EXITS = new Set(['workflow/engine#step']);

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const file = /\/dist\/(.+)\.js$/.exec(url)?.[1];
  if (file === undefined || url.includes('/node_modules/') || loaded.format !== 'module') {
    return loaded;
  }
  return { ...loaded, source: instrumented(file, String(loaded.source)) };
}

function instrumented(file, text) {
  const source = ts.createSourceFile('file.js', text, ts.ScriptTarget.ESNext, true);
  const insertions = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) insertions.push(...probes(file, node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  insertions.sort((one, other) => other.at - one.at); // From the end, so that positions stay.
  let result = text;
  for (const { at, add } of insertions) result = result.slice(0, at) + add + result.slice(at);
  return result;
}

function probes(file, { name, body, modifiers, parent }) {
  const named = name ?? (ts.isPropertyAssignment(parent) ? parent.name : undefined);
  const id = `${file}#${named?.getText() ?? ''}`;
  const ran = `globalThis.ways.ran(${JSON.stringify(id)})`;
  const [from, end] = [body.getStart(), body.getEnd()];
  if (!ts.isBlock(body)) {
    const enter = `globalThis.ways.enter(${JSON.stringify(id)}, () => (`;
    return [
      { at: from, add: ENTRIES.has(id) ? `${enter}${ran}, ` : `(${ran}, ` },
      { at: end, add: ENTRIES.has(id) ? '))' : ')' },
    ];
  }
  if (EXITS.has(id)) {
    return [
      { at: from + 1, add: `return globalThis.ways.leave(${JSON.stringify(id)}, () => {${ran};` },
      { at: end - 1, add: '});' },
    ];
  }
  if (!ENTRIES.has(id)) return [{ at: from + 1, add: `${ran};` }];
  const isAsync = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;
  const arrow = `${isAsync ? 'async ' : ''}() => {`;
  return [
    { at: from + 1, add: `return globalThis.ways.enter(${JSON.stringify(id)}, ${arrow}${ran};` },
    { at: end - 1, add: '});' },
  ];
}
