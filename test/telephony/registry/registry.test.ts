import { describe, expect, it } from 'vitest';
import { providerName } from '../../../src/model/provider.ts';
import { systemRandom } from '../../../src/std/random.ts';
import {
  createProviders,
  definitions,
  directProviders,
} from '../../../src/telephony/registry/registry.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { formPost } from '../provider/provider-request.ts';

const providers = createProviders({ clock: new FakeClock(), random: systemRandom });

describe('the registry of providers', () => {
  it('finds what is built by its name, and nothing else', () => {
    const built = providerName.options.filter((name) => providers.byName(name) !== undefined);
    expect(built).toContain('twilio');
    for (const name of built) expect(providers.byName(name)?.name).toBe(name);
  });

  it('holds calls over Twilio, with a short lead and marks that come back after a clear', () => {
    const twilio = providers.hosted.find(({ name }) => name === 'twilio');
    expect(twilio?.capabilities.transferAwaits).toBe('acceptance');
    expect(twilio?.createMedia().traits).toEqual({
      marks: true,
      lead: { aimMs: 60, maxMs: 160, stallMsMax: 160, stepMs: 80 },
    });
  });

  // Contract §7.1: existing applications of the carriers name these addresses.
  it('has every route of carriers that the reference platform has', () => {
    const routes = providers.hosted.flatMap(({ name, webhook }) => {
      const { status, answeredBy, others, account, ofWorkflow = [], ...more } = webhook.routes;
      return [
        ...[status, answeredBy, ...others].map((event) => `${name}/${event}/{run}`),
        ...account.map((event) => `${name}/${event}`),
        ...ofWorkflow.map((event) => `${name}/${event}/workflow/{workflow}`),
        `${more.transferResult}/{transfer}`,
        ...(more.namedAnswer === null ? [] : [more.namedAnswer.name]),
      ];
    });
    expect(routes).toEqual(
      expect.arrayContaining([
        ...['twiml', 'twilio/status-callback/{run}', 'transfer-result/{transfer}'],
        ...['telnyx/events/{run}', 'telnyx/transfer-result/{transfer}'],
        ...['plivo-xml', 'plivo/hangup-callback/{run}', 'plivo/ring-callback/{run}'],
        'plivo/transfer-result/{transfer}',
        ...['vobiz-xml', 'vobiz/hangup-callback/{run}', 'vobiz/ring-callback/{run}'],
        'vobiz/hangup-callback/workflow/{workflow}',
        ...['cloudonix/status-callback/{run}', 'cloudonix/cdr'],
        'cloudonix/transfer-result/{transfer}',
        ...['ncco', 'vonage/events/{run}', 'vonage/events'],
      ]),
    );
  });

  it.each([
    ['vobiz', { 'x-vobiz-signature-v3': 'c2lnbmVk' }, 'CallUUID=97ceeb52'],
    ['cloudonix', { 'x-cx-apikey': 'key' }, 'CallSid=CA1&AccountSid=AC1&ApiVersion=2010-04-01'],
  ])('tells a webhook of %s by its own headers from the provider whose fields it has', (...row) => {
    const [name, headers, form] = row;
    const request = formPost('https://gw.example.com/api/v1/telephony/inbound/run', form, headers);
    const recognising = providers.hosted.filter(({ webhook }) => webhook.recognises(request));
    expect(recognising.map((each) => each.name)).toEqual([name]);
  });

  it('has every provider once, in the order of the names', () => {
    const all = [...definitions, ...directProviders];
    expect(all.map(({ name }) => name)).toEqual(providerName.options);
  });
});
