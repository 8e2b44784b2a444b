// Test calls of a watched line over a hosted provider, against its fake over loopback: an echo, no echo, and calls that do
// not connect. In real time.

import { describe, expect, it } from 'vitest';
import type { LineTest } from '../../../src/model/line-watch.ts';
import type { HostedCall } from '../../fakes/hosted/hosted-call.ts';
import { hostedRow } from '../../fakes/hosted/hosted-rows.ts';
import { THEIRS, withExaminations } from './examining-gateway.ts';

const CALL_MS_MAX = 60_000;
const gateway = withExaminations();

type Tested = (answers: (call: HostedCall) => void) => Promise<LineTest>;

async function line(): Promise<Tested> {
  const { path, fake } = await gateway.configure(hostedRow('twilio'));
  const wish = {
    organizationId: gateway.test.owner.organizationId,
    configurationId: path.split('/').at(-1) ?? '',
    phoneNumber: THEIRS,
    fromPhoneNumberId: null,
  };
  const { signal } = new AbortController();
  return (answers) => {
    fake.onOutboundCall(answers);
    return gateway.examinations.testLine(wish, { testsKeys: true, signal });
  };
}

describe('a test call of a line over a hosted provider', () => {
  it(
    'measures the echo of the far end',
    async () => {
      const tested = await line();
      const found = await tested((call) => {
        call.answer();
        call.echo();
      });
      expect(found).toMatchObject({ fault: null, codec: 'PCMU' });
      expect(found.delayMs).toBeLessThan(800);
      expect(found.lossShare).toBeLessThan(0.05);
    },
    CALL_MS_MAX,
  );

  it(
    'names a far end that returns nothing, one that is busy, and one that nobody answers',
    async () => {
      const tested = await line();
      expect(await tested((call) => call.answer())).toMatchObject({ fault: 'no_audio' });
      expect(await tested((call) => call.refuse('busy'))).toMatchObject({ fault: 'busy' });
      expect(await tested((call) => call.refuse('no-answer'))).toMatchObject({
        fault: 'no_answer',
      });
    },
    CALL_MS_MAX,
  );
});
