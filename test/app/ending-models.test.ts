import { expect, it } from 'vitest';
import { logEndingModels } from '../../src/app/startup-checks.ts';
import { withCallHarness } from '../call/call-harness.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const held = withCallHarness();

it('the start names the models of stored configurations that their services end', async () => {
  const { store, owner } = (await held.harness.prepare()).at;
  const { organizationId, userId } = owner;
  const fallbacks = [{ provider: 'google', api_key: 'k', model: 'gemini-2.5-flash' }];
  const llm = { provider: 'openai', api_key: 'k', model: 'gpt-5.4-mini', fallbacks };
  const pipeline = { llm, tts: { provider: 'flite' } };
  await store.modelConfigurations.save(
    { organizationId, userId: null },
    { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } },
  );
  const older = { llm: { provider: 'groq', api_key: 'k', model: 'llama-3.3-70b-versatile' } };
  await store.modelConfigurations.save({ organizationId, userId }, older);
  const { log, lines } = quietLog();
  await logEndingModels(store, { clock: held.harness.clock, log });
  expect(lines()).toMatchObject([
    { organizationId, service: 'google', model: 'gemini-2.5-flash', endsOn: '2026-12-01' },
    { organizationId, service: 'groq', successor: 'openai/gpt-oss-120b' },
  ]);
  expect(JSON.stringify(lines())).not.toContain('"k"');
});

it('the start goes on if configurations cannot be read', async () => {
  const { log, lines } = quietLog();
  // biome-ignore lint/correctness/useYield: fails at the first read.
  const broken = async function* (): AsyncGenerator<never> {
    throw new Error('no key');
  };
  await logEndingModels({ storedModelConfigurations: broken }, { clock: held.harness.clock, log });
  expect(lines()).toMatchObject([{ msg: 'ends of configured models not checked' }]);
});
