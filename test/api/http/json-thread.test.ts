// Large JSON bodies, read in a thread. The thread is the real one wherever its work matters, a fake one for hangs.

import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { readJson } from '../../../src/api/http/json-body.ts';
import { type JsonAnswer, type JsonTask, JsonThread } from '../../../src/api/http/json-thread.ts';
import type {
  SupervisedWorkerOptions,
  startSupervisedWorker,
} from '../../../src/runtime/supervised-worker.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { rounds } from '../../rounds.ts';

const { log } = quietLog();
const never = new AbortController().signal;
const open: JsonThread[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((thread) => thread.close()));
});

function kept(thread: JsonThread): JsonThread {
  open.push(thread);
  return thread;
}

describe('a body that is read in a thread', () => {
  it('is what the event loop would have made of it, whatever its bytes', async () => {
    const thread = kept(new JsonThread({ clock: systemClock, log }));
    const nested = `${'['.repeat(100)}${']'.repeat(100)}`;
    const texts = fc.oneof(
      fc.json({ depthSize: 'medium' }),
      fc.string(),
      fc.constantFrom('{"__proto__":{"a":1},"b":"\\ud800"}', '{"\\u005f_proto__":1}', '-0', nested),
      fc.constant(`[${'1,'.repeat(60)}1]`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { maxLength: 4 }), async (several) => {
        const bodies = several.map((text) => Buffer.from(text));
        const read = await Promise.all(bodies.map((body) => thread.read(body, 50, never)));
        expect(read).toEqual(bodies.map((body) => readJson(body, 50)));
      }),
      { numRuns: rounds(100) },
    );
  });

  it('stays with the request', async () => {
    const thread = kept(new JsonThread({ clock: systemClock, log }));
    const body = Buffer.from('{"a":[1,2]}');
    expect(await thread.read(body, 50, never)).toEqual({ kind: 'value', value: { a: [1, 2] } });
    expect(body.toString()).toBe('{"a":[1,2]}');
  });

  it('is read by the build', async ({ skip }) => {
    const built = new URL('../../../dist/api/http/json-thread.js', import.meta.url);
    if (!existsSync(built)) skip('there is no build');
    const module: typeof import('../../../src/api/http/json-thread.ts') = await import(built.href);
    const thread = kept(new module.JsonThread({ clock: systemClock, log }));
    expect(await thread.read(Buffer.from('[1]'), 50, never)).toEqual({ kind: 'value', value: [1] });
  });
});

describe('bodies that wait for the thread', () => {
  /** A thread that answers at a test's command. */
  function withFake() {
    const clock = new FakeClock();
    const asked: JsonTask[] = [];
    const kills: string[] = [];
    let options: SupervisedWorkerOptions<JsonAnswer> | undefined;
    const startWorker = (given: SupervisedWorkerOptions<JsonAnswer>) => {
      options = given;
      return {
        post: (task: JsonTask) => void asked.push(task),
        kill: (reason: string) => void kills.push(reason),
        close: async () => undefined,
      };
    };
    const thread = kept(
      new JsonThread({ clock, log, startWorker: startWorker as typeof startSupervisedWorker }),
    );
    const read = (text: string, signal = never) =>
      thread.read(Buffer.from(text), 50, signal).then(
        (reading) => (reading.kind === 'value' ? reading.value : reading.kind),
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      );
    const answer = () => {
      const task = asked.at(-1);
      if (task !== undefined) {
        options?.onMessage({ id: task.id, reading: readJson(task.bytes, task.valuesMax) });
      }
    };
    return {
      clock,
      asked,
      kills,
      read,
      answer,
      down: (good: boolean) => options?.onDown('x', good),
      up: () => options?.onUp?.(),
    };
  }

  it('are handed over one after the other', async () => {
    const { asked, read, answer } = withFake();
    const both = [read('1'), read('2')];
    expect(asked.length).toBe(1);
    answer();
    expect(asked.length).toBe(2);
    answer();
    expect(await Promise.all(both)).toEqual([1, 2]);
  });

  it('are so many at most; further ones are refused and may be sent again', async () => {
    const { read, answer } = withFake();
    const taken = Array.from({ length: 17 }, (_, n) => read(String(n)));
    expect(await read('"one more"')).toBe('API_BUSY');
    for (const _ of taken) answer();
    expect((await Promise.all(taken)).length).toBe(17);
    const later = read('3');
    answer();
    expect(await later).toBe(3);
  });

  it('are dropped when their client disconnects, and never reach the thread', async () => {
    const { asked, read, answer } = withFake();
    const gone = new AbortController();
    const first = read('1');
    const second = read('2', gone.signal);
    const third = read('3');
    gone.abort('gone');
    expect(await second).toBe('gone');
    answer();
    answer();
    expect([await first, await third, asked.length]).toEqual([1, 3, 2]);
    expect(await read('4', gone.signal)).toBe('gone');
  });

  it('go on after one that takes too long, whose thread is ended', async () => {
    const { clock, asked, kills, read, answer, down } = withFake();
    const first = read('1');
    const second = read('2');
    clock.advance(4_999);
    expect(kills).toEqual([]);
    clock.advance(1);
    expect(kills).toEqual(['it hangs']);
    down(false);
    expect(await first).toBe('API_BUSY');
    expect(asked.length).toBe(2);
    answer();
    expect(await second).toBe(2);
  });

  it('are refused while the thread cannot be started', async () => {
    const { read, answer, down, up } = withFake();
    const both = [read('1'), read('2')];
    down(true);
    expect(await Promise.all(both)).toEqual(['API_BUSY', 'API_BUSY']);
    expect(await read('3')).toBe('API_BUSY');
    up();
    const later = read('4');
    answer();
    expect(await later).toBe(4);
  });
});
