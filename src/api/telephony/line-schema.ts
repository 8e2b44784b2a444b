// Schemas of watched lines, and the rules between their fields.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { lineFaultCodes, lineFaultOf } from '../../model/line-fault.ts';
import {
  INTERVAL_MINUTES,
  INTERVAL_MINUTES_HOSTED_MIN,
  LINE_NAME_MAX,
  type LineSettings,
  type LineTest,
  type LineWatch,
  lineKinds,
} from '../../model/line-watch.ts';
import { idOut, isoTime, timeOut } from '../http/values.ts';

/** Characters of a number that the dialplan can be asked for. */
const NUMBER = /^\+?[\w*#.-]{1,80}$/;
const CONTEXT = /^[A-Za-z0-9_.-]{1,80}$/;
const PLACES_MAX = 10_000;
const INTERVAL_MINUTES_DEFAULT = 30;

const name = z
  .string()
  .trim()
  .min(1)
  .max(LINE_NAME_MAX)
  .describe('Name of the line, for people: no metric has it.');
const kind = z
  .enum(lineKinds)
  .describe(
    '`pbx`: the audio between the gateway and the PBX, no number is called. `number`: a call to the number through the dialplan of the PBX, as one from outside. `trunk`: a call over the dial template to a number that answers and echoes.',
  );
const number = z
  .string()
  .regex(NUMBER)
  .nullable()
  .describe('The number that is called; null for kind `pbx`.');
const context = z
  .string()
  .regex(CONTEXT)
  .nullable()
  .describe(
    'Of kind `number`: the dialplan context in which calls from outside begin. Null: that of the PJSIP endpoints.',
  );
const enabled = z.boolean().describe('Whether test calls are placed.');
const intervalMinutes = z
  .int()
  .min(INTERVAL_MINUTES.min)
  .max(INTERVAL_MINUTES.max)
  .describe(
    'Minutes between two test calls, give or take a tenth; at least 30 over a hosted provider, which charges for each.',
  );
const channels = z
  .int()
  .min(1)
  .max(PLACES_MAX)
  .nullable()
  .describe(
    "Calls that the line carries at a time. No test call is placed while as many run over the configuration. Null: only the organization's limit of calls counts.",
  );
const testsKeys = z
  .boolean()
  .describe('Whether keys (DTMF) are tested. An echo test of an operator may return none.');

export const lineCreate = z
  .object({
    name,
    kind,
    number: number.default(null),
    context: context.default(null),
    enabled: enabled.default(true),
    interval_minutes: intervalMinutes.default(INTERVAL_MINUTES_DEFAULT),
    channels: channels.default(null),
    tests_keys: testsKeys.default(true),
  })
  .meta({ id: 'WatchedLineRequest' });

export const lineUpdate = z
  .object({
    name: name.optional(),
    number: number.optional(),
    context: context.optional(),
    enabled: enabled.optional(),
    interval_minutes: intervalMinutes.optional(),
    channels: channels.optional(),
    tests_keys: testsKeys.optional(),
  })
  .meta({ id: 'WatchedLineUpdate', description: 'What is left out stays.' });

const fault = z
  .object({
    code: z.enum(lineFaultCodes),
    summary: z.string().describe('What a caller notices.'),
    remedy: z.string().describe('What to do first.'),
  })
  .meta({ id: 'WatchedLineFault' });

export const lineTestOut = z
  .object({
    at: timeOut,
    fault: fault.nullable(),
    message: z.string().describe('What was seen.'),
    delay_ms: z
      .int()
      .nullable()
      .describe('Of the audio one way, or there and back over an echo; null: not measured.'),
    loss_share: z.number().nullable().describe('Share of the audio that did not arrive, 0 to 1.'),
    codec: z.string().nullable(),
  })
  .meta({ id: 'WatchedLineTest', description: 'What one test call found.' });

export const lineOut = z
  .object({
    id: idOut,
    name: z.string(),
    kind,
    number: z.string().nullable(),
    context: z.string().nullable(),
    enabled: z.boolean(),
    interval_minutes: intervalMinutes,
    channels,
    tests_keys: z.boolean(),
    state: z
      .enum(['untested', 'ok', 'doubtful', 'failing'])
      .describe('`doubtful`: the last test call failed, and one more decides.'),
    fault: fault.nullable().describe('Of the last test call.'),
    since: timeOut.nullable().describe('Since when the state is as it is.'),
    next_test_at: timeOut.nullable().describe('Null while no test calls are placed.'),
    last_test: lineTestOut.nullable(),
    created_at: timeOut,
    updated_at: timeOut,
  })
  .meta({
    id: 'WatchedLine',
    description: 'A line that the gateway tests by a call on a schedule.',
  });

/** Checks what belongs together. Throws LINE_INVALID. */
function checkedLine(settings: LineSettings, isHosted: boolean): LineSettings {
  const refuse = (reason: string): never => {
    throw new GatewayError('LINE_INVALID', { reason });
  };
  if (settings.kind === 'pbx' && settings.number !== null)
    refuse('a PBX is watched without a number');
  if (settings.kind !== 'pbx' && settings.number === null) refuse('it needs a number to call');
  if (settings.kind !== 'number' && settings.context !== null) {
    refuse('only a number has a context');
  }
  if (isHosted && settings.kind !== 'trunk') {
    refuse('over a hosted provider a trunk is watched, by a number that answers and echoes');
  }
  if (isHosted && settings.intervalMinutes < INTERVAL_MINUTES_HOSTED_MIN) {
    refuse(
      `the provider charges for each call: at least ${INTERVAL_MINUTES_HOSTED_MIN} minutes must lie between two`,
    );
  }
  return settings;
}

export function createdLine(body: z.infer<typeof lineCreate>, isHosted: boolean): LineSettings {
  const settings = {
    name: body.name,
    kind: body.kind,
    number: body.number,
    context: body.context,
    isEnabled: body.enabled,
    intervalMinutes: body.interval_minutes,
    places: body.channels,
    testsKeys: body.tests_keys,
  };
  return checkedLine(settings, isHosted);
}

export function changedLine(
  line: LineSettings,
  body: z.infer<typeof lineUpdate>,
  isHosted: boolean,
): LineSettings {
  const settings = {
    kind: line.kind,
    name: body.name ?? line.name,
    number: body.number === undefined ? line.number : body.number,
    context: body.context === undefined ? line.context : body.context,
    isEnabled: body.enabled ?? line.isEnabled,
    intervalMinutes: body.interval_minutes ?? line.intervalMinutes,
    places: body.channels === undefined ? line.places : body.channels,
    testsKeys: body.tests_keys ?? line.testsKeys,
  };
  return checkedLine(settings, isHosted);
}

export function lineOnWire(line: LineWatch): z.infer<typeof lineOut> {
  return {
    id: line.id,
    name: line.name,
    kind: line.kind,
    number: line.number,
    context: line.context,
    enabled: line.isEnabled,
    interval_minutes: line.intervalMinutes,
    channels: line.places,
    tests_keys: line.testsKeys,
    state: line.state,
    fault: faultOnWire(line.fault),
    since: line.since === null ? null : isoTime(line.since),
    next_test_at: line.isEnabled ? isoTime(line.nextAt) : null,
    last_test: line.lastTest === null ? null : lineTestOnWire(line.lastTest),
    created_at: isoTime(line.createdAt),
    updated_at: isoTime(line.updatedAt),
  };
}

export function lineTestOnWire(test: LineTest & { at: Date }): z.infer<typeof lineTestOut> {
  return {
    at: isoTime(test.at),
    fault: faultOnWire(test.fault),
    message: test.message,
    delay_ms: test.delayMs,
    loss_share: test.lossShare,
    codec: test.codec,
  };
}

function faultOnWire(code: LineTest['fault']): z.infer<typeof fault> | null {
  if (code === null) return null;
  const { summary, remedy } = lineFaultOf(code);
  return { code, summary, remedy };
}
