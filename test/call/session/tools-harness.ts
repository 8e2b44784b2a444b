// The call layer with an agent that may use tools.

import { definition, edge, end, start } from '../../workflow/definitions.ts';
import type { CallHarness } from '../call-harness.ts';

export interface ToolSpec {
  name: string;
  definition: { type: string; config?: Record<string, unknown> };
}

/** Its agent greets, and may use the tools. */
export function withTools(harness: CallHarness, ...specs: ToolSpec[]): Promise<CallHarness> {
  return withToolsAnd(harness, {}, ...specs);
}

/** With settings of the agent. */
export async function withToolsAnd(
  harness: CallHarness,
  settings: Record<string, unknown>,
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
  const first = start('talk', { name: 'Talk', greeting: 'Hello.', tool_uuids: uuids });
  return harness.prepare(
    definition([first, end('bye')], [edge('talk', 'bye', { label: 'Finish' })]),
    settings,
  );
}
