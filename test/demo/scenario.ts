// The demo's two calls: which agent, who calls whom, what the caller says (or presses, where no
// recogniser is there), and what must have come of it.

import { readFileSync } from 'node:fs';
import { readWav } from '../../src/audio/wav.ts';
import { workflowDefinition } from '../../src/model/workflow.ts';
import type { CallerLine } from './caller.ts';

/** A person leaves this much silence before answering. */
const PAUSE_MS = 700;
/** How far into the agent's words the caller loses patience. */
const PATIENCE_MS = 3_000;
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
  /** The person's number, and the gateway's. */
  callerNumber: string;
  ownNumber: string;
  initialContext: Record<string, unknown>;
  sayings: readonly Saying[];
  expected: {
    endNode: string;
    gathered: Record<string, unknown>;
    interruptions: number;
  };
}

export const OWN_NUMBER = '+15005550006';

export const inbound: Scenario = {
  direction: 'inbound',
  agentName: 'Harbour Clinic',
  definition: agent('appointment'),
  callerNumber: '+15005550101',
  ownNumber: OWN_NUMBER,
  initialContext: {},
  sayings: [
    { interrupts: true, text: 'book an appointment', audio: 'book-an-appointment', keys: '1' },
    { text: 'thursday', audio: 'thursday', keys: '3' },
    { text: 'in the morning', audio: 'in-the-morning', keys: '1' },
    { text: 'yes please', audio: 'yes-please', keys: '1' },
  ],
  expected: {
    endNode: 'Booked',
    gathered: {
      service: 'book an appointment',
      day: 'thursday',
      time_of_day: 'in the morning',
      reminder: true,
    },
    interruptions: 1,
  },
};

export const outbound: Scenario = {
  direction: 'outbound',
  agentName: 'Swift Parcels',
  definition: agent('delivery'),
  callerNumber: '+15005550102',
  ownNumber: OWN_NUMBER,
  initialContext: { customer_name: 'Ada' },
  sayings: [
    { text: 'yes i am', audio: 'yes-i-am', keys: '1' },
    { text: '4271', audio: '', keys: '4271', alwaysKeys: true },
    { text: "yes that's right", audio: 'yes-that-is-right', keys: '1' },
    { text: 'leave it at the door', audio: 'leave-it-at-the-door', keys: '2' },
  ],
  expected: {
    endNode: 'Settled',
    gathered: { at_home: 'yes', door_code: '4271', handing_over: 'leave it at the door' },
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
