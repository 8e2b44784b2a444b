// Inbound calls whose process was killed between its reply to their webhook and the provider's acceptance of the command
// that answers them. The provider is Twilio's, answered by commands.

import { describe, expect, it } from 'vitest';
import { createCallControl, withClosing } from '../../../../src/app/call-parts.ts';
import type { CallControl } from '../../../../src/call/call-control.ts';
import { CrashRecovery } from '../../../../src/call/end/crash-recovery.ts';
import { EventLog } from '../../../../src/call/events/event-log.ts';
import { LEFT_ANSWER_AGE_MS_MAX } from '../../../../src/call/start/inbound/left-answers.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import type {
  AnswerRequest,
  CallSnapshot,
  HostedProvider,
} from '../../../../src/telephony/provider/provider.ts';
import { providersOf } from '../../../../src/telephony/registry/registry.ts';
import { twilioProvider } from '../../../../src/telephony/twilio/provider.ts';
import { settle } from '../../../fakes/fake-clock.ts';
import { mediaTokens } from '../../../fakes/media-tokens.ts';
import { CALL, type CallHarness, inboundRequest, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();
const twilio = twilioProvider.create({ clock: systemClock });
const RINGING: CallSnapshot = { status: 'ringing', durationS: null, answeredBy: null };

interface Line {
  /** Commands that answer the call, oldest first. */
  commands: AnswerRequest[];
  provider: HostedProvider;
}

/** A provider that accepts the first command never, and later ones at once. */
function lineOf(says: () => Promise<CallSnapshot | undefined>): Line {
  const commands: AnswerRequest[] = [];
  const provider: HostedProvider = {
    ...twilio,
    capabilities: { ...twilio.capabilities, answerStyle: 'command' },
    control: { ...twilio.control, getCall: says },
    webhook: {
      ...twilio.webhook,
      answer: (request) => ({
        reply: twilio.webhook.acknowledge(),
        command: () => {
          commands.push(request);
          return commands.length === 1 ? new Promise(() => undefined) : Promise.resolve();
        },
      }),
    },
  };
  return { commands, provider };
}

/** A process over the store of the harness. */
function processOf(harness: CallHarness, { provider }: Line) {
  const { clock, log, store } = harness.deps;
  const deps = withClosing({
    ...harness.deps,
    providers: providersOf([provider, harness.pbx]),
    events: new EventLog({ sink: store.runs, clock, log }),
    tokens: mediaTokens({ clock }),
  });
  return { deps, control: createCallControl(deps) };
}

interface Killed {
  line: Line;
  control: CallControl;
  runId: string;
  /** Runs that the recovery closed before media could come. */
  closed: number;
}

/** A call whose process dies after the reply; another one starts `afterMs` later. */
async function killed(
  harness: CallHarness,
  {
    afterMs = 3_000,
    says = () => Promise.resolve(RINGING),
  }: {
    afterMs?: number;
    says?: () => Promise<CallSnapshot | undefined>;
  } = {},
): Promise<Killed> {
  const line = lineOf(says);
  const before = processOf(harness, line);
  let status = 0;
  void before.control.inbound(inboundRequest(), null).then((reply) => (status = reply.status));
  await harness.passThrough(() => status === 200);
  expect(line.commands).toHaveLength(1);
  const [run] = await harness.runs();
  if (run === undefined) throw new Error('no run');
  const agedMs = harness.clock.now() - run.createdAt.getTime();
  harness.clock.stall(afterMs - agedMs); // The timers of the killed process are of no use.
  await settle();
  await harness.at.sql('update runs set owner_epoch = 1');
  const after = processOf(harness, line);
  const recovery = new CrashRecovery(after.deps);
  const closed = await recovery.start();
  recovery.serve({
    answerAgain: (runId) => after.control.answerAgain(runId),
    resume: (runId) => after.control.resumeLeft(runId),
  });
  Object.assign(harness, { callControl: after.control });
  return { line, control: after.control, runId: run.id, closed };
}

describe('an inbound call that was not answered when its process was killed', () => {
  it('gets the equal command again, and the agent', async () => {
    const harness = await held.harness.prepare();
    const { line, runId, closed } = await killed(harness);
    expect(closed).toBe(0);
    await harness.until(() => line.commands.length === 2);
    const [first, second] = line.commands;
    expect(second).toMatchObject({ runId, callId: CALL, isAnswered: false });
    expect({ ...second, mediaUrl: '' }).toEqual({ ...first, mediaUrl: '' });
    const stream = await harness.connectTo(second?.mediaUrl ?? '');
    stream.start();
    await harness.passUntil(() => stream.frames > 0);
    expect((await harness.run(runId)).state).toBe('running');
    expect(await harness.bodies({ id: runId }, 'call.created')).toHaveLength(1);
    await harness.pass(5_000);
    expect(line.commands).toHaveLength(2);
  });

  it.each([
    [LEFT_ANSWER_AGE_MS_MAX - 1_000, 'initialized', 0],
    [LEFT_ANSWER_AGE_MS_MAX, 'completed', 1],
  ])('for %i ms is %s', async (afterMs, state, hangUps) => {
    const harness = await held.harness.prepare();
    const { line, runId, closed } = await killed(harness, { afterMs });
    expect(closed).toBe(hangUps);
    await harness.until(() => harness.hangUps.length === hangUps);
    await harness.until(() => line.commands.length === 2 - hangUps);
    expect((await harness.run(runId)).state).toBe(state);
  });

  it.each([
    ['is unknown to the provider', undefined],
    ['is over', { ...RINGING, status: 'canceled' as const }],
  ])('and %s is closed without another command', async (_what, snapshot) => {
    const harness = await held.harness.prepare();
    const { line, runId } = await killed(harness, { says: () => Promise.resolve(snapshot) });
    const done = await harness.completed({ id: runId });
    expect(done).toMatchObject({ disposition: 'system_connect_error', durationS: 0 });
    expect(line.commands).toHaveLength(1);
  });

  it('is answered if the provider does not say whether it rings', async () => {
    const harness = await held.harness.prepare();
    const says = () => Promise.reject(new GatewayError('PROVIDER_FAILED', { provider: 'twilio' }));
    const { line } = await killed(harness, { says });
    await harness.until(() => line.commands.length === 2);
  });

  it('gets its media where the first command was carried out for the killed process', async () => {
    const harness = await held.harness.prepare();
    const { line, runId } = await killed(harness);
    await harness.until(() => line.commands.length === 2);
    await harness.passThrough(() => line.commands.length === 3);
    const [, second, third] = line.commands;
    expect(third).toEqual({ ...second, isAnswered: true });
    await harness.connectTo(third?.mediaUrl ?? '');
    expect((await harness.run(runId)).state).toBe('running');
    await harness.pass(5_000);
    expect(line.commands).toHaveLength(3);
  });

  it('is not disturbed by a second gateway to which the provider repeated the webhook', async () => {
    const harness = await held.harness.prepare();
    const line = lineOf(() => Promise.resolve(RINGING));
    const first = processOf(harness, line);
    void first.control.inbound(inboundRequest(), null);
    await harness.until(() => line.commands.length === 1);
    void processOf(harness, line).control.inbound(inboundRequest(), null);
    await harness.until(() => line.commands.length === 2);
    const [run] = await harness.runs();
    const [command] = line.commands;
    Object.assign(harness, { callControl: first.control });
    await harness.connectTo(command?.mediaUrl ?? '');
    expect((await harness.run(run?.id ?? '')).state).toBe('running');
    await harness.pass(5_000);
    expect(line.commands.filter(({ isAnswered }) => isAnswered)).toEqual([]);
  });

  it('is closed by a process that takes no calls', async () => {
    const harness = await held.harness.prepare();
    const line = lineOf(() => Promise.resolve(RINGING));
    const { control, deps } = processOf(harness, line);
    void control.inbound(inboundRequest(), null);
    await harness.until(() => line.commands.length === 1);
    await harness.at.sql('update runs set owner_epoch = 1');
    const recovery = new CrashRecovery(deps);
    await recovery.start();
    await control.drain(0);
    recovery.serve({
      answerAgain: (runId) => control.answerAgain(runId),
      resume: (runId) => control.resumeLeft(runId),
    });
    const [run] = await harness.runs();
    await harness.completed({ id: run?.id ?? '' });
    expect(line.commands).toHaveLength(1);
  });
});

describe('media that failed for a killed process', () => {
  it('are asked for again at once, and do not end the call', async () => {
    const harness = await held.harness.prepare();
    const { line, control, runId } = await killed(harness);
    await harness.until(() => line.commands.length === 2);
    const failed = { kind: 'media-failed' as const, callId: CALL, reason: 'connection_failed' };
    line.provider.webhook.parse = () => ({ ...failed, dedupeKey: 'of the first stream' });
    await control.event('twilio', runId, inboundRequest());
    await harness.until(() => line.commands.length === 3);
    expect(line.commands[2]).toMatchObject({ isAnswered: true });
    expect((await harness.run(runId)).state).toBe('initialized');
    line.provider.webhook.parse = () => ({ ...failed, dedupeKey: 'of the second' });
    await control.event('twilio', runId, inboundRequest());
    expect(await harness.completed({ id: runId })).toMatchObject({ disposition: 'error' });
  });

  it('do not end the call in a process that does not have it', async () => {
    const harness = await held.harness.prepare();
    const line = lineOf(() => Promise.resolve(RINGING));
    const { control } = processOf(harness, line);
    void control.inbound(inboundRequest(), null);
    await harness.until(() => line.commands.length === 1);
    const [run] = await harness.runs();
    const failed = { kind: 'media-failed' as const, callId: CALL, reason: 'connection_failed' };
    line.provider.webhook.parse = () => ({ ...failed, dedupeKey: 'media' });
    await processOf(harness, line).control.event('twilio', run?.id ?? '', inboundRequest());
    expect((await harness.run(run?.id ?? '')).state).toBe('initialized');
  });
});
