// A call goes on in another process in the middle of its conversation: one run, one log, one transcript, one recording.

import { beforeEach, describe, expect, it } from 'vitest';
import { rebuildState } from '../../../src/call/events/state-rebuild.ts';
import type { ResumeRefusal } from '../../../src/call/session/resumed-call.ts';
import type { Run } from '../../../src/model/run.ts';
import { workflowConfigurations } from '../../../src/model/workflow.ts';
import { createEngine } from '../../../src/workflow/engine.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { startRestServer } from '../../telephony/provider/rest-server.ts';
import {
  type CallHarness,
  chat,
  drinks,
  GOODBYE,
  GREETING,
  withCallHarness,
} from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';
import { withSecondGateway } from '../second-gateway.ts';
import type { Stream } from '../stream.ts';
import { readWav } from '../wav-reader.ts';
import { Mortal, type Resumption, resume } from './resumed-harness.ts';
import { withTools } from './tools-harness.ts';

const held = withCallHarness();
const second = withSecondGateway();
let first: CallHarness;
let mortal: Mortal;

const SORRY = "assistant: Sorry, I'm still here.";
/** From the death to the new media. */
const GAP_MS = 4_000;

beforeEach(() => {
  first = held.harness;
  mortal = new Mortal(first);
});

/** The call's other process, once the first is dead. */
async function taken(run: Run): Promise<{ harness: CallHarness } & Resumption> {
  await mortal.kill();
  first.clock.advance(GAP_MS);
  const harness = await second.beside(first);
  harness.speech.llm = first.speech.llm;
  const resumed = await resume(second, first, run);
  if ('why' in resumed) throw new Error(`not resumed: ${resumed.why}`);
  return { harness, ...resumed };
}

async function over(harness: CallHarness, run: Run): Promise<Run> {
  return harness.completed(run);
}

/** The log has every number once, one end, and leads the engine to it. */
async function checkLog(harness: CallHarness, done: Run): Promise<void> {
  const events = await harness.events(done);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ body }) => body.type === 'call.ended')).toHaveLength(1);
  expect(events.filter(({ body }) => body.type === 'recording.finished')).toHaveLength(1);
  const policy = harness.speech.llm === undefined ? 'scripted' : 'model';
  const settings = workflowConfigurations.parse({});
  const graph = parseGraph(first.version.definition);
  const engine = createEngine({ graph, policy, settings });
  const rebuilt = rebuildState({ engine, events, runContext: done.initialContext });
  expect(rebuilt).toMatchObject({ fault: undefined, unlogged: [], state: { phase: 'ended' } });
}

async function finish(harness: CallHarness, stream: Stream): Promise<void> {
  await harness.says(stream, 'tea');
  await harness.heardOut(stream);
}

describe('a call that another process resumes', () => {
  it('goes on with the last question, in the same run', async () => {
    await first.prepare(drinks);
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    await first.says(former, 'lemonade');
    await first.heardOut(former);
    const { harness, stream } = await taken(run);
    await harness.heardOut(stream);
    await finish(harness, stream);
    const done = await over(harness, run);
    expect(done.disposition).toBe('user_qualified');
    expect(done.gatheredContext['extracted_variables']).toEqual({ drink: 'tea' });
    const said = await harness.transcript(done);
    expect(said[0]).toBe(`assistant: ${GREETING}`);
    expect(said.slice(-4)).toEqual([
      SORRY,
      `assistant: ${GREETING}`,
      'user: tea',
      'assistant: Tea it is. Goodbye.',
    ]);
    await checkLog(harness, done);
  });

  it('counts its length, and what it used, once and whole', async () => {
    await first.prepare(drinks);
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    const beganAt = run.startedAt?.getTime() ?? 0;
    const before = (await first.bodies(run, 'agent.said')).map(({ text }) => text).join('').length;
    const { harness, stream } = await taken(run);
    await harness.heardOut(stream);
    await finish(harness, stream);
    const done = await over(harness, run);
    const endedMs = (done.endedAt?.getTime() ?? 0) - beganAt;
    expect(Math.abs((done.durationS ?? 0) * 1_000 - endedMs)).toBeLessThan(100);
    expect(done.durationS).toBeGreaterThan(GAP_MS / 1_000);
    const { tts, stt } = done.usageInfo as { tts: object; stt: object };
    const [characters] = Object.values(tts);
    const after = [`Sorry, I'm still here.`, GREETING, GOODBYE].join('').length;
    expect(characters).toBe(before + after);
    expect(Object.values(stt)).toEqual([done.durationS]);
  });

  it('has one recording, whose silence its log names', async () => {
    await first.prepare(drinks);
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    await first.pass(2_000);
    const { harness, stream } = await taken(run);
    await harness.heardOut(stream);
    await finish(harness, stream);
    const done = await over(harness, run);
    const recording = readWav(await harness.deps.files.readAll(done.recordingKey ?? ''));
    const entry = (await harness.events(run)).find(({ body }) => body.type === 'call.resumed');
    if (entry?.body.type !== 'call.resumed') throw new Error('not in the log');
    const { mediaMs } = entry;
    const { recordingGapMs, gapMs } = entry.body;
    expect(gapMs).toBeGreaterThanOrEqual(GAP_MS);
    expect(recordingGapMs).toBeGreaterThanOrEqual(GAP_MS);
    expect(recordingGapMs).toBeLessThan(GAP_MS + 2_500);
    const isLoud = (fromMs: number, toMs: number): boolean => {
      const moments = Array.from({ length: (toMs - fromMs) / 20 - 1 }, (_, n) => fromMs + 20 * n);
      return moments.some((atMs) => recording.loud('right', atMs));
    };
    expect(isLoud(0, 1_000)).toBe(true);
    expect(isLoud(mediaMs - recordingGapMs, mediaMs)).toBe(false);
    expect(isLoud(mediaMs, mediaMs + 3_000)).toBe(true);
    expect(Math.abs(recording.seconds - (done.durationS ?? 0))).toBeLessThan(0.1);
  });

  it('starts its silences anew, and ends when its time is over', async () => {
    await first.prepare(drinks, { max_user_idle_timeout: 10, max_call_duration: 60 });
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    await first.pass(3_000);
    const { harness, stream } = await taken(run);
    await harness.heardOut(stream);
    await harness.pass(9_000);
    const asked = async () =>
      (await harness.bodies(run, 'agent.said')).filter(({ kind }) => kind === 'idle').length;
    expect(await asked()).toBe(0);
    await harness.pass(3_000);
    await harness.heardOut(stream);
    expect(await asked()).toBe(1);
    for (let turn = 0; turn < 12; turn++) {
      await harness.says(stream, 'hold on');
      await harness.pass(4_000);
    }
    const done = await over(harness, run);
    expect(done.disposition).toBe('call_duration_exceeded');
    expect(Math.round(done.durationS ?? 0)).toBe(60);
  });

  it('asks the model again whose answer the former process has lost', async () => {
    const llm = new ScriptedModel(first.clock);
    first.speech.llm = llm;
    await first.prepare(chat);
    llm.answers = [{ hangs: true }];
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    await first.says(former, 'when do you open');
    await first.passUntil(() => llm.spoken.length === 1);
    llm.answers = [{ say: ['At nine.'] }, { say: ['Goodbye.'], call: 'finish' }];
    const { harness, stream } = await taken(run);
    await harness.heardOut(stream);
    expect(llm.spoken.at(-1)?.messages.at(-1)).toMatchObject({ content: 'when do you open' });
    await harness.says(stream, 'thanks');
    await harness.heardOut(stream);
    const done = await over(harness, run);
    expect((await harness.transcript(done)).slice(1)).toEqual([
      'user: when do you open',
      SORRY,
      'assistant: At nine.',
      'user: thanks',
      'assistant: Goodbye.',
    ]);
    await checkLog(harness, done);
  });

  it('calls no function again whose result was lost', async () => {
    const shop = await startRestServer();
    try {
      shop.answer = 'hang';
      const llm = new ScriptedModel(first.clock);
      first.speech.llm = llm;
      const url = `${shop.url}/bookings`;
      await withTools(first, {
        name: 'Book',
        definition: { type: 'http_api', config: { method: 'POST', url } },
      });
      llm.answers = [{ say: ['I book it.'], call: 'book' }];
      const { stream: former, run } = await first.inboundCall();
      await first.heardOut(former);
      await first.says(former, 'book it');
      await first.passThrough(() => shop.asked.length === 1);
      llm.answers = [{ say: ['I do not know whether it worked.'] }];
      const { harness, stream } = await taken(run);
      await harness.heardOut(stream);
      const messages = llm.spoken.at(-1)?.messages ?? [];
      const result = messages.find(({ role }) => role === 'tool');
      expect(result?.content).toContain('not known whether this was done');
      expect(shop.asked).toHaveLength(1);
      stream.hangUp();
      const done = await over(harness, run);
      expect((await harness.bodies(run, 'function.called')).length).toBe(1);
      expect((await harness.bodies(run, 'function.returned')).length).toBe(1);
      expect(await harness.transcript(done)).toContain(
        'assistant: I do not know whether it worked.',
      );
    } finally {
      await shop.close();
    }
  });

  it('may be resumed once more', async () => {
    await first.prepare(drinks);
    const { stream: former, run } = await first.inboundCall();
    await first.heardOut(former);
    const { harness, stream } = await taken(run);
    await harness.heardOut(stream);
    // The third process takes it from the second, whose socket stays open and unused.
    await harness.deps.events.flush();
    harness.streams.splice(0);
    harness.clock.advance(GAP_MS);
    const again = await resume(second, first, run);
    if ('why' in again) throw new Error(`not resumed: ${again.why}`);
    await harness.heardOut(again.stream);
    await finish(harness, again.stream);
    const done = await over(harness, run);
    expect(await harness.bodies(run, 'call.resumed')).toHaveLength(2);
    expect(done.disposition).toBe('user_qualified');
  });
});

describe('a call that cannot be resumed', () => {
  async function refused(run: Run): Promise<ResumeRefusal> {
    await mortal.kill();
    await second.beside(first);
    const resumed = await resume(second, first, run);
    if (!('why' in resumed)) throw new Error('resumed');
    return resumed;
  }

  it('is one whose log has a gap', async () => {
    await first.prepare(drinks);
    const { stream, run } = await first.inboundCall();
    await first.heardOut(stream);
    await first.deps.events.flush();
    await first.at.sql('delete from run_events where run_id = $1 and seq = 3', [run.id]);
    expect(await refused(run)).toEqual({ why: 'gap', seq: 3 });
  });

  it('is one that its agent or its caller has ended', async () => {
    await first.prepare(drinks);
    const { stream, run } = await first.inboundCall();
    await first.heardOut(stream);
    await first.deps.events.flush();
    await first.at.sql(
      `insert into run_events select run_id, max(seq) + 1, 0, 0, '{"type":"call.ended"}'
        from run_events where run_id = $1 group by run_id`,
      [run.id],
    );
    expect(await refused(run)).toEqual({ why: 'over' });
  });

  it('is one of an older version, whose log has no inputs', async () => {
    await first.prepare(drinks);
    const { stream, run } = await first.inboundCall();
    await first.heardOut(stream);
    await first.deps.events.flush();
    await first.at.sql(
      `update run_events set body = '{"type":"dtmf","digit":"1"}'
        where run_id = $1 and body ->> 'type' = 'engine.input'`,
      [run.id],
    );
    await first.at.sql(
      `update run_events set body = (body::jsonb - 'input')::json where run_id = $1`,
      [run.id],
    );
    expect(await refused(run)).toMatchObject({ why: 'not-recorded' });
  });
});
