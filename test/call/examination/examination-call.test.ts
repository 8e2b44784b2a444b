// A call of the doctor over every hosted provider, against its fake over loopback: what it finds, and what of it is in the
// capture. Calls of three or four seconds in real time.

import { describe, expect, it } from 'vitest';
import { PUBLIC_URL } from '../../api/served.ts';
import { hostedRows } from '../../fakes/hosted/hosted-rows.ts';
import { eventNameOf, linesOf, replay } from '../../telephony/captures/replay.ts';
import { answersWith, OURS, THEIRS, withExaminations } from './examining-gateway.ts';

const CALL_MS_MAX = 60_000;
const gateway = withExaminations();

interface Report {
  id: string;
  state: string;
  ok: boolean;
  steps: { key: string; verdict: string; message: string; advice: string | null; at_ms: number }[];
}

async function examined(path: string): Promise<Report & { capture: string }> {
  const { id } = await gateway.ok('POST', `${path}/examination-calls`, { phone_number: THEIRS });
  const one = `${path}/examination-calls/${id}`;
  const report = await expect
    .poll(async () => gateway.ok('GET', one), { timeout: CALL_MS_MAX, interval: 100 })
    .toMatchObject({ state: 'ended' })
    .then(() => gateway.ok('GET', one));
  const capture = await gateway.call('GET', `/api/v1${one}/capture`);
  expect(capture.status).toBe(200);
  return { ...report, capture: capture.text };
}

const verdicts = ({ steps }: Report) => Object.fromEntries(steps.map((s) => [s.key, s.verdict]));

/** Every text of the configuration as it could be written. */
function formsOf(secret: string): string[] {
  const lines = secret.split('\n').filter((each) => each.length > 20);
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    base64,
    JSON.stringify(secret).slice(1, -1),
    ...lines,
  ];
}

describe.each(hostedRows)('a call over $name', (row) => {
  let report: Awaited<ReturnType<typeof examined>>;
  let secrets: string[];
  let base: string;

  it(
    'is followed from the dial to its final status',
    async () => {
      const { fake, path, ...configured } = await gateway.configure(row);
      fake.onOutboundCall(answersWith('1'));
      secrets = [...configured.secrets, fake.baseUrl];
      base = gateway.base();
      report = await examined(path);
      const faults = report.steps.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skip');
      expect(faults).toEqual([]);
      expect(verdicts(report)).toMatchObject({
        dial: 'pass',
        webhooks: 'pass',
        answered: 'pass',
        media: 'pass',
        audio_in: 'pass',

        mark: 'pass',
        clear: 'pass',
        keys_in: 'pass',
        keys_out: 'pass',
        hang_up: 'pass',
        final_status: 'pass',
      });
      expect(report.ok).toBe(true);
      const [call] = fake.calls;
      expect(call?.faults).toEqual([]);
      expect(call?.status).toBe('completed');
    },
    CALL_MS_MAX,
  );

  it('leaves a capture without a secret, a number or a host of the configuration', () => {
    const { capture } = report;
    expect(secrets.length).toBeGreaterThan(2);
    for (const secret of secrets.flatMap(formsOf)) expect(capture).not.toContain(secret);
    const digits = capture.replace(/[^\d+]/g, ' ');
    for (const number of [OURS, THEIRS]) {
      for (const skipped of [1, 2, 3]) expect(digits).not.toContain(number.slice(skipped));
    }
    for (const host of [PUBLIC_URL, base]) {
      expect(capture).not.toContain(new URL(host).host);
      expect(capture).not.toContain(encodeURIComponent(host));
    }
    expect(capture).not.toMatch(/[\w.]+@(?!redacted\.invalid)[\w-]+\.\w/);
    expect(capture).not.toMatch(/"kind":"(omitted|full)"/);
    expect(Buffer.byteLength(capture)).toBeLessThan(200_000);
  });

  it('leaves a capture that the parsers of the provider read again', async () => {
    const lines = linesOf(report.capture);
    expect(lines[0]).toMatchObject({ kind: 'capture', provider: row.name });
    const { webhooks, media, callId, audioFrames } = await replay(lines, row);
    const recorded = webhooks.map((each) => each.recorded);
    expect(webhooks.map(({ event }) => eventNameOf(event))).toEqual(recorded);
    expect(recorded).toContain('status completed');
    expect(media[0]?.type).toBe('started');
    const marks = media.flatMap((event) => (event.type === 'mark' ? [event.name] : []));
    expect(marks).toEqual(expect.arrayContaining(['examination-1', 'examination-2']));
    expect(audioFrames).toBeGreaterThan(0);
    // The same placeholder in the answer of REST and in webhooks.
    expect(callId).not.toBe('');
    expect(webhooks.flatMap(({ event }) => ('callId' in event ? [event.callId] : []))).toContain(
      callId,
    );
  });
});
