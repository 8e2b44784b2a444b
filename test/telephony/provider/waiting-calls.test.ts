// What each hosted provider is sent for a caller who waits for a place, for one who goes to another number, and for keys
// at the destination of a transfer.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { cloudonixProvider } from '../../../src/telephony/cloudonix/provider.ts';
import { plivoProvider } from '../../../src/telephony/plivo/provider.ts';
import { transferReply, transferUrl } from '../../../src/telephony/plivo-xml/xml-documents.ts';
import type { ForwardRequest, WaitRequest } from '../../../src/telephony/provider/provider.ts';
import { telnyxProvider } from '../../../src/telephony/telnyx/provider.ts';
import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { dialDocument } from '../../../src/telephony/twiml/twiml-documents.ts';
import { vobizProvider } from '../../../src/telephony/vobiz/provider.ts';
import * as ncco from '../../../src/telephony/vonage/ncco.ts';
import { vonageProvider } from '../../../src/telephony/vonage/provider.ts';
import { telnyxRow } from '../../fakes/telnyx/row.ts';
import { type RestServer, startRestServer } from './rest-server.ts';

const deps = { clock: systemClock };
const { signal } = new AbortController();
const CALL = 'call-1';
const waiting: WaitRequest = {
  runId: '7',
  callId: CALL,
  isAnswered: false,
  announcement: { words: 'Hold & wait.', audio: null },
  waitingAudio: 'https://gw.example.com/w.wav',
  askUrl: 'https://gw.example.com/wait/7',
  statusUrl: 'https://gw.example.com/events/7',
};
const forward: ForwardRequest = {
  runId: '7',
  callId: CALL,
  isAnswered: true,
  to: '+14155550199',
  callerId: '+14155550101',
  ringS: 60,
  resultUrl: 'https://gw.example.com/result/7-c1',
};
const xmlProviders = [
  ['twilio', twilioProvider.create(deps).webhook, 'Say'],
  ['cloudonix', cloudonixProvider.create(deps).webhook, 'Say'],
  ['plivo', plivoProvider.create(deps).webhook, 'Speak'],
  ['vobiz', vobizProvider.create(deps).webhook, 'Speak'],
] as const;
const { webhook: vonage } = vonageProvider.create(deps);

describe.each(xmlProviders)('a caller of %s', (_name, webhook, say) => {
  it('waits with words and audio, after which the provider asks again', () => {
    const ask = '<Redirect method="POST">https://gw.example.com/wait/7</Redirect>';
    const play = '<Play>https://gw.example.com/w.wav</Play>';
    expect(webhook.wait(waiting).reply.body).toContain(
      `<Response><${say}>Hold &amp; wait.</${say}>${play}${ask}</Response>`,
    );
    const silent = { ...waiting, announcement: undefined };
    expect(webhook.wait(silent).reply.body).toContain(`<Response>${play}${ask}</Response>`);
    const audio = { words: '', audio: 'https://a.example.com/hold.mp3' };
    expect(webhook.wait({ ...waiting, announcement: audio }).reply.body).toContain(
      `<Response><Play>https://a.example.com/hold.mp3</Play>${play}`,
    );
  });

  it('goes to another number, or hears words and is hung up', () => {
    const { body } = webhook.forward(forward).reply;
    expect(body).toMatch(/<Dial callerId="\+?14155550101" timeout="60"/);
    expect(body).toMatch(/<Number[^>]*>\+14155550199<\/Number><\/Dial><Hangup\/>/);
    expect(webhook.dismiss(CALL, 'Bye.').reply.body).toContain(
      `<Response><${say}>Bye.</${say}><Hangup/></Response>`,
    );
    const wrong = () => webhook.forward({ ...forward, to: 'nobody' });
    expect(wrong).toThrow(expect.objectContaining({ code: 'PROVIDER_DESTINATION' }));
  });
});

describe('a caller of Vonage', () => {
  it('waits with words and audio, after which Vonage asks again', () => {
    expect(JSON.parse(vonage.wait(waiting).reply.body)).toEqual([
      { action: 'talk', text: 'Hold & wait.' },
      { action: 'stream', streamUrl: ['https://gw.example.com/w.wav'] },
      {
        action: 'notify',
        payload: { call_uuid: CALL },
        eventUrl: ['https://gw.example.com/wait/7'],
        eventMethod: 'POST',
      },
    ]);
  });

  it('goes to another number', () => {
    expect(JSON.parse(vonage.forward(forward).reply.body)).toEqual([
      {
        action: 'connect',
        from: '14155550101',
        timeout: 60,
        endpoint: [{ type: 'phone', number: '14155550199' }],
        eventUrl: [forward.resultUrl],
        eventMethod: 'POST',
      },
    ]);
  });
});

describe('a caller of Telnyx', () => {
  const { webhook, control } = telnyxProvider.create(deps);
  let server: RestServer;
  beforeAll(async () => {
    server = await startRestServer();
  });
  beforeEach(() => {
    server.asked.length = 0;
    server.answer = { status: 200, body: { data: { result: 'ok' } } };
  });
  afterAll(() => server.close());
  const credentials = () => telnyxRow.configuration(server.url);
  const sent = () =>
    server.asked.map(({ path, body }) => ({
      name: path.split('/').at(-1),
      body: JSON.parse(body) as Record<string, unknown>,
    }));

  it('is answered without a stream, then hears words and audio without an end', async () => {
    await webhook.wait(waiting).command?.(credentials(), signal);
    expect(sent()).toMatchObject([{ name: 'answer', body: { command_id: `wait-${CALL}` } }]);
    expect(sent()[0]?.body).not.toHaveProperty('stream_url');
    server.asked.length = 0;
    await webhook.wait({ ...waiting, isAnswered: true }).command?.(credentials(), signal);
    expect(sent()).toMatchObject([
      { name: 'playback_stop', body: { stop: 'all' } },
      { name: 'speak', body: { payload: 'Hold & wait.' } },
      { name: 'playback_start', body: { audio_url: waiting.waitingAudio, loop: 'infinity' } },
    ]);
    server.asked.length = 0;
    const quiet = { ...waiting, isAnswered: true, announcement: undefined };
    await webhook.wait(quiet).command?.(credentials(), signal);
    expect(sent()).toEqual([]);
  });

  it('hears nothing of the wait any more when its media begin', async () => {
    const answer = webhook.answer({
      runId: '7',
      callId: CALL,
      isAnswered: true,
      isWaiting: true,
      mediaUrl: 'wss://gw.example.com/ws/1',
      statusUrl: waiting.statusUrl,
      answeredByUrl: waiting.statusUrl,
    });
    await answer.command?.(credentials(), signal);
    expect(sent().map(({ name }) => name)).toEqual(['playback_stop', 'streaming_start']);
  });

  it('goes to another number, whose result is reported', async () => {
    await webhook.forward(forward).command?.(credentials(), signal);
    expect(sent()).toMatchObject([
      { name: 'playback_stop' },
      { name: 'transfer', body: { to: '+14155550199', webhook_url: forward.resultUrl } },
    ]);
  });

  it('is transferred with keys that the report of the answer returns', async () => {
    const transferId = `7-c${'2'.repeat(32)}`;
    const resultUrl = `https://gw.example.com/api/v1/telephony/telnyx/transfer-result/${transferId}`;
    const target = { to: '+14155550102', callerId: '+14155550100', ringS: 20, resultUrl };
    await control.transfer(credentials(), CALL, { ...target, digits: 'wwww204#' }, signal);
    const state = sent()[0]?.body['target_leg_client_state'];
    const event = {
      data: {
        record_type: 'event',
        event_type: 'call.answered',
        id: 'e1',
        payload: { call_control_id: 'leg', client_state: state },
      },
    };
    const request = {
      method: 'POST',
      url: resultUrl,
      headers: {},
      rawBody: Buffer.from(''),
      form: {},
      formAll: {},
      json: event,
    };
    expect(webhook.parse(request)).toMatchObject({ kind: 'status', digits: 'wwww204#' });
    expect(webhook.isOfRun?.(request, '7')).toBe(true);
    expect(webhook.isOfRun?.(request, '8')).toBe(false);
  });
});

describe('keys at the destination of a transfer', () => {
  const target = { to: '+14155550102', callerId: '+14155550100', ringS: 20, digits: 'wwww204#' };

  it('are an attribute of the number in XML', () => {
    expect(dialDocument(target)).toContain('<Number sendDigits="wwww204#">+14155550102</Number>');
    const url = transferUrl('https://gw.example.com/transfer/7', { ...target, to: '14155550102' });
    expect(transferReply(url)?.body).toContain(
      '<Number sendDigits="wwww204#">14155550102</Number>',
    );
  });

  it('are dtmfAnswer at Vonage, with its own pauses', () => {
    const [connect] = ncco.dialDocument({ ...target, to: '14155550102' });
    expect(connect?.['endpoint']).toEqual([
      { type: 'phone', number: '14155550102', dtmfAnswer: 'pppp204#' },
    ]);
  });

  it('are refused at Vonage for a SIP address, with the name of the provider', async () => {
    const { control } = vonageProvider.create(deps);
    const sip = { ...target, to: 'sip:desk@pbx.example.com' };
    const refused = await control.transfer({}, CALL, sip, signal).catch((error: unknown) => error);
    expect(codeOf(refused)).toBe('TRANSFER_DIGITS_UNSUPPORTED');
    expect(String(refused)).toContain('vonage');
  });
});
