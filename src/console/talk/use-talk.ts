// The state of a panel's call, from the events of its WebCall. A panel has one call at a time; each start makes another.

import { useEffect, useRef, useState } from 'react';
import { client } from '../api/client.ts';
import { textOf } from '../api/errors.ts';
import {
  CallError,
  type CallEvents,
  type CallLevel,
  type CallNotice,
  WebCall,
  type WebCallState,
} from '../audio/web-call.ts';
import { faultText } from './talk-texts.ts';

export interface TalkLine {
  who: 'caller' | 'agent';
  text: string;
  /** Words of somebody who still speaks: the next ones replace them. */
  isInterim: boolean;
}

export interface Talk {
  state: WebCallState;
  isMuted: boolean;
  runId: string | undefined;
  lines: readonly TalkLine[];
  /** Why the call could not begin. */
  fault: string | undefined;
  notice: CallNotice | undefined;
  /** Reason of the end. */
  end: string | undefined;
}

interface TalkOptions {
  workflowId: string;
  isDraft: boolean;
  hasHeadphones: boolean;
}

const NONE: Talk = {
  state: 'idle',
  isMuted: false,
  runId: undefined,
  lines: [],
  fault: undefined,
  notice: undefined,
  end: undefined,
};
/** Lines that are kept: those of a long call. */
const LINES_MAX = 500;

export function useTalk(options: TalkOptions) {
  const [talk, setTalk] = useState(NONE);
  const call = useRef<WebCall>(undefined);
  /** Called ten times a second during a call, without a rendering. */
  const onLevel = useRef<(level: CallLevel) => void>(undefined);
  useEffect(() => () => call.current?.hangUp(), []);

  const start = (): void => {
    call.current?.hangUp();
    const current = new WebCall({
      access: (signal) => accessTo(options, signal),
      workletUrl: WORKLETS.line ?? '',
      echoCancellation: !options.hasHeadphones,
    });
    call.current = current;
    const change = (changes: (talk: Talk) => Partial<Talk>): void => {
      if (call.current === current) setTalk((before) => ({ ...before, ...changes(before) }));
    };
    setTalk({ ...NONE, state: 'opening' });
    current.on('state', (state) =>
      change(({ runId }) => ({ state, runId: current.runId ?? runId })),
    );
    current.on('level', (level) => onLevel.current?.(level));
    current.on('notice', (notice) => change(() => ({ notice })));
    current.on('item', (item) => change(({ lines }) => ({ lines: withItem(lines, item) })));
    current.on('ended', ({ reason }) =>
      change(({ fault }) => ({ state: 'ended', end: fault === undefined ? reason : undefined })),
    );
    current.start().catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') return; // Hung up meanwhile.
      change(() => ({ fault: faultOf(error), end: undefined, state: 'ended' }));
    });
  };

  return {
    talk,
    onLevel,
    start,
    hangUp: () => call.current?.hangUp(),
    mute: (on: boolean) => {
      call.current?.mute(on);
      setTalk((before) => ({ ...before, isMuted: on }));
    },
    sendKey: (digit: string) => call.current?.sendKey(digit),
    interrupt: () => call.current?.interrupt(),
    resume: () => {
      call.current?.resume().then(
        () => setTalk((before) => ({ ...before, notice: undefined })),
        () => undefined, // The notice stays.
      );
    },
  };
}

async function accessTo({ workflowId, isDraft }: TalkOptions, signal: AbortSignal) {
  const { data } = await client.POST('/api/v1/web-calls', {
    body: { workflow_id: workflowId, draft: isDraft, items: 'transcript' },
    signal,
  });
  if (data === undefined) throw new Error('The gateway gave no call.');
  return { ...data, media_url: onThisHost(data.media_url) };
}

/** The address by the host that this page came from, whatever the gateway calls itself: the page's policy allows no other. */
function onThisHost(mediaUrl: string): string {
  const { pathname } = new URL(mediaUrl);
  return new URL(pathname, location.href).href.replace(/^http/, 'ws');
}

function faultOf(error: unknown): string {
  return (error instanceof CallError ? faultText(error.code) : undefined) ?? textOf(error);
}

/** The lines after an item of the call; items that are no words change nothing. */
export function withItem(lines: readonly TalkLine[], item: CallEvents['item']): TalkLine[] {
  const { text, final } = (item.payload ?? {}) as { text?: unknown; final?: unknown };
  const who = WHO[item.type];
  if (who === undefined || typeof text !== 'string' || text.trim() === '') return [...lines];
  const line = { who, text, isInterim: final === false };
  const known = lines.filter((each) => !(each.isInterim && each.who === who));
  return [...known, line].slice(-LINES_MAX);
}

const WHO: Readonly<Record<string, TalkLine['who']>> = {
  'rtf-user-transcription': 'caller',
  'rtf-bot-text': 'agent',
};
