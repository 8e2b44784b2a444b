import { describe, expect, it } from 'vitest';
import { workflowDefinition } from '../../src/model/workflow.ts';
import { validateDefinition } from '../../src/workflow/graph/validate.ts';
import { Conversation } from '../workflow/conversation.ts';
import { speechSpan } from './caller.ts';
import { callerLines, inbound, outbound } from './scenario.ts';

const scenarios = [inbound, outbound];

describe.each(scenarios)("the demo's $direction call", (scenario) => {
  const definition = workflowDefinition.parse(scenario.definition);

  it.each(['scripted', 'model'] as const)('is held by an agent without faults: %s', (policy) => {
    expect(validateDefinition(definition, { full: true, policy })).toEqual([]);
  });

  it.each(['speech', 'keys'])('comes to what is expected of it, by %s', (by) => {
    const call = new Conversation(definition, 'scripted').start(scenario.initialContext);
    for (const { text, keys, alwaysKeys } of scenario.sayings) {
      call.heard();
      if (by === 'keys' || alwaysKeys) call.keys(keys);
      else call.caller(text, 0.9);
    }
    call.heard();
    expect(call.gathered).toEqual(scenario.expected.gathered);
    const { nodesVisited } = call.engine.summarize(call.state);
    expect(nodesVisited.at(-1)).toBe(scenario.expected.endNode);
  });

  it('is spoken by recordings with a voice in them', () => {
    const spoken = callerLines(scenario, true).filter(({ samples }) => samples.length > 0);
    expect(spoken.length).toBeGreaterThan(1);
    for (const { samples } of spoken) {
      const { fromMs, toMs } = speechSpan(samples);
      expect(toMs - fromMs).toBeGreaterThan(300);
    }
  });
});
