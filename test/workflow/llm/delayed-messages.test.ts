// Messages of tools that are said only if the tool takes long. Source: contract §8.7.

import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/model/tool.ts';
import { agent, definition, end, start } from '../definitions.ts';
import { ToolConversation } from '../tool-conversation.ts';
import { storedTool } from '../tools/stored-tool.ts';

const url = 'https://shop.example/orders';
const tools: Tool[] = [
  storedTool('slow', 'Slow', {
    type: 'http_api',
    config: {
      method: 'GET',
      url,
      customMessage: 'I look, {{name}}.',
      customMessageDelayMs: 1_500,
    },
  }),
  storedTool('save', 'Save', { type: 'http_api', config: { method: 'POST', url } }),
  storedTool('route', 'Route', {
    type: 'transfer_call',
    config: {
      destination_source: 'dynamic',
      resolver: { url, wait_message: 'I look who is there.', wait_message_delay_ms: 1_000 },
    },
  }),
];
const content = definition(
  [
    start('talk', { greeting: 'Hello.', tool_uuids: tools.map(({ uuid }) => uuid) }),
    agent('more'),
    end('done'),
  ],
  [],
);

function talkOf(): ToolConversation {
  return new ToolConversation(content, undefined, { tools });
}

function over(talk: ToolConversation, { isCallerSpeaking = false } = {}): ToolConversation {
  const { waitId } = talk.last('wait');
  return talk.tell({ type: 'waited', waitId, ...(isCallerSpeaking && { isCallerSpeaking }) });
}

describe('the delayed message of a tool', () => {
  it('is said once, after its delay, while the tool still runs', () => {
    const talk = talkOf().calls('', ['slow']).heard();
    expect(talk.all.filter(({ type }) => type === 'say')).toHaveLength(1);
    expect(talk.last('wait').delayMs).toBe(1_500);
    over(talk);
    expect(talk.said).toEqual(['I look, Ana.']);
    expect(talk.of('say')[0]).toMatchObject({ kind: 'notice', interruptible: false });
    over(talk.heard());
    expect(talk.said).toEqual([]);
    talk.replies(200, { total: 3 });
    expect(JSON.stringify(talk.last('generate').messages)).not.toContain('I look');
  });

  it('is not said when the answer came before', () => {
    const talk = talkOf().calls('', ['slow']).heard().replies(200, {});
    over(talk);
    expect(talk.actions).toEqual([]);
  });

  it('waits for silence: the delay begins anew after words of the agent and of the caller', () => {
    const talk = talkOf().calls('I look that up for you.', ['slow']);
    over(talk);
    expect(talk.said).toEqual([]);
    talk.heard();
    expect(talk.last('wait').delayMs).toBe(1_500);
    over(talk, { isCallerSpeaking: true });
    expect(talk.said).toEqual([]);
    over(talk);
    expect(talk.said).toEqual(['I look, Ana.']);
  });

  it('is the first line of the wait: the engine goes on with its next one', () => {
    const talk = talkOf().calls('', ['slow']).heard();
    over(talk).heard().tell({ type: 'waiting' });
    expect(talk.said).toEqual(["Thank you for waiting. I'm still working on it."]);
  });

  it('of another tool of the answer is not said for one that is over', () => {
    const talk = talkOf().calls('', ['slow'], ['save']).heard();
    const [slow] = talk.all.filter(({ type }) => type === 'call-out');
    if (slow?.type !== 'call-out') throw new Error('no request');
    talk.replies(200, {}, slow);
    over(talk);
    expect(talk.said).toEqual([]);
  });

  it('of a transfer is said while the server is asked for the destination', () => {
    const talk = talkOf().calls('', ['route']).heard();
    expect(talk.last('wait').delayMs).toBe(1_000);
    over(talk);
    expect(talk.said).toEqual(['I look who is there.']);
    talk.heard().replies(200, { transfer_context: { destination: '+15550100' } });
    expect(talk.last('transfer').to).toBe('+15550100');
  });

  it('is not said after the resolver has answered', () => {
    const talk = talkOf().calls('', ['route']).heard();
    const { waitId } = talk.last('wait');
    talk.replies(200, { transfer_context: { destination: '+15550100' } });
    talk.tell({ type: 'waited', waitId });
    expect(talk.said).toEqual([]);
  });
});
