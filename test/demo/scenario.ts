// The demo's two calls: which agent, who calls whom, what the caller says (or presses, where no
// recogniser is there), and what must have come of it.

import { readFileSync } from 'node:fs';
import { readWav } from '../../src/audio/wav.ts';
import { workflowDefinition } from '../../src/model/workflow.ts';
import type { CallerLine } from './caller.ts';

/** A person leaves this much silence before answering. */
const PAUSE_MS = 700;
/** How far into the agent's words the caller loses patience. */
const PATIENCE_MS = 2_500;
/** Nobody talks on for longer than this once the caller has begun to speak. */
export const YIELD_MS_MAX = 1_000;

interface Saying {
  /** Without one: answers when the agent has finished. */
  interrupts?: true;
  text: string;
  /** In fixtures/audio/callers. */
  audio: string;
  /** What a caller without a recogniser presses instead. */
  keys: string;
  /** Pressed by every caller. */
  alwaysKeys?: true;
}

export interface Scenario {
  direction: 'inbound' | 'outbound';
  agentName: string;
  definition: unknown;
  callerNumber: string;
  initialContext: Record<string, unknown>;
  sayings: readonly Saying[];
  expected: {
    endNode: string;
    gathered: Record<string, unknown>;
    /** What a language model gathers besides. */
    gatheredByModel?: Record<string, unknown>;
    interruptions: number;
  };
}

/** The gateway's number. */
export const OWN_NUMBER = '+15005550006';

export const inbound: Scenario = {
  direction: 'inbound',
  agentName: 'Riverside Dental',
  definition: agent('dental-reception'),
  callerNumber: '+15005550101',
  initialContext: {},
  sayings: [
    { interrupts: true, text: 'book an appointment', audio: 'book-an-appointment', keys: '1' },
    { text: 'on wednesday', audio: 'on-wednesday', keys: '3' },
    { text: 'in the morning', audio: 'in-the-morning', keys: '1' },
    { text: '48213', audio: '', keys: '48213', alwaysKeys: true },
    { text: "that's right", audio: 'that-is-right', keys: '1' },
    { text: 'yes please', audio: 'yes-please', keys: '1' },
  ],
  expected: {
    endNode: 'Booked',
    gathered: {
      weekday: 'wednesday',
      part_of_day: 'morning',
      patient_number: '48213',
      call_disposition: 'booked',
    },
    interruptions: 1,
  },
};

export const outbound: Scenario = {
  direction: 'outbound',
  agentName: 'Harbour Library',
  definition: agent('appointment-reminder'),
  callerNumber: '+15005550102',
  initialContext: {
    company: 'Harbour Library',
    customer_name: 'Ada',
    appointment: 'Tuesday at ten',
  },
  sayings: [
    { text: 'no thank you', audio: 'no-thank-you', keys: '2' },
    { text: 'another day', audio: 'another-day', keys: '3' },
  ],
  expected: {
    endNode: 'Another day',
    gathered: { coming: 'no', reason: 'another day' },
    // The script of this agent has no word for the disposition; a model is asked for one.
    gatheredByModel: { call_disposition: 'rescheduled' },
    interruptions: 0,
  },
};

/** The caller's lines as sound, or as keys where nobody would understand them. */
export function callerLines(scenario: Scenario, recogniser: boolean): CallerLine[] {
  return scenario.sayings.map((saying) => {
    const speaks = recogniser && saying.alwaysKeys !== true;
    return {
      when: saying.interrupts ? 'interrupt' : 'answer',
      afterMs: saying.interrupts ? PATIENCE_MS : PAUSE_MS,
      text: speaks ? saying.text : `presses ${saying.keys}`,
      samples: speaks ? recording(saying.audio) : new Int16Array(0),
      keys: speaks ? '' : saying.keys,
    };
  });
}

/** A caller's line at 8 kHz. */
export function recording(name: string): Int16Array {
  return readWav(readFileSync(`fixtures/audio/callers/${name}.wav`)).samples;
}

function agent(name: string): unknown {
  const text = readFileSync(`fixtures/workflows/${name}.json`, 'utf8');
  return workflowDefinition.parse(JSON.parse(text));
}
