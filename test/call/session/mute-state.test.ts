// When watchers get that the agent does not listen. Source: contract §8.4, §8.10.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedbackItem } from '../../../src/call/events/realtime-feedback.ts';
import { MuteState } from '../../../src/call/session/live-reports.ts';
import { INITIAL_STATE } from '../../../src/workflow/engine/state.ts';
import { deferred } from '../../fakes/deferred.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';
import { type Data, definition, edge, end, start } from '../../workflow/definitions.ts';
import { drinks, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const MUTED = 'rtf-user-mute-started';
const LISTENS = 'rtf-user-mute-stopped';

describe('whether the agent listens', () => {
  const tools = { spoken: '', isAnswered: false, pending: [], next: { what: 'reply' as const } };

  function mute() {
    const told: string[] = [];
    return { told, mute: new MuteState((type) => told.push(type)) };
  }

  it.each(['before', 'closing', 'ending', 'ended'] as const)('not when %s', (phase) => {
    const { told, mute: muting } = mute();
    muting.follow({ ...INITIAL_STATE, phase });
    muting.follow({ ...INITIAL_STATE, phase });
    expect(told).toEqual([MUTED]);
    muting.follow({ ...INITIAL_STATE, phase: 'talking' });
    expect(told).toEqual([MUTED, LISTENS]);
  });

  it('during a goodbye that words withdraw', () => {
    const { told, mute: muting } = mute();
    muting.follow({ ...INITIAL_STATE, phase: 'closing', isWithdrawable: true });
    expect(told).toEqual([]);
  });

  it.each(['delayed', 'talking'] as const)('when %s, but not while tools run', (phase) => {
    const { told, mute: muting } = mute();
    muting.follow({ ...INITIAL_STATE, phase });
    expect(told).toEqual([]);
    muting.follow({ ...INITIAL_STATE, phase, tools });
    expect(told).toEqual([MUTED]);
  });

  it('not while anything is heard that cannot be interrupted', () => {
    const { told, mute: muting } = mute();
    muting.started({ utteranceId: 1, interruptible: true });
    expect(told).toEqual([]);
    muting.started({ utteranceId: 2, interruptible: false });
    muting.started({ utteranceId: 3, interruptible: false });
    muting.finished(2);
    muting.finished(1);
    expect(told).toEqual([MUTED]);
    muting.finished(3);
    muting.finished(3);
    expect(told).toEqual([MUTED, LISTENS]);
  });

  it('not before both the words and the tools are over', () => {
    const { told, mute: muting } = mute();
    muting.started({ utteranceId: 1, interruptible: false });
    muting.follow({ ...INITIAL_STATE, phase: 'talking', tools });
    muting.finished(1);
    expect(told).toEqual([MUTED]);
    muting.follow({ ...INITIAL_STATE, phase: 'talking' });
    expect(told).toEqual([MUTED, LISTENS]);
  });
});

const at = withCallHarness();
let outside: RestServer;

beforeAll(async () => {
  outside = await startRestServer();
});
afterAll(() => outside.close());

/** What is sent of a run while it continues, without `rtf-`, and without interim words. */
function watched(run: { id: string }): { words: string[]; items: FeedbackItem[] } {
  const heard = { words: [] as string[], items: [] as FeedbackItem[] };
  const onLive = (_runId: string, item: FeedbackItem) => {
    if (item.type === 'rtf-user-transcription') return;
    heard.items.push(item);
    heard.words.push(item.type.replace('rtf-', ''));
  };
  at.harness.deps.events.live.watch(run.id, { onStored: () => undefined, onLive });
  return heard;
}

function talk(data: Data = {}) {
  const first = start('talk', { name: 'Talk', greeting: 'Hello there.', ...data });
  return definition([first, end('bye')], [edge('talk', 'bye', { label: 'Finish' })]);
}

describe('a client that watches a call', () => {
  it('gets that the agent does not listen while it cannot be interrupted', async () => {
    await at.harness.prepare();
    const { run, stream } = await at.harness.inboundCall();
    const heard = watched(run);
    await at.harness.passUntil(() => heard.words.length === 2);
    await at.harness.says(stream, 'mhm', 400);
    await at.harness.heardOut(stream);
    expect(heard.words).toEqual([
      'bot-started-speaking',
      'user-mute-started',
      'bot-stopped-speaking',
      'user-mute-stopped',
    ]);
    expect(heard.items[1]).toEqual({
      type: MUTED,
      payload: {},
      timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/),
    });
    // And indeed it did not.
    await at.harness.pass(800);
    expect(await at.harness.bodies(run, 'user.backchannel')).toMatchObject([{ text: 'mhm' }]);
    expect(await at.harness.bodies(run, 'user.turn')).toEqual([]);
    heard.words.length = 0;
    await at.harness.says(stream, 'tea');
    await at.harness.heardOut(stream);
    await at.harness.ended(run);
    // From the decision to say goodbye on, to the end.
    expect(heard.words).toEqual([
      'user-mute-started',
      'bot-started-speaking',
      'bot-stopped-speaking',
    ]);
    const { logs } = await at.harness.run(run.id);
    expect(JSON.stringify(logs)).not.toContain('user-mute');
  });

  it('gets nothing of it where the caller may interrupt', async () => {
    const [first, ...rest] = drinks.nodes;
    const data = { ...first?.data, allow_interrupt: true };
    const nodes = [{ ...first, data }, ...rest];
    await at.harness.prepare(definition(nodes, drinks.edges));
    const { run, stream } = await at.harness.inboundCall();
    const heard = watched(run);
    await at.harness.heardOut(stream);
    expect(heard.words).toEqual(['bot-started-speaking', 'bot-stopped-speaking']);
    stream.hangUp();
    await at.harness.ended(run);
    expect(heard.words.slice(2)).toEqual(['user-mute-started']);
  });

  it('gets that the agent does not listen while variables are fetched', async () => {
    const late = deferred();
    outside.answer = { status: 200, body: {}, until: late.promise };
    const fetch = { pre_call_fetch_mode: 'always', pre_call_fetch_url: outside.url };
    await at.harness.prepare(talk({ ...fetch, allow_interrupt: true }));
    // The media starts while the answer is awaited: sent before a client can watch by the run's id.
    const told: string[] = [];
    const { live } = at.harness.deps.events;
    live.emit = (_runId, { type }) => told.push(type);
    const { stream } = await at.harness.inboundCall();
    await at.harness.pass(500);
    expect(told).toEqual([MUTED]);
    late.resolve();
    await at.harness.until(() => told.length > 1);
    await at.harness.heardOut(stream);
    expect(told).toEqual([MUTED, LISTENS, 'rtf-bot-started-speaking', 'rtf-bot-stopped-speaking']);
  });

  it('gets that the caller is not answered while a tool runs', async () => {
    const llm = new ScriptedModel(at.harness.clock);
    llm.answers = [{ call: 'find_order' }, { say: ['It is on its way.'] }];
    at.harness.speech.llm = llm;
    const late = deferred();
    outside.answer = { status: 200, body: {}, until: late.promise };
    const config = { method: 'GET', url: outside.url };
    const { uuid } = await at.harness.at.store.tools.create(at.harness.at.owner, {
      name: 'Find order',
      description: 'Use it.',
      category: 'http_api',
      icon: null,
      iconColor: null,
      definition: { type: 'http_api', config },
    });
    await at.harness.prepare(talk({ tool_uuids: [uuid], allow_interrupt: true }), {
      filler_delay_seconds: 0,
    });
    const { run, stream } = await at.harness.inboundCall();
    await at.harness.heardOut(stream);
    const heard = watched(run);
    const asked = outside.next();
    await at.harness.says(stream, 'where is it');
    await at.harness.passThrough(() => heard.words.length > 0);
    await asked;
    await at.harness.pass(1_000);
    expect(heard.words).toEqual(['user-mute-started']);
    late.resolve();
    await at.harness.passThrough(() => heard.words.includes('bot-stopped-speaking'));
    expect(heard.words).toEqual([
      'user-mute-started',
      'user-mute-stopped',
      'bot-started-speaking',
      'bot-stopped-speaking',
    ]);
  });
});
