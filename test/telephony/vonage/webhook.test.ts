import { createHash, createHmac, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { vonageWebhook } from '../../../src/telephony/vonage/webhook.ts';
import { APPLICATION_ID, SIGNATURE_SECRET, webhookToken } from '../../fakes/vonage/account.ts';
import { bare, jsonPost } from '../provider/provider-request.ts';
import { nccoFaults } from './vonage-schema.ts';

interface Vector {
  name: string;
  secret: string;
  body?: string;
  jwt: string;
  sdk_ok: boolean;
}
const vectors: Vector[] = JSON.parse(
  readFileSync('fixtures/wire/vonage/webhook-tokens.json', 'utf8'),
);
/** On a busy machine. */
const FUZZ_MS_MAX = 120_000;
const URL_OF_EVENTS = 'https://gw.example.com/api/v1/telephony/vonage/events/1';
const UUID = '63f61863-4a51-4f6b-86e1-46edebcf9356';
const credentials = { signature_secret: SIGNATURE_SECRET, application_id: APPLICATION_ID };
const { parse, recognises, accountOf, nonceOf, verify } = vonageWebhook;
const event = (content: object) => parse(jsonPost(URL_OF_EVENTS, JSON.stringify(content)));
const leg = { uuid: UUID, conversation_uuid: 'CON-1', from: '14155550101', to: '14155550100' };

describe('the token of a webhook', () => {
  const [signed] = vectors;
  const bodyOfFirst = signed?.body ?? '';
  const signedAtMs = 1_795_199_438_000;

  it.each(vectors)(
    '$name: as the official SDK says, and by its age',
    ({ name, jwt, secret, sdk_ok }) => {
      const request = jsonPost(URL_OF_EVENTS, bodyOfFirst, { authorization: `Bearer ${jwt}` });
      const account = {
        signature_secret: secret,
        application_id: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      };
      const isOld = name.includes('day old');
      expect(verify(request, account, signedAtMs)).toBe(sdk_ok && !isOld);
      if (isOld) expect(verify(request, account, signedAtMs - 86_400_000)).toBe(true);
    },
  );

  it('covers the body, the age, and the application', async () => {
    const body = JSON.stringify({ ...leg, status: 'answered' });
    const authorization = await webhookToken(body);
    const request = jsonPost(URL_OF_EVENTS, body, { authorization });
    const now = Date.now();
    expect(verify(request, credentials, now)).toBe(true);
    expect(verify(request, credentials, now + 290_000)).toBe(true);
    expect(verify(request, credentials, now + 310_000)).toBe(false);
    expect(verify(request, credentials, now - 310_000)).toBe(false);
    const forged = { ...request, rawBody: Buffer.from(body.replace('answered', 'completed')) };
    expect(verify(forged, credentials, now)).toBe(false);
    expect(verify(request, { ...credentials, application_id: 'other' }, now)).toBe(false);
    expect(verify(request, { ...credentials, signature_secret: null }, now)).toBe(false);
    expect(nonceOf?.(request)).toMatch(/^[\w-]{36}$/);
    expect(accountOf(request)).toBe('a1b2c3d4');
  });

  it('covers the query of a request without a body', async () => {
    const query = 'to=14155550100&from=14155550101&uuid=u-1&conversation_uuid=CON-1';
    const authorization = await webhookToken(query);
    const url = `https://gw.example.com/api/v1/telephony/ncco?${query}`;
    const request = bare(url, { authorization });
    expect(verify(request, credentials, Date.now())).toBe(true);
    const other = bare(url.replace('u-1', 'u-2'), { authorization });
    expect(verify(other, credentials, Date.now())).toBe(false);
  });

  const selfMade = (claims: object) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const iat = Math.floor(Date.now() / 1_000);
    const content = `${part({ alg: 'HS256' })}.${part({ iat, jti: 'j', application_id: APPLICATION_ID, ...claims })}`;
    const signature = createHmac('sha256', SIGNATURE_SECRET).update(content).digest('base64url');
    return { authorization: `Bearer ${content}.${signature}` };
  };
  const hashOf = (text: string) => ({
    payload_hash: createHash('sha256').update(text).digest('hex'),
  });

  it('covers what a request has: one without content, or without a hash, is refused', () => {
    const now = Date.now();
    const empty = { ...bare(URL_OF_EVENTS, selfMade(hashOf(''))), method: 'POST' };
    expect(verify(empty, credentials, now)).toBe(false);
    expect(verify({ ...empty, headers: selfMade({}) }, credentials, now)).toBe(false);
    expect(verify(jsonPost(URL_OF_EVENTS, '{}', selfMade({})), credentials, now)).toBe(false);
    expect(verify(jsonPost(URL_OF_EVENTS, '{}', selfMade(hashOf('{}'))), credentials, now)).toBe(
      true,
    );
  });

  it('covers the query of a GET that has a body too, and no field of the query of a POST is read', () => {
    const body = JSON.stringify(leg);
    const headers = selfMade(hashOf(body));
    const url = `${URL_OF_EVENTS}?uuid=forged&to=14155550199`;
    const get = { ...jsonPost(url, body, headers), method: 'GET' };
    expect(verify(get, credentials, Date.now())).toBe(false);
    const listed = jsonPost(url, '[]', selfMade(hashOf('[]')));
    expect(parse(listed)).toMatchObject({ kind: 'other' });
  });

  it('has no other algorithm', () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const iat = Math.floor(Date.now() / 1_000);
    for (const alg of ['none', 'RS256', 'HS512']) {
      const content = `${part({ alg })}.${part({ iat, jti: 'j' })}`;
      const signature = createHmac('sha256', SIGNATURE_SECRET).update(content).digest('base64url');
      const request = bare('https://gw.example.com/x', {
        authorization: `Bearer ${content}.${signature}`,
      });
      expect(verify(request, credentials, Date.now())).toBe(false);
    }
  });
});

describe('a webhook of Vonage', () => {
  it('without a status is a call that waits for its answer', () => {
    expect(event(leg)).toMatchObject({
      kind: 'inbound-call',
      callId: UUID,
      accountId: null,
      from: '+14155550101',
      to: '+14155550100',
    });
    const { uuid, ...other } = leg;
    const asked = new URLSearchParams({ ...other, uuid });
    expect(parse(bare(`https://gw.example.com/ncco?${asked}`))).toMatchObject({ callId: UUID });
  });

  it('recognised by its ids or its token, in body and query', async () => {
    expect(recognises(jsonPost(URL_OF_EVENTS, JSON.stringify(leg)))).toBe(true);
    expect(recognises(bare('https://x/ncco?uuid=1&conversation_uuid=CON-1'))).toBe(true);
    expect(recognises(jsonPost(URL_OF_EVENTS, '{"uuid":"1"}'))).toBe(false);
    const authorization = await webhookToken('{}');
    expect(recognises(jsonPost(URL_OF_EVENTS, '{}', { authorization }))).toBe(true);
    const others = ['a.b.c', `e30.${Buffer.from('{"iat":1,"jti":"j"}').toString('base64url')}.x`];
    for (const each of others) {
      const request = jsonPost(URL_OF_EVENTS, '{}', { authorization: `Bearer ${each}` });
      expect(recognises(request)).toBe(false);
    }
  });

  it.each([
    ['started', 'initiated'],
    ['ringing', 'ringing'],
    ['answered', 'in-progress'],
    ['completed', 'completed'],
    ['busy', 'busy'],
    ['unanswered', 'no-answer'],
    ['timeout', 'no-answer'],
    ['cancelled', 'canceled'],
    ['rejected', 'failed'],
    ['failed', 'failed'],
  ])('%s is %s', (status, expected) => {
    const event_ = event({ ...leg, status, duration: '12' });
    expect(event_).toMatchObject({ kind: 'status', status: expected, durationS: 12 });
  });

  it('of a callee who declines is busy', () => {
    expect(event({ ...leg, status: 'rejected', detail: 'declined' })).toMatchObject({
      status: 'busy',
    });
  });

  it('about the leg of the media socket does not concern the call', () => {
    for (const status of ['answered', 'completed', 'disconnected']) {
      const socket = { ...leg, to: 'wss://gw.example.com/x', uuid: 'leg-2', status };
      expect(event(socket).kind).toBe('other');
      expect(event({ ...leg, endpoint_type: 'websocket', status }).kind).toBe('other');
    }
  });

  it('of machine detection names the call in a field of its own', () => {
    const verdict = { call_uuid: UUID, status: 'machine', sub_state: 'beep_start' };
    expect(event(verdict)).toMatchObject({
      kind: 'answered-by',
      callId: UUID,
      answeredBy: 'machine_beep_start',
      machine: true,
    });
    expect(event({ ...verdict, status: 'human', sub_state: undefined })).toMatchObject({
      machine: false,
    });
  });

  it('of an error or an unknown kind is acknowledged', () => {
    expect(event({ reason: 'Invalid NCCO', conversation_uuid: 'CON-1' }).kind).toBe('other');
    expect(event({ ...leg, status: 'transferred' }).kind).toBe('other');
  });

  it(
    'is read or refused as malformed, for any input',
    () => {
      const pieces = [
        '"uuid"',
        '"status"',
        '"completed"',
        '"to"',
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '1',
        'null',
        '"wss://x"',
        '"\\u0000"',
      ];
      const fallbacks = [undefined, { uuid: 'a/b' }, { uuid: 'a', status: 'completed' }];
      const outcomes = new Map<string | undefined, number>();
      for (let i = 0; i < 100_000; i++) {
        const count = 1 + randomInt(9);
        const text = Array.from({ length: count }, () => pieces[randomInt(pieces.length)]).join('');
        const json = parsed(i % 2 === 0 ? `{${text}}` : text) ?? fallbacks[i % fallbacks.length];
        let outcome: string | undefined;
        try {
          const method = i % 4 === 0 ? 'GET' : 'POST';
          parse({ ...bare(`https://x/y?${text}`), method, json, rawBody: Buffer.from(text) });
        } catch (error) {
          outcome = codeOf(error) ?? String(error);
        }
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      const read = outcomes.get(undefined) ?? 0;
      expect([...outcomes.keys()].sort()).toEqual(['WEBHOOK_MALFORMED', undefined]);
      expect(read).toBeGreaterThan(1_000);
    },
    FUZZ_MS_MAX,
  );
});

describe('the answer to a call over Vonage', () => {
  const mediaUrl = 'wss://gw.example.com/api/v1/telephony/ws/1/2/3/token';
  const document = (body: string) => JSON.parse(body);

  it('connects it to our media socket at 8 kHz, which gives the id of the call back', () => {
    const { reply } = vonageWebhook.answer({
      runId: '1',
      callId: UUID,
      isAnswered: false,
      mediaUrl,

      statusUrl: URL_OF_EVENTS,
      answeredByUrl: URL_OF_EVENTS,
    });
    const ncco = document(reply.body);
    expect(nccoFaults(ncco)).toEqual([]);
    expect(ncco[0].endpoint[0]).toMatchObject({
      uri: mediaUrl,
      'content-type': 'audio/l16;rate=8000',
      headers: { call_uuid: UUID },
    });
    expect(JSON.stringify(ncco[0].endpoint[0].headers).length).toBeLessThan(512);
  });

  it.each(['busy', 'draining', 'error', 'no-workflow', 'not-configured', 'signature'] as const)(
    'refuses it (%s) with actions of Vonage',
    (reason) => {
      const ncco = document(vonageWebhook.reject(reason, UUID).reply.body);
      expect(nccoFaults(ncco)).toEqual([]);
      expect(ncco.every(({ action }: { action: string }) => action === 'talk')).toBe(true);
    },
  );
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
