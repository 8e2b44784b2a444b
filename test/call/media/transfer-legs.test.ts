// Destinations of warm transfers count in no limit of calls: what bounds them instead.

import { expect, it } from 'vitest';
import { TransferDestinations } from '../../../src/call/media/transfer-legs.ts';
import { CallActions } from '../../../src/call/start/call-actions.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { FakePbx } from '../../fakes/call/fake-pbx.ts';
import { mediaTokens } from '../../fakes/media-tokens.ts';
import { PUBLIC_URL, withCallHarness } from '../call-harness.ts';

const at = withCallHarness();

it('a call dials one destination at a time', async () => {
  const harness = await at.harness.prepare();
  const { clock } = harness;
  const { log } = harness.deps;
  const destinations = new TransferDestinations({
    results: { follow: () => () => undefined, noteDialled: () => Promise.resolve() },
    actions: new CallActions({ clock, log }),
    tokens: mediaTokens({ clock }),
    random: systemRandom,
    publicUrl: PUBLIC_URL,
    clock,
    log,
  });
  const { organizationId } = harness.at.owner;
  const configuration = await harness.at.store.telephony.getConfiguration(
    organizationId,
    harness.configuration.id,
  );
  if (configuration === undefined) throw new Error('no configuration');
  await harness.ring('CallSid=CA1');
  await harness.ring('CallSid=CA2');
  const provider = new FakePbx(clock, () => {
    throw new Error('nobody calls');
  });
  const listener = { onProgress: () => undefined, onMedia: () => undefined };
  const [run, other] = await harness.runs();
  if (run === undefined || other === undefined) throw new Error('no runs');
  const plan = { run, configuration, provider };
  const first = destinations.open(plan, listener);
  expect(() => destinations.open(plan, listener)).toThrow(
    expect.objectContaining({ code: 'TRANSFER_FAILED' }),
  );
  destinations.open({ ...plan, run: other }, listener);
  first.close();
  expect(destinations.open(plan, listener).id).not.toBe(first.id);
});
