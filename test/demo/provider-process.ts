// The process that plays the provider in the demo: a simulated Twilio (REST, webhooks, media streams) and
// the people on its telephones. Arguments: the gateway's address; `voice`, or `keys` for callers who press.

import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { holdCall } from './person.ts';
import { ACCOUNT_SID, AUTH_TOKEN, type ProviderNews, providerOrder } from './provider-link.ts';
import { callerLines, inbound, OWN_NUMBER, outbound, type Scenario } from './scenario.ts';

const [, , gatewayUrl = '', means = 'voice'] = process.argv;

const twilio = await startFakeTwilio({
  publicWebhookBase: gatewayUrl,
  accountSid: ACCOUNT_SID,
  authToken: AUTH_TOKEN,
  numbers: [OWN_NUMBER],
});

process.on('message', (message) => {
  const { direction } = providerOrder.parse(message);
  const held = direction === 'inbound' ? ring(twilio) : awaitRing(twilio);
  held.catch((error: unknown) => tell({ type: 'failed', reason: String(error) }));
});
process.once('disconnect', () => process.exit(0));
tell({ type: 'ready', apiUrl: twilio.baseUrl });

async function ring(provider: FakeTwilio): Promise<void> {
  const call = await provider.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
  await hold(call, inbound);
}

async function awaitRing(provider: FakeTwilio): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    provider.onOutboundCall((call) => {
      hold(call, outbound).then(resolve, reject);
      call.answer();
    });
  });
}

async function hold(call: Parameters<typeof holdCall>[0], scenario: Scenario): Promise<void> {
  const lines = callerLines(scenario, means === 'voice');
  const report = await holdCall(call, lines, ({ text }) => tell({ type: 'said', text }));
  await call.callbacksSettled();
  const [fault] = call.faults;
  if (fault !== undefined) {
    tell({ type: 'failed', reason: `protocol fault: ${JSON.stringify(fault.detail)}` });
  } else {
    tell({ type: 'ended', direction: scenario.direction, ...report });
  }
}

function tell(news: ProviderNews): void {
  process.send?.(news);
}
