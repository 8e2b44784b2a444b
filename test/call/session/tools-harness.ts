// The call layer with an agent that may use tools.

import { definition, edge, end, start } from '../../workflow/definitions.ts';
import type { CallHarness } from '../call-harness.ts';

export interface ToolSpec {
  name: string;
  definition: { type: string; config?: Record<string, unknown> };
}

/** Transfers the caller to another number; `warm` as in the tool's settings. */
export function frontDesk(warm: object | null): ToolSpec {
  return {
    name: 'Front desk',
    definition: {
      type: 'transfer_call',
      config: {
        destination: '+14155550199',
        timeout: 20,
        parameters: [{ name: 'topic', type: 'string', description: 'What about' }],
        warm,
      },
    },
  };
}

/** Its agent greets, and may use the tools. */
export function withTools(harness: CallHarness, ...specs: ToolSpec[]): Promise<CallHarness> {
  return withToolsAnd(harness, {}, ...specs);
}

/** With settings of the agent. */
export function withToolsAnd(
  harness: CallHarness,
  settings: Record<string, unknown>,
  ...specs: ToolSpec[]
): Promise<CallHarness> {
  return withToolsOf(harness, { settings, data: {} }, ...specs);
}

/** With settings of the agent, and fields of its first step. */
export async function withToolsOf(
  harness: CallHarness,
  { settings, data }: { settings: Record<string, unknown>; data: Record<string, unknown> },
  ...specs: ToolSpec[]
): Promise<CallHarness> {
  const { store, owner } = harness.at;
  const uuids: string[] = [];
  for (const { name, definition: content } of specs) {
    const { uuid } = await store.tools.create(owner, {
      name,
      description: `Use it to ${name}.`,
      category: content.type,
      icon: null,
      iconColor: null,
      definition: content,
    });
    uuids.push(uuid);
  }
  const first = start('talk', { name: 'Talk', greeting: 'Hello.', tool_uuids: uuids, ...data });
  return harness.prepare(
    definition([first, end('bye')], [edge('talk', 'bye', { label: 'Finish' })]),
    settings,
  );
}
