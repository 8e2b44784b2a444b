// Callers who reach an agent that is broken want a person, not an apology and a hang-up.

import { describe, expect, it } from 'vitest';
import { ENGLISH_LINES } from '../../../src/workflow/engine/dialogue-lines.ts';
import { agent, definition, edge, end, start } from '../definitions.ts';
import { shop, TOOLS, ToolConversation } from '../tool-conversation.ts';

const PERSON = '+15550177';
const on = { fault_transfer_enabled: true };
const toPerson = { ...on, fault_transfer_destination: PERSON };

const talking = (settings = {}, context = { name: 'Ana', desk: '+15550100' }, content = shop) =>
  new ToolConversation(content, context, { settings });

/** Twice in a row, with a word of the caller in between. */
function failing(talk: ToolConversation): ToolConversation {
  return talk.fail().heard().caller('hello').fail();
}

/** One turn of the caller whose tool does not work. */
function toolFails(talk: ToolConversation): ToolConversation {
  return talk.calls('', ['save']).noReply('Nobody answered.');
}

const asksForTransfer = (talk: ToolConversation) =>
  talk.all.some(({ type }) => type === 'transfer');

describe('a model that fails twice in a row', () => {
  it('leads to the destination of the agent, announced, and the run says why', () => {
    const talk = failing(talking(toPerson));
    expect(talk.said).toEqual([ENGLISH_LINES.handOver]);
    expect(talk.of('say')[0]).toMatchObject({ kind: 'notice', interruptible: false });
    expect(talk.of('log')[0]?.body).toMatchObject({
      type: 'function.called',
      name: 'transfer_after_faults',
      arguments: { cause: 'model', destination: PERSON },
    });
    expect(asksForTransfer(talk)).toBe(false);
    const { to, toolRunId, announcement } = talk.heard().last('transfer');
    expect({ to, announcement }).toEqual({ to: PERSON, announcement: undefined });
    talk.tell({ type: 'transferred', toolRunId });
    expect(talk.state.endReason).toBe('transfer_call');
    expect(talk.logged.at(-1)).toEqual([
      'transfer_after_faults',
      { status: 'transfer_success', destination: PERSON },
    ]);
  });

  it('leads to an apology and the end without a destination', () => {
    const content = definition(
      [start('talk', { greeting: 'Hello.' }), agent('more'), end('done')],
      [edge('talk', 'more', { label: 'More' }), edge('more', 'done', { label: 'Done' })],
    );
    const context = { name: 'Ana', desk: '' };
    const talk = failing(talking(on, context, content));
    expect(talk.said).toEqual([ENGLISH_LINES.apology]);
    expect(talk.heard().last('end').reason).toBe('pipeline_error');
  });

  it('leads to an apology where the author wants no transfer', () => {
    const settings = { ...toPerson, fault_transfer_enabled: false };
    const talk = failing(talking(settings));
    expect(talk.said).toEqual([ENGLISH_LINES.apology]);
  });

  it('leads to an apology when the person cannot be reached', () => {
    const talk = failing(talking(toPerson)).heard();
    const { toolRunId } = talk.last('transfer');
    talk.tell({ type: 'transfer-failed', toolRunId, reason: 'busy', message: 'It is busy.' });
    expect(talk.said).toEqual([ENGLISH_LINES.apology]);
    expect(talk.heard().last('end').reason).toBe('pipeline_error');
    expect(talk.logged.at(-1)?.[1]).toMatchObject({ status: 'transfer_failed', reason: 'busy' });
  });
});

describe('the destination', () => {
  it('may have variables of the call', () => {
    const settings = { ...on, fault_transfer_destination: '{{desk}}' };
    const talk = failing(talking(settings)).heard();
    expect(talk.last('transfer').to).toBe('+15550100');
  });

  it('is that of a transfer tool if the author names none, with its time to ring', () => {
    const talk = failing(talking(on)).heard();
    expect(talk.last('transfer')).toMatchObject({ to: '+15550100', ringS: 20 });
  });

  it('is that of a tool of another step if the current one has none', () => {
    const { nodes, edges } = shop;
    const content = { nodes: nodes.map(({ ...node }) => node), edges };
    const [first, second] = content.nodes;
    if (first === undefined || second === undefined) throw new Error('two nodes');
    content.nodes[0] = { ...first, data: { ...first.data, tool_uuids: [] } };
    const data = { ...second.data, tool_uuids: TOOLS.map(({ uuid }) => uuid) };
    content.nodes[1] = { ...second, data };
    const context = { name: 'Ana', desk: '+15550100' };
    const talk = failing(talking(on, context, content));
    expect(talk.heard().last('transfer').to).toBe('+15550100');
  });

  it('gets the announcement of a warm transfer', () => {
    const tools = TOOLS.filter(({ name }) => name === 'Colleague');
    const context = { name: 'Ana', desk: '+15550100' };
    const talk = new ToolConversation(shop, context, { tools, settings: on });
    const { announcement } = failing(talk).heard().last('transfer');
    expect(announcement?.text).toContain('Ana');
  });

  it('is none where only a server knows it', () => {
    const tools = TOOLS.filter(({ name }) => name === 'Route');
    const context = { name: 'Ana', desk: '+15550100' };
    const talk = new ToolConversation(shop, context, { tools, settings: on });
    failing(talk);
    expect(talk.said).toEqual([ENGLISH_LINES.apology]);
  });
});

describe('tools that fail', () => {
  it('lead to the person after three rounds in a row', () => {
    const talk = talking(toPerson);
    for (let round = 1; round <= 2; round += 1) {
      toolFails(talk).answer('It does not work.').heard().caller('again please');
      expect(talk.said).toEqual([]);
    }
    toolFails(talk);
    expect(talk.said).toEqual([ENGLISH_LINES.handOver]);
    expect(talk.of('generate')).toEqual([]);
    expect(talk.heard().last('transfer').to).toBe(PERSON);
  });

  it('count an error of the other system, not one of the request, and begin again after a success', () => {
    const talk = talking(toPerson);
    for (const status of [500, 503, 404, 502, 200, 500]) {
      talk.calls('', ['save']).replies(status, {}).answer('Well.').heard().caller('again please');
    }
    expect(asksForTransfer(talk)).toBe(false);
    expect(talk.said).toEqual([]);
  });

  it('go on without a person: the model explains', () => {
    const talk = new ToolConversation(shop, undefined, {
      tools: TOOLS.filter(({ name }) => name === 'Save'),
      settings: on,
    });
    for (let round = 1; round <= 8; round += 1) {
      toolFails(talk).answer('It does not work.').heard().caller('again please');
      expect(talk.state.phase).toBe('talking');
    }
  });
});

describe('faults of any kind', () => {
  it('lead to the person when there were five in a call, also with answers in between', () => {
    const talk = talking(toPerson);
    for (let nth = 1; nth <= 4; nth += 1) {
      talk.fail().heard().caller('hello').answer('Yes?').heard().caller('when do you open');
    }
    expect(talk.fail().said).toEqual([ENGLISH_LINES.handOver]);
  });

  // An agent with a person ended the call where one without went on.
  it('after which the person is not reached: the agent goes on, and tries it again only when it cannot', () => {
    const talk = talking(toPerson);
    for (let nth = 1; nth <= 4; nth += 1) {
      talk.fail().heard().caller('hello').answer('Yes?').heard().caller('when do you open');
    }
    const notReached = () =>
      talk.heard().tell({
        type: 'transfer-failed',
        reason: 'busy',
        message: 'It is busy.',
        toolRunId: talk.last('transfer').toolRunId,
      });
    talk.fail();
    expect(notReached().said).toEqual([ENGLISH_LINES.trouble]);
    expect(talk.state.phase).toBe('talking');
    talk.heard().caller('when do you open').answer('At nine.').heard().caller('thank you');
    expect(talk.fail().said).toEqual([ENGLISH_LINES.trouble]);
    talk.heard().caller('hello?');
    expect(talk.fail().said).toEqual([ENGLISH_LINES.handOver]);
    expect(notReached().said).toEqual([ENGLISH_LINES.apology]);
    expect(talk.heard().last('end').reason).toBe('pipeline_error');
  });

  it('of the recognition, after which the person is not reached, lead to the keys', () => {
    const talk = talking(toPerson).tell({ type: 'keys-only' }).heard();
    const { toolRunId } = talk.last('transfer');
    talk.tell({ type: 'transfer-failed', toolRunId, reason: 'busy', message: 'It is busy.' });
    expect(talk.said).toEqual([ENGLISH_LINES.keysOnly]);
    expect(talk.state.phase).toBe('talking');
  });

  it('of the recognition are over with words of another node’s recogniser', () => {
    const talk = talking(on, { name: 'Ana', desk: '' }).tell({ type: 'keys-only' }).heard();
    expect(talk.tell({ type: 'keys-only' }).said).toEqual([]);
    expect(talk.tell({ type: 'recognition-restored' }).said).toEqual([]);
    expect(talk.tell({ type: 'keys-only' }).said).toEqual([ENGLISH_LINES.keysOnly]);
  });

  it('of the voice lead to the person too, without a word that is heard', () => {
    const talk = talking(toPerson);
    const silent = (utteranceId: number) =>
      talk.tell({ type: 'utterance-finished', utteranceId, heardText: '', interrupted: false });
    silent(talk.answer('Yes.').last('generate').utteranceId);
    silent(talk.last('say').utteranceId);
    expect(talk.said).toEqual([ENGLISH_LINES.handOver]);
    silent(talk.last('say').utteranceId);
    expect(talk.last('transfer').to).toBe(PERSON);
  });

  it('of the recognition, for good, lead from a conversation with a model to the person', () => {
    const talk = talking(toPerson).tell({ type: 'keys-only' });
    expect(talk.said).toEqual([ENGLISH_LINES.handOver]);
    expect(talk.of('abandon')).toHaveLength(1);
    expect(talking(on, { name: 'Ana', desk: '' }).tell({ type: 'keys-only' }).said).toEqual([
      ENGLISH_LINES.keysOnly,
    ]);
  });
});

describe('a hand-over', () => {
  it('is not interrupted by words of the caller, nor by silence', () => {
    const talk = failing(talking(toPerson));
    expect(talk.caller('what').actions).toEqual([]);
    expect(talk.tell({ type: 'idle' }).actions).toEqual([]);
  });

  it('does not wait for ever for its announcement to be heard', () => {
    const talk = failing(talking(toPerson));
    const { waitId } = talk.last('wait');
    expect(talk.tell({ type: 'waited', waitId }).last('transfer').to).toBe(PERSON);
  });

  it('ends with the caller who hangs up during the announcement', () => {
    const talk = failing(talking(toPerson));
    talk.tell({ type: 'ending', reason: 'user_hangup' });
    expect(asksForTransfer(talk)).toBe(false);
    expect(talk.logged.map(([name]) => name)).toContain('transfer_after_faults');
  });

  it('has its line rendered ahead, if there is a person', () => {
    const talk = talking(toPerson);
    expect(talk.engine.waitLines(talk.state).faults).toContain(ENGLISH_LINES.handOver);
    const others = talking({}).engine.waitLines(talk.state).faults;
    expect(others).not.toContain(ENGLISH_LINES.handOver);
  });
});
