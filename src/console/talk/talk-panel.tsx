// Talks to an agent from the page: the panel of a call from the browser.

import '../style/talk.css';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { CallLevel } from '../audio/web-call.ts';
import { KEYPAD } from '../call/call-control.ts';
import { callHref } from '../links.ts';
import { CheckField } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { Badge, Notice, type Tone } from '../parts/notice.tsx';
import { endText, noticeText, STATES } from './talk-texts.ts';
import { type Talk, type TalkLine, useTalk } from './use-talk.ts';

interface TalkPanelProps {
  workflowId: string;
  /** Whether the agent's draft answers, if there is one. Default: false, what is published. */
  draft?: boolean;
}

export function TalkPanel({ workflowId, draft = false }: TalkPanelProps) {
  const [hasHeadphones, setHeadphones] = useState(false);
  const call = useTalk({ workflowId, isDraft: draft, hasHeadphones });
  const { talk } = call;
  const isActive = talk.state !== 'idle' && talk.state !== 'ended';
  return (
    <section className="talk" aria-label="Talk to the agent">
      <div className="talk-bar">
        {isActive ? (
          <Controls call={call} />
        ) : (
          <button type="button" className="primary" onClick={call.start}>
            <Icon name="microphone" />
            {talk.state === 'idle' ? 'Talk' : 'Talk again'}
          </button>
        )}
        <span role="status">
          <Badge tone={toneOf(talk)}>{STATES[talk.state]}</Badge>
        </span>
      </div>
      <Messages call={call} workflowId={workflowId} />
      {isActive && <Meters onLevel={call.onLevel} isMuted={talk.isMuted} />}
      {!isActive && (
        <CheckField
          label="I use headphones (the browser does not have to remove the agent's voice)"
          checked={hasHeadphones}
          onChange={({ target }) => setHeadphones(target.checked)}
        />
      )}
      <Transcript lines={talk.lines} isActive={isActive} />
    </section>
  );
}

type Call = ReturnType<typeof useTalk>;

function toneOf({ state, fault }: Talk): Tone {
  if (fault !== undefined) return 'bad';
  if (state === 'talking') return 'good';
  return state === 'reconnecting' ? 'warn' : 'plain';
}

function Controls({ call }: { call: Call }) {
  const { talk } = call;
  const [hasKeys, setKeys] = useState(false);
  const canSpeak = talk.state === 'talking';
  return (
    <>
      <button type="button" className="danger" onClick={call.hangUp}>
        <Icon name="hangUp" />
        Hang up
      </button>
      <button type="button" aria-pressed={talk.isMuted} onClick={() => call.mute(!talk.isMuted)}>
        <Icon name={talk.isMuted ? 'muted' : 'microphone'} />
        {talk.isMuted ? 'Muted' : 'Mute'}
      </button>
      <button
        type="button"
        aria-expanded={hasKeys}
        disabled={!canSpeak}
        onClick={() => setKeys(!hasKeys)}
      >
        <Icon name="keys" />
        Keys
      </button>
      {talk.notice === 'use-headphones' && (
        <button type="button" onClick={call.interrupt}>
          Interrupt
        </button>
      )}
      {talk.notice === 'audio-interrupted' && (
        <button type="button" onClick={call.resume}>
          <Icon name="play" />
          Play again
        </button>
      )}
      {hasKeys && canSpeak && (
        <fieldset className="talk-keys">
          <legend className="hidden">Keys</legend>
          {KEYPAD.map((digit) => (
            <button key={digit} type="button" onClick={() => call.sendKey(digit)}>
              {digit}
            </button>
          ))}
        </fieldset>
      )}
    </>
  );
}

const NO_NOTICE = ['info', undefined] as const;

function Messages({ call: { talk }, workflowId }: { call: Call; workflowId: string }) {
  const [tone, text] = talk.notice === undefined ? NO_NOTICE : noticeText(talk.notice);
  const isOver = talk.state === 'ended';
  return (
    <>
      {talk.fault !== undefined && <Notice tone="bad">{talk.fault}</Notice>}
      {text !== undefined && !isOver && <Notice tone={tone}>{text}</Notice>}
      {isOver && talk.end !== undefined && (
        <Notice tone="info">
          {endText(talk.end)}{' '}
          {talk.runId !== undefined && (
            <Link href={callHref(workflowId, talk.runId)}>Open the call</Link>
          )}
        </Notice>
      )}
    </>
  );
}

/** Both sides' loudness, ten times a second without a rendering. */
function Meters({ onLevel, isMuted }: { onLevel: Call['onLevel']; isMuted: boolean }) {
  const microphone = useRef<HTMLMeterElement>(null);
  const agent = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    onLevel.current = (level: CallLevel) => {
      show(microphone, isMuted ? 0 : level.microphone);
      show(agent, level.agent);
    };
    return () => {
      onLevel.current = undefined;
    };
  }, [onLevel, isMuted]);
  return (
    <div className="talk-meters">
      <label>
        <span>You</span>
        <meter ref={microphone} min={0} max={1} />
      </label>
      <label>
        <span>Agent</span>
        <meter ref={agent} min={0} max={1} />
      </label>
    </div>
  );
}

/** Decibels that the meter spans. */
const METER_DB = 60;

function show(meter: RefObject<HTMLMeterElement | null>, rms: number): void {
  if (meter.current === null) return;
  const db = 20 * Math.log10(Math.max(rms, 1e-6));
  meter.current.value = Math.min(1, Math.max(0, 1 + db / METER_DB));
}

function Transcript({ lines, isActive }: { lines: readonly TalkLine[]; isActive: boolean }) {
  const list = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each line moves the list to its end
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [lines]);
  if (lines.length === 0) {
    return isActive ? <p className="empty">What is said appears here.</p> : null;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className="talk-lines" aria-label="Transcript" tabIndex={0}>
      <ol ref={list} aria-live="polite">
        {lines.map(({ who, text, isInterim }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name, and none is moved
          <li key={at} data-who={who} data-interim={isInterim}>
            <b>{who === 'agent' ? 'Agent' : 'You'}</b> {text}
          </li>
        ))}
      </ol>
    </section>
  );
}
