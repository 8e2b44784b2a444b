// What the call layer makes of a provider's capabilities: answer by command, proof of webhooks, nonces, dials that may be
// sent again, events of an account. The provider is Twilio's, with another capability each.

import { describe, expect, it } from 'vitest';
import { createCallControl, withClosing } from '../../../src/app/call-parts.ts';
import type { CallControl } from '../../../src/call/call-control.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import type {
  CallSnapshot,
  HostedCapabilities,
  HostedProvider,
} from '../../../src/telephony/provider/provider.ts';
import { providersOf } from '../../../src/telephony/registry/registry.ts';
import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { deferred } from '../../fakes/deferred.ts';
import {
  ACCOUNT,
  CALL,
  type CallHarness,
  inboundRequest,
  PUBLIC_URL,
  signed,
  withCallHarness,
} from '../call-harness.ts';

const held = withCallHarness();
const twilio = twilioProvider.create({ clock: systemClock });

interface Varied {
  control: CallControl;
  /** Media URLs of answer commands, and `reject`. */
  commands: string[];
  lookUps: string[];
  dials: number;
}

/** Call control over a provider that differs. */
function varied(
  harness: CallHarness,
  capabilities: Partial<HostedCapabilities>,
  more: {
    snapshot?: CallSnapshot | undefined;
    /** Look-ups that do not find the call yet. */
    unlisted?: number;
    nonceOf?: HostedProvider['webhook']['nonceOf'];
    isOfRun?: HostedProvider['webhook']['isOfRun'];
    dialFaults?: number;
    answerFault?: GatewayError;
    /** Every event is that the media failed. */
    mediaFault?: string;
  } = {},
): Varied {
  const at: Varied = { commands: [], lookUps: [], dials: 0, control: harness.callControl };
  const isCommand = capabilities.answerStyle === 'command';
  const provider: HostedProvider = {
    ...twilio,
    capabilities: { ...twilio.capabilities, ...capabilities },
    control: {
      ...twilio.control,
      dial: (...from) => {
        at.dials += 1;
        if (at.dials <= (more.dialFaults ?? 0)) {
          return Promise.reject(new GatewayError('PROVIDER_UNCERTAIN', { reason: 'ECONNRESET' }));
        }
        return twilio.control.dial(...from);
      },
      getCall: (_credentials, callId) => {
        at.lookUps.push(callId);
        const isListed = at.lookUps.length > (more.unlisted ?? 0);
        return Promise.resolve(isListed ? more.snapshot : undefined);
      },
    },
    webhook: {
      ...twilio.webhook,
      ...(more.nonceOf && { nonceOf: more.nonceOf }),
      ...(more.isOfRun && { isOfRun: more.isOfRun }),
      ...(more.mediaFault && {
        parse: () => ({
          kind: 'media-failed' as const,
          callId: CALL,
          dedupeKey: 'media',
          reason: more.mediaFault ?? '',
        }),
      }),
      answer: (request) => ({
        reply: twilio.webhook.acknowledge(),
        ...(isCommand && {
          command: () => {
            at.commands.push(request.mediaUrl);
            return more.answerFault === undefined
              ? Promise.resolve()
              : Promise.reject(more.answerFault);
          },
        }),
      }),
      reject: (reason, callId) => ({
        reply: twilio.webhook.acknowledge(),
        command: () => {
          at.commands.push(`reject ${reason} ${callId}`);
          return Promise.resolve();
        },
      }),
    },
  };
  const providers = providersOf([provider, harness.pbx]);
  at.control = createCallControl(withClosing({ ...harness.deps, providers }));
  return at;
}

const statusUrl = (runId: string) =>
  `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
const statusForm = (status: string) =>
  `CallSid=${CALL}&AccountSid=${ACCOUNT}&CallStatus=${status}&SequenceNumber=3`;
const report = (at: Varied, runId: string, status: string) =>
  at.control.event('twilio', runId, signed(statusUrl(runId), statusForm(status)));

/** An inbound call's webhook, answered while time passes. */
const rung = async (harness: CallHarness, at: Varied) => {
  let isDone = false;
  const reply = at.control.inbound(inboundRequest(), null).finally(() => {
    isDone = true;
  });
  await harness.passThrough(() => isDone);
  return reply;
};

const startWith = async (harness: CallHarness, at: Varied) => {
  Object.assign(harness, { callControl: at.control });
  return harness.start();
};

describe('a provider that is answered by commands', () => {
  const command = { answerStyle: 'command' } as const;

  it('is sent one for an inbound call, and the same one for its repeated webhook', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, command);
    await at.control.inbound(inboundRequest(), null);
    await at.control.inbound(inboundRequest(), null);
    expect(at.commands).toHaveLength(2);
    expect(at.commands[0]).toBe(at.commands[1]);
    expect(await harness.runs()).toHaveLength(1);
  });

  // Whatever its provider signed, sent to the answer URL of a run, asked for the media of a call that rang.
  it('has no answer URL', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, command);
    const { runId } = await startWith(harness, at);
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/answer/${runId}`;
    const asking = at.control.answer('twilio', runId, signed(url, statusForm('ringing')));
    await expect(asking).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(at.commands).toEqual([]);
  });

  it('takes no webhook that is about another run, whatever its path is', async () => {
    const harness = await held.harness.prepare();
    const asked: string[] = [];
    const isOfRun = (_request: unknown, runId: string) => asked.push(runId) > 1;
    const at = varied(harness, command, { isOfRun });
    const { runId } = await startWith(harness, at);
    const ignored = await report(at, runId, 'in-progress');
    expect(JSON.parse(ignored.body)).toEqual({ status: 'ignored', reason: 'unknown_run' });
    expect(at.commands).toEqual([]);
    await report(at, runId, 'in-progress');
    expect([asked, at.commands.length]).toEqual([[runId, runId], 1]);
  });

  it('connects a call by its own answer, not by that of another call', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, command);
    const { runId } = await startWith(harness, at);
    const form = statusForm('in-progress').replace(CALL, `CA${'9'.repeat(32)}`);
    await at.control.event('twilio', runId, signed(statusUrl(runId), form));
    expect(at.commands).toEqual([]);
    await report(at, runId, 'in-progress');
    expect(at.commands).toHaveLength(1);
  });

  it('is not asked to end a call that talks, when the webhook of its start comes late', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, command);
    Object.assign(harness, { callControl: at.control });
    await at.control.inbound(inboundRequest(), null);
    await harness.connectTo(at.commands[0] ?? '');
    const reply = await at.control.inbound(inboundRequest(), null);
    expect([reply.status, at.commands.length]).toEqual([200, 1]);
  });

  it('is sent one when a call that we placed is answered, once', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, command);
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'ringing');
    expect(at.commands).toEqual([]);
    await report(at, runId, 'in-progress');
    expect(at.commands).toHaveLength(1);
    await harness.connectTo(at.commands[0] ?? '');
    await report(at, runId, 'in-progress');
    expect(at.commands).toHaveLength(1);
  });

  // A provider that got no reply within two seconds repeats its webhook at the moment at which the media open.
  it.each([
    ['is planned', undefined],
    ['cannot be planned', new GatewayError('STORE_UNAVAILABLE')],
  ])('has its call left alone where the webhook comes again and %s too late', async (_, fault) => {
    const harness = await held.harness.prepare();
    const at = varied(harness, command);
    const { runId } = await startWith(harness, at);
    const { runs } = harness.deps.store;
    const adopt = runs.takeOver.bind(runs);
    const slow = deferred();
    let adoptions = 0;
    runs.takeOver = async (id) => {
      adoptions += 1;
      if (adoptions === 1) return adopt(id);
      await slow.promise;
      if (fault !== undefined) throw fault;
      return adopt(id);
    };
    await report(at, runId, 'in-progress');
    const again = report(at, runId, 'in-progress');
    await harness.until(() => adoptions === 2);
    const stream = await harness.connectTo(at.commands[0] ?? '');
    stream.start();
    slow.resolve();
    expect((await again).status).toBe(200);
    expect([at.commands.length, harness.hangUps.length]).toEqual([1, 0]);
    expect((await harness.run(runId)).state).toBe('running');
    stream.hangUp();
    await harness.ended({ id: runId });
    expect(at.control.calls).toBe(0);
  });

  it('gets a refusal only if the webhook was proven', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, command);
    await at.control.inbound(inboundRequest('', 'another token'), null);
    expect(at.commands).toEqual([]);
    await harness.at.store.telephony.updateNumber(harness.configuration.id, harness.number.id, {
      inboundWorkflowId: null,
    });
    await at.control.inbound(inboundRequest(), null);
    expect(at.commands).toEqual([`reject no-workflow ${CALL}`]);
  });

  it('that refuses the command leaves a completed run that says why', async () => {
    const harness = await held.harness.prepare();
    const answerFault = new GatewayError('PROVIDER_REFUSED', { provider: 'twilio', reason: 'no' });
    const at = varied(harness, command, { answerFault });
    await at.control.inbound(inboundRequest(), null);
    const [run] = await harness.runs();
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(harness.hangUps).toHaveLength(1);
  });

  it('that refuses the command for a call that we placed has that call hung up', async () => {
    const harness = await held.harness.prepare();
    const answerFault = new GatewayError('PROVIDER_REFUSED', { provider: 'twilio', reason: 'no' });
    const at = varied(harness, command, { answerFault });
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'in-progress');
    expect(await harness.run(runId)).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(harness.hangUps).toHaveLength(1);
  });
});

describe('a webhook whose content is not proven', () => {
  const urlOnly = { webhookProof: 'url-only' } as const;
  const busy: CallSnapshot = { status: 'busy', durationS: null, answeredBy: null };
  const up: CallSnapshot = { status: 'in-progress', durationS: null, answeredBy: null };

  it('ends no call that the provider says is up', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, urlOnly, { snapshot: up });
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'completed');
    expect(at.lookUps).toEqual([CALL]);
    expect((await harness.run(runId)).state).toBe('initialized');
  });

  it('ends the call as the provider says it ended', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, urlOnly, { snapshot: busy });
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'failed');
    expect(await harness.run(runId)).toMatchObject({ state: 'completed', disposition: 'busy' });
  });

  it('has no effect for a call that is unknown to the provider, and names no other call', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, urlOnly, { snapshot: undefined });
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'ringing');
    const other = statusForm('busy').replace(CALL, `CA${'9'.repeat(32)}`);
    await at.control.event('twilio', runId, signed(statusUrl(runId), other));
    expect(at.lookUps).toEqual([CALL]);
    const run = await harness.run(runId);
    expect([run.state, run.logs['telephony_status_callbacks']]).toEqual(['initialized', undefined]);
  });

  it('ends exactly our call where the provider no longer lists an ended call', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, urlOnly, { snapshot: undefined });
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'busy');
    expect(await harness.run(runId)).toMatchObject({ state: 'completed', disposition: 'busy' });
  });

  it('says nothing about who answered', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, urlOnly, { snapshot: up });
    const { runId } = await startWith(harness, at);
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/answered-by/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&AnsweredBy=machine_start`;
    await at.control.event('twilio', runId, signed(url, form));
    expect(await harness.bodies({ id: runId }, 'call.answered-by')).toEqual([]);
  });

  it('brings no call that the provider does not have', async () => {
    const harness = await held.harness.prepare();
    await varied(harness, urlOnly, { snapshot: busy }).control.inbound(inboundRequest(), null);
    const at = varied(harness, urlOnly, {});
    await rung(harness, at);
    expect(at.lookUps).toHaveLength(4);
    expect(await harness.runs()).toEqual([]);
    await varied(harness, urlOnly, { snapshot: up }).control.inbound(inboundRequest(), null);
    expect(await harness.runs()).toHaveLength(1);
  });

  it('brings a call that the provider lists a moment later', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, urlOnly, { snapshot: up, unlisted: 2 });
    await rung(harness, at);
    expect([at.lookUps.length, (await harness.runs()).length]).toEqual([3, 1]);
  });

  it('of a new call is proven enough by a shared key', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, { webhookProof: 'shared-key' });
    await at.control.inbound(inboundRequest(), null);
    expect([at.lookUps, (await harness.runs()).length]).toEqual([[], 1]);
  });
});

describe('media that the provider could not open', () => {
  it('end a call that waits for them, at the provider too, and the run says why', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, {}, { mediaFault: 'connection_failed' });
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'in-progress');
    const run = await harness.run(runId);
    expect([run.state, run.disposition]).toEqual(['completed', 'error']);
    expect(JSON.stringify(run.logs['telephony_status_callbacks'])).toContain('connection_failed');
    expect(harness.hangUps).toHaveLength(1);
  });
});

describe('a webhook with a nonce', () => {
  const nonceOf = () => 'nonce-1';

  it('is refused for another content, and the same passes as a repeated delivery', async () => {
    const harness = await held.harness.prepare();
    const at = varied(harness, {}, { nonceOf });
    const { runId } = await startWith(harness, at);
    await report(at, runId, 'ringing');
    await report(at, runId, 'ringing');
    await expect(report(at, runId, 'busy')).rejects.toMatchObject({ code: 'WEBHOOK_SIGNATURE' });
    expect((await harness.run(runId)).state).toBe('initialized');
    harness.at.clock.advance(121_000);
    await expect(report(at, runId, 'ringing')).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
  });
});

describe('a dial without a clear answer', () => {
  it.each([
    [true, 2],
    [false, 1],
  ])('where it may be repeated (%s) is sent %i times', async (idempotentDial, dials) => {
    const harness = await held.harness.prepare();
    const at = varied(harness, { idempotentDial }, { dialFaults: 1 });
    const outcome = await startWith(harness, at).then(
      () => 'placed',
      ({ code }: GatewayError) => code,
    );
    expect([at.dials, outcome]).toEqual([dials, idempotentDial ? 'placed' : 'CALL_UNCERTAIN']);
  });
});

describe('an event of an account', () => {
  it('goes to the run of its call; of an unknown call it is ignored', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/cdr`;
    await harness.callControl.accountEvent('twilio', signed(url, statusForm('busy')));
    expect(await harness.run(runId)).toMatchObject({ state: 'completed', disposition: 'busy' });
    const other = statusForm('busy').replace(CALL, `CA${'9'.repeat(32)}`);
    const ignored = await harness.callControl.accountEvent('twilio', signed(url, other));
    expect(ignored.body).toContain('ignored');
  });

  it('is refused unless the account signed it', async () => {
    const harness = await held.harness.prepare();
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/cdr`;
    const forged = signed(url, statusForm('busy'), 'another token');
    await expect(harness.callControl.accountEvent('twilio', forged)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
  });
});
