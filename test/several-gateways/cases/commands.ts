// What clients and providers ask of a call at a gateway that does not have it.

import { DtmfDetector } from '../../../src/audio/tones/dtmf-detector.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger, msUntil, pause } from '../ledger.ts';
import { LiveFeed } from '../live-feed.ts';
import { type Begun, Telephones } from '../telephones.ts';

const FEED_MS_MAX = 200;
const PRESSES = 5;
const PRESS_EVERY_MS = 3_000;
const NEVER = Number.POSITIVE_INFINITY;
const SPEAKS = 'rtf-bot-started-speaking';
const SOON_MS = 5_000;
const VERDICT_MS = 10_000;

export const commands: readonly ClusterCase[] = [
  {
    name: 'live-view',
    title: 'a call is seen live at the other gateway within 200 ms',
    needs: ALWAYS,
    run: watch,
  },
  {
    name: 'commands',
    title: 'digits, hang-up and answered-by reach a call at the other gateway',
    needs: ALWAYS,
    run: command,
  },
];

async function watch({ start, atEnd, findings }: Stage): Promise<void> {
  const cluster = await start({ gateways: 2 });
  const telephones = await Telephones.connect(cluster);
  atEnd(() => telephones.close());
  const { call, run } = await telephones.callIn(cluster.gateway(1));
  const path = `/api/v1/workflow/${telephones.workflow.id}/runs/${run.id}/events`;
  const [own, other] = await Promise.all(
    cluster.gateways.map(({ url }) => LiveFeed.open(url + path, cluster.apiKey)),
  );
  if (own === undefined || other === undefined) throw new Error('two gateways are needed');
  const sinceMs = performance.now();
  for (let press = 0; press < PRESSES; press++) {
    await call.pressDigits('1');
    await pause(PRESS_EVERY_MS);
  }
  const [seen, seenElsewhere] = [own.since(sinceMs, SPEAKS), other.since(sinceMs, SPEAKS)];
  const laterMs = seen.map(({ atMs }, index) => (seenElsewhere[index]?.atMs ?? NEVER) - atMs);
  findings.atLeast('live-only items at its own gateway', seen.length, 1);
  findings.exactly('live-only items at the other one', seenElsewhere.length, seen.length);
  findings.atMost('later there, at most (ms)', Math.max(0, ...laterMs), FEED_MS_MAX);
  own.close();
  other.close();
}

async function command({ start, atEnd, findings }: Stage): Promise<void> {
  const cluster = await start({ gateways: 2 });
  const ledger = new Ledger(cluster.database);
  const telephones = await Telephones.connect(cluster);
  atEnd(() => telephones.close());
  const [own, other] = [cluster.gateway(1), cluster.gateway(2)];

  const first = await telephones.callIn(own);
  await pause(SOON_MS); // The greeting is over.
  const sent = await worked(() =>
    other.api(cluster.apiKey).sendDigits(telephones.workflow.id, first.run.id, '12'),
  );
  await pause(SOON_MS);
  findings.works('digits are accepted', sent);
  findings.exactly('digits that the far end hears', digitsIn(first.call.heard), '12');

  const hungUp = await hangUp(`${other.url}/api/v1`, {
    apiKey: cluster.apiKey,
    workflowId: telephones.workflow.id,
    begun: first,
  });
  findings.works('hang-up is accepted', hungUp);
  const closedMs = await ledger.msUntilClosed([first.run.id], SOON_MS);
  findings.atMost('hang-up to the closed run (ms)', closedMs, SOON_MS);
  findings.exactly(
    'told as',
    (await ledger.of([first.run.id]))[0]?.disposition ?? '',
    'system_cancelled',
  );

  const second = await telephones.callOut(own, { answeredBy: 'machine_start', webhooks: other });
  const overMs = await msUntil(() => second.call.isOver, VERDICT_MS);
  await ledger.msUntilClosed([second.run.id], SOON_MS);
  findings.atMost('verdict at the other gateway to the end (ms)', overMs, VERDICT_MS);
  const [told] = await ledger.of([second.run.id]);
  findings.exactly('the gateway that has dialled keeps the call', told?.owner ?? '', own.name);
  findings.exactly(
    'an answering machine is told as',
    told?.disposition ?? '',
    'voicemail_detected',
  );
}

async function worked(work: () => Promise<unknown>): Promise<boolean> {
  return await work().then(
    () => true,
    () => false,
  );
}

async function hangUp(
  url: string,
  { apiKey, workflowId, begun }: { apiKey: string; workflowId: string; begun: Begun },
): Promise<boolean> {
  const path = `/workflow/${workflowId}/runs/${begun.run.id}/hang-up`;
  const answer = await fetch(url + path, { method: 'POST', headers: { 'X-API-Key': apiKey } });
  return answer.ok;
}

function digitsIn(heard: Uint8Array): string {
  const samples = new Int16Array(heard.length);
  pcmu.decode(heard, samples);
  let digits = '';
  const detector = new DtmfDetector((digit) => {
    digits += digit;
  });
  detector.push(samples);
  return digits;
}
