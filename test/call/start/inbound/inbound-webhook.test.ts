// Inbound calls: from the webhook to the completed run, and every way to be refused.
// Source: contract §7.2, §8.9, §8.10.

import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  AUTH_TOKEN,
  CALL,
  CALLER,
  chat,
  drinks,
  GOODBYE,
  GREETING,
  inboundRequest,
  mediaUrlIn,
  NUMBER,
  withCallHarness,
} from '../../call-harness.ts';
import { ScriptedModel } from '../../scripted-model.ts';
import { readWav } from '../../wav-reader.ts';

const held = withCallHarness();

describe('an inbound call', () => {
  it('opens the connection to the language model before its media comes', async () => {
    const harness = await held.harness.prepare();
    const llm = new ScriptedModel(harness.clock);
    harness.speech.llm = llm;
    await harness.ring();
    expect(llm.prepared).toBe(1);
    expect(llm.requests).toEqual([]);
  });

  it('is led to its end and kept whole', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    expect(run).toMatchObject({ state: 'running', callType: 'inbound', mode: 'twilio' });
    expect(run.name).toMatch(/^WR-TEL-IN-\d{8}$/);
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done).toMatchObject({
      state: 'completed',
      disposition: 'user_qualified',
      recordingKey: `recordings/${run.id}.wav`,
      transcriptKey: `transcripts/${run.id}.txt`,
      providerCallId: CALL,
    });
    expect(done.durationS).toBeGreaterThan(2);
    expect(done.endedAt?.getTime()).toBeGreaterThan(done.startedAt?.getTime() ?? Infinity);
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${GREETING}`,
      'user: tea',
      `assistant: ${GOODBYE}`,
    ]);
    expect(done.gatheredContext).toEqual({
      drink: 'tea',
      extracted_variables: { drink: 'tea' },
      call_id: CALL,
      provider: 'twilio',
      nodes_visited: ['Ask', 'Tea'],
      call_disposition: 'user_qualified',
      mapped_call_disposition: 'user_qualified',
      call_status: 'user_qualified',
      call_tags: ['user_qualified', 'user_speech'],
    });
    expect(done.initialContext).toEqual({
      caller_number: CALLER,
      called_number: NUMBER,
      direction: 'inbound',
      provider: 'twilio',
      telephony_configuration_id: harness.configuration.id,
      call_id: CALL,
      runtime_configuration: {
        stt_provider: 'fake',
        stt_model: 'fake',
        tts_provider: 'fake',
        tts_model: 'fake',
        llm_provider: 'scripted',
        llm_model: null,
      },
    });
    expect(done.usageInfo).toMatchObject({
      llm: {},
      tts: { 'fake|||fake': GREETING.length + GOODBYE.length },
      call_duration_seconds: Math.round(done.durationS ?? 0),
    });
    expect(harness.errors).toEqual([]);
  });

  it('bills what its recogniser counted in place of the length of the call', async () => {
    const harness = await held.harness.prepare();
    const usage = { job: 'stt', service: 'acme', model: 'one', unit: 'seconds' } as const;
    harness.stt.usage = { ...usage, amount: 4.5, source: 'vendor' };
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.usageInfo).toMatchObject({ stt: { 'acme|||one': 4.5 } });
    expect(done.usageInfo?.['stt']).not.toHaveProperty('fake|||fake');
  });

  it('leaves its events in order, and the feedback items made of them', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    const events = await harness.events(run);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ body }) => body.type)).toEqual([
      'call.created',
      'media.started',
      'engine.input',
      'node.entered',
      'agent.said',
      'user.turn',
      'variables.extracted',
      'node.entered',
      'turn.latency',
      'agent.said',
      'recording.finished',
      'speech.usage',
      'recognition.usage',
      'call.ended',
    ]);
    const items = done.logs['realtime_feedback_events'] as { type: string }[];
    expect(items.map(({ type }) => type)).toEqual([
      'rtf-node-transition',
      'rtf-bot-text',
      'rtf-user-transcription',
      'rtf-node-transition',
      'rtf-latency-measured',
      'rtf-bot-text',
    ]);
    expect(done.logs['inbound_webhook']).toMatchObject({ account_id: ACCOUNT });
  });

  it('is recorded in stereo, the caller left and the agent right', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const spokeMs = harness.clock.monotonicMs();
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    const wav = readWav(await harness.deps.files.readAll(done.recordingKey ?? ''));
    expect(wav).toMatchObject({ rateHz: 8_000, channels: 2 });
    expect(wav.seconds).toBeCloseTo(done.durationS ?? 0, 1);
    expect(wav.loud('right', 100)).toBe(true);
    expect(wav.loud('left', 100)).toBe(false);
    expect(wav.loud('left', spokeMs + 300)).toBe(true);
    expect(wav.loud('right', spokeMs + 300)).toBe(false);
  });

  it('is hung up once, and only after the last mark of the goodbye came back', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall({ oneWayMs: 200 });
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.passUntil(
      () => harness.tts.asked.includes('Goodbye.') || stream.farEnd.frames.length > 0,
    );
    await harness.passUntil(
      () => harness.isSilent(stream) && stream.farEnd.marksPending.length > 0,
    );
    await harness.pass(20);
    expect(stream.farEnd.marksPending.length).toBeGreaterThan(0);
    expect(harness.hangUps).toHaveLength(0);
    await harness.passUntil(() => stream.farEnd.marksPending.length === 0);
    const done = await harness.ended(run);
    expect(harness.hangUps).toHaveLength(1);
    expect(harness.hangUps[0]?.path).toContain(`/Calls/${CALL}.json`);
    expect(stream.farEnd.clears).toBe(0);
    expect(stream.closed).toMatchObject({ code: 1000 });
    expect((await harness.transcript(done)).at(-1)).toBe(`assistant: ${GOODBYE}`);
  });

  it('is not hung up when the caller has done so', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.hangUp();
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_hangup');
    expect(harness.hangUps).toHaveLength(0);
  });

  it('is led by keys alone', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.key('2');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.gatheredContext).toMatchObject({
      drink: 'coffee',
      nodes_visited: ['Ask', 'Coffee'],
    });
    expect(await harness.bodies(run, 'dtmf')).toEqual([{ type: 'dtmf', digit: '2' }]);
  });
});

describe('an inbound webhook', () => {
  it('reaches the number however its number is written', async () => {
    const harness = await held.harness.prepare();
    const national = await harness.addNumber('(415) 555-0102', {
      countryCode: 'US',
      inboundWorkflowId: harness.workflow.id,
    });
    expect(national.addressNormalized).toBe('+14155550102');
    const spellings = [
      '+14155550101',
      '14155550101',
      '0014155550101',
      '+1 415 555-0101',
      '+14155550102',
    ];
    for (const [index, to] of spellings.entries()) {
      const reply = await harness.ring(`CallSid=CA${index}&To=${encodeURIComponent(to)}`);
      expect(reply.body).toContain('<Stream');
    }
  });

  it('that is delivered again finds the same run and a good token', async () => {
    const harness = await held.harness.prepare();
    const first = await harness.ring();
    const second = await harness.ring();
    expect(await harness.runs()).toHaveLength(1);
    await expect(harness.connect(first)).rejects.toThrow('4401');
    await harness.connect(second);
  });

  it('that is delivered twice at once makes one run', async () => {
    const harness = await held.harness.prepare();
    const { create } = harness.deps.store.runs;
    harness.deps.store.runs.create = async (...from) => {
      for (let n = 0; n < 5; n++) await harness.at.sql('select 1'); // The others get ahead.
      return create(...from);
    };
    const replies = await Promise.all([harness.ring(), harness.ring(), harness.ring()]);
    expect(replies.every(({ body }) => body.includes('<Stream'))).toBe(true);
    const runs = await harness.runs();
    expect(runs).toHaveLength(1);
    expect(await harness.bodies({ id: runs[0]?.id ?? '' }, 'call.created')).toHaveLength(1);
  });

  it('is answered with the published version, not with the draft', async () => {
    const harness = await held.harness.prepare();
    await harness.at.store.workflows.saveDraft(harness.workflow.id, { definition: chat });
    await harness.ring();
    const [run] = await harness.runs();
    expect(run?.definitionId).toBe(harness.version.id);
  });
});

describe('an inbound call is refused in markup with status 200', () => {
  const refusal = async (form = '', request = inboundRequest(form)) => {
    const reply = await held.harness.callControl.inbound(request, null);
    expect(reply.status).toBe(200);
    expect(reply.contentType).toMatch(/^text\/xml/);
    expect(reply.body).not.toContain('<Stream');
    expect(held.harness.callControl.activeCalls).toBe(0);
    return reply.body;
  };

  it('when no provider recognises it', async () => {
    await held.harness.prepare();
    const request = { ...inboundRequest(), headers: {}, form: {}, formAll: {} };
    expect(await refusal('', request)).toContain('<Response><Hangup/></Response>');
  });

  it('when the number or the account is not known, for any signature', async () => {
    const harness = await held.harness.prepare();
    const notInService = 'not in service';
    expect(await refusal('To=%2B14155559999')).toContain(notInService);
    expect(await refusal('AccountSid=AC0000')).toContain(notInService);
    expect(await refusal('', inboundRequest('To=%2B14155559999', 'wrong'))).toContain(notInService);
    expect(await harness.runs()).toEqual([]);
  });

  it('when the number is not active', async () => {
    const harness = await held.harness.prepare();
    await harness.at.store.telephony.updateNumber(harness.configuration.id, harness.number.id, {
      isActive: false,
    });
    expect(await refusal()).toContain('not in service');
  });

  it('when no workflow answers the number, before the signature is looked at', async () => {
    const harness = await held.harness.prepare();
    await harness.addNumber('+14155550109');
    const nobody = 'Nobody is set up';
    expect(await refusal('To=%2B14155550109')).toContain(nobody);
    expect(await refusal('', inboundRequest('To=%2B14155550109', 'wrong'))).toContain(nobody);
  });

  it('when the workflow is archived', async () => {
    const harness = await held.harness.prepare();
    const { organizationId } = harness.at.owner;
    await harness.at.store.workflows.setStatus(organizationId, harness.workflow.id, 'archived');
    expect(await refusal()).toContain('Nobody is set up');
  });

  it('when the signature is wrong, missing or made for another URL', async () => {
    const harness = await held.harness.prepare();
    expect(await refusal('', inboundRequest('', 'f'.repeat(32)))).toContain('not be verified');
    const { ['x-twilio-signature']: _, ...headers } = inboundRequest().headers;
    expect(await refusal('', { ...inboundRequest(), headers })).toContain('not be verified');
    const elsewhere = { ...inboundRequest(), url: 'https://other.example.com/inbound/run' };
    expect(await refusal('', elsewhere)).toContain('not be verified');
    expect(await harness.runs()).toEqual([]);
    expect(AUTH_TOKEN).toHaveLength(32);
  });

  it('as busy and without a run when too many calls are open', async () => {
    const harness = await held.harness.prepare();
    const limit = await harness.at.store.accounts.concurrentCallLimit(
      harness.at.owner.organizationId,
    );
    for (let n = 0; n < limit; n++) await harness.ring(`CallSid=CA${n}`);
    expect(await refusal('CallSid=CAmore')).toContain('<Reject reason="busy"/>');
    expect(await harness.runs()).toHaveLength(limit);
    expect((await harness.ring('CallSid=CA0')).body).toContain('<Stream');
  });

  it('when the agent cannot run, and the run says so', async () => {
    const harness = await held.harness.prepare();
    const broken = { nodes: [], edges: [] };
    await harness.at.store.workflows.saveDraft(harness.workflow.id, { definition: broken });
    await harness.at.store.workflows.publish(harness.workflow.id);
    expect(await refusal()).toContain('something went wrong');
    const [run] = await harness.runs();
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(run?.gatheredContext).toMatchObject({
      error: expect.stringContaining('not valid'),
      call_tags: ['not_connected', 'telephony_error'],
    });
  });

  it('when it cannot be read', async () => {
    const harness = await held.harness.prepare();
    expect(await refusal('CallSid=%20')).toContain('something went wrong');
    expect(harness.errors).toEqual([]);
  });

  it('when its call has been connected already', async () => {
    const harness = await held.harness.prepare();
    const { stream } = await harness.inboundCall();
    const reply = await harness.ring();
    expect(reply.body).toContain('something went wrong');
    expect(stream.open).toBe(true);
  });

  it('as busy while the gateway drains', async () => {
    const harness = await held.harness.prepare();
    const drained = harness.callControl.drain(1_000);
    expect(await refusal()).toContain('<Reject reason="busy"/>');
    await drained;
    expect(await harness.runs()).toEqual([]);
  });

  it('never with a secret or an address in the log', async () => {
    const harness = await held.harness.prepare(drinks);
    await refusal('', inboundRequest('', 'f'.repeat(32)));
    expect(mediaUrlIn(await harness.ring())).toMatch(/^wss:\/\/gw\.example\.com/);
    expect(JSON.stringify(harness.at.lines())).not.toMatch(new RegExp(`${AUTH_TOKEN}|4155550100`));
  });
});
