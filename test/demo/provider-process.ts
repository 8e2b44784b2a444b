// The process that plays the provider in the demo, and the people on its telephones. Arguments: the gateway's
// address; `voice`, or `keys` for callers who press; a hosted provider, or `ari` and the address of an Asterisk
// (none: a simulated one).

import { providerName } from '../../src/model/provider.ts';
import { AsteriskPeople } from './asterisk/asterisk-people.ts';
import type { CallerLine } from './caller.ts';
import { HostedPeople } from './hosted-people.ts';
import { machine } from './machine-pace.ts';
import type { PersonReport } from './person.ts';
import { type CallOrder, type ProviderNews, providerOrder } from './provider-link.ts';
import { callerLines, inbound, OWN_NUMBER, outbound } from './scenario.ts';

const [, , gatewayUrl = '', means = 'voice', provider = 'twilio', url = ''] = process.argv;

const people =
  provider === 'ari'
    ? await AsteriskPeople.start(url)
    : await HostedPeople.start(gatewayUrl, providerName.parse(provider));

process.on('message', (message) => {
  const order = providerOrder.parse(message);
  if (order.type === 'pace') {
    machine.note(order.slowness);
    return;
  }
  hold(order).then(
    (report) => tell({ type: 'ended', direction: order.direction, ...report }),
    (error: unknown) => {
      tell({ type: 'failed', direction: order.direction, reason: String(error) });
    },
  );
});
process.once('disconnect', () => process.exit(0));
tell({ type: 'ready', apiUrl: people.url });

async function hold({ direction, app }: CallOrder): Promise<PersonReport> {
  const scenario = direction === 'inbound' ? inbound : outbound;
  const lines = callerLines(scenario, means === 'voice');
  const onLine = ({ text }: CallerLine): void => tell({ type: 'said', text });
  const person = scenario.callerNumber;
  return direction === 'inbound'
    ? await people.ring({ from: person, to: OWN_NUMBER, app, lines, onLine })
    : await people.awaitRing({ to: person, lines, onLine });
}

function tell(news: ProviderNews): void {
  process.send?.(news);
}
