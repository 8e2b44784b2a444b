// What `npm run ways` counts to a way, tried in a process of its own with a gateway of a few small modules.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const RECORDER = pathToFileURL('test/ways/way-recorder.mjs').href;
const REQUEST = 'request';
const TICK = 'pipeline/turn/turn-taking#advance';
const FLUSH = 'pipeline/deferred-events#flush';
const JOB = 'std/job-loop##runOnce';
const STEP = 'workflow/engine#step';

const MODULES: Record<string, string> = {
  'package.json': '{ "type": "module" }',
  'node_modules/parcel/package.json': '{ "type": "module", "exports": "./dist/passing.js" }',
  'node_modules/parcel/dist/passing.js': 'export function pass(call) { return call(); }',
  'dist/pipeline/turn/turn-taking.js': `
    export class TurnTaking {
      #nowMs = 20;
      advance(ms) { if (ms < 0) throw new RangeError('backwards'); this.#nowMs += ms; return this.#nowMs; }
    }`,
  'dist/pipeline/deferred-events.js':
    'export class DeferredEvents { flush() { return "flushed"; } }',
  'dist/pipeline/clock.js': 'export function tick(turns) { return turns.advance(20); }',
  'dist/std/job-loop.js': `
    import { due } from '../call/parts.js';
    export class JobLoop {
      wake() { return this.#runOnce(); }
      async #runOnce() { await null; return due(); }
    }`,
  'dist/workflow/engine.js': `
    import { stepped } from '../call/parts.js';
    export function step(state) { return stepped(state); }`,
  'dist/call/parts.js': `
    export function accepted() {}
    export function afterPromise() {}
    export function afterTimer() {}
    export function due() { return 'done'; }
    export function stepped(state) { return state + 1; }
    export function afterStep() {}
    export function idle() {}`,
  'dist/main.js': `
    import { createServer } from 'node:http';
    import { pass } from 'parcel';
    import { accepted, afterPromise, afterStep, afterTimer, idle } from './call/parts.js';
    import { tick } from './pipeline/clock.js';
    import { DeferredEvents } from './pipeline/deferred-events.js';
    import { TurnTaking } from './pipeline/turn/turn-taking.js';
    import { JobLoop } from './std/job-loop.js';
    import { step } from './workflow/engine.js';
    const [turns, events, loop] = [new TurnTaking(), new DeferredEvents(), new JobLoop()];
    const later = (call) => setTimeout(call, 5);
    const server = createServer((request, response) => void handle(response));
    async function handle(response) {
      accepted();
      await null;
      afterPromise();
      events.flush();
      const job = await loop.wake();
      later(() => { afterTimer(); const next = step(1); afterStep(); response.end(job + next); });
    }
    const take = () => JSON.parse(globalThis.ways.take());
    const asked = async () => (await fetch('http://127.0.0.1:' + server.address().port)).text();
    server.listen(0, '127.0.0.1', async () => {
      const report = { values: [await asked()], whole: take() };
      globalThis.ways.exit = 'workflow/engine#step';
      report.values.push(await asked());
      report.toStep = take();
      globalThis.ways.exit = undefined;
      idle();
      report.values.push(tick(turns), pass(() => turns.advance(5)), events.flush());
      try { turns.advance(-1); } catch (error) { report.values.push(error.message); }
      report.ticks = take();
      const reply = asked();
      while (!report.cut?.length) { await new Promise(setImmediate); report.cut = take(); }
      await reply;
      report.afterCut = take();
      process.stdout.write(JSON.stringify(report));
      server.closeAllConnections();
      server.close();
    });`,
};

const ways = z.array(z.object({ entry: z.string(), functions: z.array(z.string()) }));
const report = z.object({
  values: z.array(z.unknown()),

  whole: ways,
  toStep: ways,
  ticks: ways,
  cut: ways,
  afterCut: ways,
});
type Ways = z.infer<typeof ways>;

let folder: string;
let found: z.infer<typeof report>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-way-recorder-'));
  for (const [path, text] of Object.entries(MODULES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const args = ['--import', RECORDER, join(folder, 'dist/main.js')];
  found = report.parse(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function parts(taken: Ways, entry: string): string[] {
  const functions = taken.filter((way) => way.entry === entry).flatMap((way) => way.functions);
  return functions.filter((id) => id.startsWith('call/parts#')).map((id) => id.slice(11));
}

describe('the recorder of ways', () => {
  it('changes no result, receiver or error', () => {
    expect(found.values).toEqual(['done2', 'done2', 40, 45, 'flushed', 'backwards']);
  });

  it('counts to a request what it calls, also after promises and timers, and nothing else', () => {
    const expected = ['accepted', 'afterPromise', 'afterTimer', 'stepped', 'afterStep'];
    expect(parts(found.whole, REQUEST)).toEqual(expected);
    expect(found.whole.find(({ entry }) => entry === REQUEST)?.functions).toContain(STEP);
  });

  it('counts another entry to the way that calls it, and a background job apart', () => {
    expect(found.whole.map(({ entry }) => entry)).toEqual([REQUEST, JOB]);
    expect(found.whole[0]?.functions).toContain(FLUSH);
    expect(parts(found.whole, JOB)).toEqual(['due']);
  });

  it('ends a way at its exit', () => {
    expect(parts(found.toStep, REQUEST)).toEqual([
      ...['accepted', 'afterPromise', 'afterTimer', 'stepped'],
    ]);
  });

  it('begins one for each entry that no way calls, with the files above it', () => {
    expect(found.ticks.map(({ entry }) => entry)).toEqual([TICK, TICK, FLUSH, TICK]);
    expect(found.ticks[0]?.functions).toEqual(expect.arrayContaining(['pipeline/clock#', TICK]));
  });

  it('counts no file of a package above an entry', () => {
    const files = found.ticks.flatMap(({ functions }) => functions.map((id) => id.split('#')[0]));
    expect(files).not.toContain('passing');
  });

  it('ends a way when it is taken', () => {
    expect(found.cut.map(({ entry }) => entry)).toContain(REQUEST);
    expect(parts(found.cut, REQUEST)).not.toContain('afterTimer');
    expect(parts(found.afterCut, REQUEST)).toEqual([]);
  });
});
