// What a caller hears while variables are fetched. Source: contract §8.1.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { levelDbfs } from '../../audio/sounds.ts';
import { deferred } from '../../fakes/deferred.ts';
import { settle } from '../../fakes/fake-clock.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { type Data, definition, edge, end, start } from '../../workflow/definitions.ts';
import { CALL, withCallHarness } from '../call-harness.ts';
import type { Stream } from '../stream.ts';

const at = withCallHarness();
let crm: RestServer;

beforeAll(async () => {
  crm = await startRestServer();
});
beforeEach(() => {
  crm.asked.length = 0;
});
afterAll(() => crm.close());

const VARIABLES = { initial_context: { customer: 'Ana' } };

function prepare(data: Data = {}) {
  const first = start('talk', {
    name: 'Talk',
    greeting: 'Hello there.',
    pre_call_fetch_mode: 'always',
    pre_call_fetch_url: `${crm.url}/lookup`,
    ...data,
  });
  return at.harness.prepare(definition([first, end('bye')], [edge('talk', 'bye')]));
}

/** Variables that are not there before they are wanted. */
function late(): () => void {
  const until = deferred();
  crm.answer = { status: 200, body: VARIABLES, until: until.promise };
  return () => until.resolve();
}

async function fetched(): Promise<void> {
  await at.harness.until(
    async () => (await at.harness.runs())[0]?.initialContext['customer'] === 'Ana',
  );
}

/** Loudness of what the caller heard within the last `ms`. */
function level({ farEnd }: Stream, ms: number): number {
  const pcm = new Int16Array(ms * 8);
  farEnd.heard(at.harness.clock.monotonicMs() - ms, pcm);
  return levelDbfs(pcm);
}

/** Two tones of -19 dBm0; 0 dBm0 is a mean square of -6.2 dBFS. */
const RINGING_DBFS = -22.2;

describe('while variables are fetched', () => {
  it('plays the caller a ring-back tone, two seconds of six', async () => {
    await prepare();
    const answer = late();
    const { stream } = await at.harness.inboundCall();
    await at.harness.pass(1_900);
    expect(level(stream, 1_800)).toBeCloseTo(RINGING_DBFS, 0);
    await at.harness.pass(4_000);
    expect(level(stream, 3_500)).toBe(-100);
    await at.harness.pass(1_000);
    expect(level(stream, 800)).toBeCloseTo(RINGING_DBFS, 0);
    answer();
    await at.harness.until(() => at.harness.tts.asked.length > 0);
  });

  it('plays it to a called person too', async () => {
    await prepare();
    const answer = late();
    const { runId } = await at.harness.start();
    const stream = await at.harness.connect(await at.harness.pickUp(runId));
    stream.start(CALL);
    await at.harness.pass(1_000);
    expect(level(stream, 900)).toBeCloseTo(RINGING_DBFS, 0);
    answer();
    await at.harness.until(() => at.harness.tts.asked.length > 0);
  });

  it('the tone ends with the fetch, and the greeting follows', async () => {
    await prepare({ delayed_start: true, delayed_start_duration: 1 });
    const answer = late();
    const { stream } = await at.harness.inboundCall();
    await at.harness.pass(1_000);
    answer();
    await fetched();
    await at.harness.pass(960);
    expect(level(stream, 900)).toBe(-100);
    stream.framesAwaited = stream.frames;
    await at.harness.heardOut(stream);
    expect(at.harness.tts.asked.at(-1)).toBe('Hello there.');
  });

  it('the tone ends with the deadline of the fetch', async () => {
    await prepare();
    crm.answer = 'hang';
    const arrived = crm.next();
    const reply = await at.harness.ring();
    await arrived;
    await at.harness.pass(3_000);
    const stream = await at.harness.connect(reply);
    stream.start();
    await at.harness.pass(6_900);
    // Its second sound began at the sixth second.
    expect(level(stream, 500)).toBeCloseTo(RINGING_DBFS, 0);
    await at.harness.pass(200);
    await at.harness.until(() => at.harness.tts.asked.length > 0);
    await at.harness.heardOut(stream);
    await at.harness.pass(1_000);
    expect(level(stream, 900)).toBe(-100);
  });

  // The lines for waits and faults were rendered then, by a voice that was released, and paid.
  it('a caller who leaves meanwhile needs no lines', async () => {
    await prepare();
    const answer = late();
    const { stream, run } = await at.harness.inboundCall();
    await at.harness.pass(1_000);
    stream.hangUp();
    await at.harness.ended(run);
    answer();
    await fetched();
    await at.harness.pass(500);
    expect(at.harness.tts.rendered).not.toContain('One moment, please.');
  });

  it('the tone is nothing that the agent said', async () => {
    await prepare();
    const answer = late();
    const { stream, run } = await at.harness.inboundCall();
    const told: string[] = [];
    const onLive = (_runId: string, { type }: { type: string }) => told.push(type);
    at.harness.deps.events.live.watch(run.id, { onStored: () => undefined, onLive });
    await at.harness.pass(1_000);
    expect(told).not.toContain('rtf-bot-started-speaking');
    stream.lose();
    answer();
    const ended = await at.harness.ended(run);
    expect(ended.disposition).toBe('user_hangup');
    expect(await at.harness.bodies(run, 'agent.said')).toEqual([]);
    expect(await at.harness.transcript(ended)).toEqual([]);
    const sent = stream.frames;
    await at.harness.pass(500);
    expect(stream.frames).toBe(sent);
  });
});

describe('there is no ring-back tone', () => {
  it('where nothing is fetched', async () => {
    await prepare({ pre_call_fetch_mode: 'outbound', delayed_start: true });
    const { stream } = await at.harness.inboundCall();
    await at.harness.pass(1_500);
    expect(stream.frames).toBe(0);
  });

  it('where the variables came before the media', async () => {
    await prepare({ delayed_start: true });
    crm.answer = { status: 200, body: VARIABLES };
    const reply = await at.harness.ring();
    await fetched();
    const stream = await at.harness.connect(reply);
    stream.start();
    await settle();
    await at.harness.pass(1_500);
    expect(stream.frames).toBe(0);
  });
});
