// A call's log is enough to hold the conversation again: the engine comes to the same end.

import { expect, it } from 'vitest';
import type { CallEvent } from '../../../src/model/call-event.ts';
import { workflowConfigurations } from '../../../src/model/workflow.ts';
import type { DialogueEvent } from '../../../src/workflow/engine/dialogue-events.ts';
import { createEngine } from '../../../src/workflow/engine.ts';
import { parseGraph } from '../../../src/workflow/graph/graph.ts';
import { drinks, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();

/** The engine's input, as far as the log has it. */
function told({ at, body }: CallEvent): DialogueEvent | undefined {
  switch (body.type) {
    case 'media.started':
      return { at, type: 'started', direction: 'inbound', initialContext: {} };
    case 'user.turn':
      return { at, ...body, type: 'caller-turn' };
    case 'agent.said': {
      const { utteranceId, text: heardText, interrupted } = body;
      return { at, type: 'utterance-finished', utteranceId, heardText, interrupted };
    }
    default:
      return undefined;
  }
}

it('the logged events of a scripted call lead the engine to the same end', async () => {
  const harness = await held.harness.prepare();
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.says(stream, 'lemonade');
  await harness.heardOut(stream);
  stream.key('2');
  await harness.heardOut(stream);
  const done = await harness.ended(run);
  const settings = workflowConfigurations.parse({});
  const engine = createEngine({ graph: parseGraph(drinks), policy: 'scripted', settings });
  let state = engine.initial;
  const logged: string[] = [];
  let end: string | undefined;
  for (const event of await harness.events(run)) {
    const news = told(event);
    if (news === undefined) continue;
    const step = engine.step(state, news);
    state = step.state;
    for (const action of step.actions) {
      if (action.type === 'log') logged.push(action.body.type);
      if (action.type === 'end') end = action.reason;
    }
  }
  expect(end).toBe(done.disposition);
  const { extractedVariables, nodesVisited } = engine.summarize(state);
  expect(extractedVariables).toEqual(done.gatheredContext['extracted_variables']);
  expect(nodesVisited).toEqual(done.gatheredContext['nodes_visited']);
  const written = (await harness.events(run)).map(({ body }) => body.type);
  const own = ['node.entered', 'variables.extracted'];
  expect(logged).toEqual(written.filter((type) => own.includes(type)));
});
