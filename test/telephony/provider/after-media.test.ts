// What becomes of a call whose media end although it goes on. Each document was compared with the provider's
// documentation; no real call was made.

import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { cloudonixWebhook } from '../../../src/telephony/cloudonix/webhook.ts';
import { plivoWebhook } from '../../../src/telephony/plivo/webhook.ts';
import { createProviders } from '../../../src/telephony/registry/registry.ts';
import { twilioWebhook } from '../../../src/telephony/twilio/webhook.ts';
import { vobizWebhook } from '../../../src/telephony/vobiz/webhook.ts';
import { vonageWebhook } from '../../../src/telephony/vonage/webhook.ts';
import { readDocument } from '../../fakes/plivo/markup.ts';
import { readTwiml } from '../../fakes/twilio/markup.ts';

const resumeUrl = 'https://gw.example.com/api/v1/telephony/x/resume/7';
const request = {
  runId: '7',
  callId: 'c-1',
  isAnswered: true,
  mediaUrl: 'wss://gw.example.com/ws/1/2/7/t',
  statusUrl: 'https://gw.example.com/s',
  answeredByUrl: 'https://gw.example.com/a',
};

describe('a document that connects a call', () => {
  it.each([
    ['twilio', twilioWebhook, readTwiml],
    ['cloudonix', cloudonixWebhook, readTwiml],
    ['plivo', plivoWebhook, readDocument],
    ['vobiz', vobizWebhook, readDocument],
  ] as const)('asks for the next one when the media have ended: %s', (_, webhook, read) => {
    const [stream, ...after] = read(webhook.answer({ ...request, resumeUrl }).reply.body);
    expect(stream).toMatchObject({ verb: 'Stream', url: request.mediaUrl });
    expect(after).toEqual([{ verb: 'Redirect', url: resumeUrl }]);
    expect(read(webhook.endAfterMedia?.().body ?? '')).toMatchObject([{ verb: 'Hangup' }]);
  });

  it('asks for the next one when the media have ended: vonage', () => {
    const document = JSON.parse(vonageWebhook.answer({ ...request, resumeUrl }).reply.body);
    expect(document).toMatchObject([
      { action: 'connect' },
      { action: 'notify', eventUrl: [resumeUrl], eventMethod: 'POST' },
    ]);
    expect(vonageWebhook.endAfterMedia?.().body).toBe('[]');
  });
});

describe('media that are connected again', () => {
  it.each([twilioWebhook, cloudonixWebhook, plivoWebhook, vobizWebhook, vonageWebhook])(
    'end the call with them where no URL is given (%#)',
    (webhook) => {
      const { body } = webhook.answer(request).reply;
      expect(body).not.toMatch(/Redirect|notify/);
    },
  );
});

describe('a hosted provider', () => {
  const { hosted } = createProviders({ clock: systemClock, random: systemRandom });

  it.each(hosted.map((each) => [each.name, each] as const))(
    'has a document that ends the call if it asks after the media: %s',
    (_, { capabilities, webhook }) => {
      const asks = capabilities.afterMedia === 'asks';
      expect(webhook.endAfterMedia !== undefined).toBe(asks);
    },
  );
});
