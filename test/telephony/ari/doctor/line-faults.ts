// Faults of lines as they are injected into the simulated Asterisk, each with the code that the line watch must give.

import type { LineFaultCode } from '../../../../src/model/line-fault.ts';
import type { LineSettings } from '../../../../src/model/line-watch.ts';
import { type Dialplan, standardDialplan } from '../../../fakes/asterisk/dialplan.ts';
import type { FakeAsterisk, FakeAsteriskOptions } from '../../../fakes/asterisk/fake-asterisk.ts';
import { APP } from './doctor-harness.ts';

export const NUMBER = '8000';
/** The number behind the trunk that answers and echoes. */
export const ECHO = '9196';

export interface LineFaultCase {
  name: string;
  code: LineFaultCode;
  line: Pick<LineSettings, 'kind' | 'number'>;
  inject(asterisk: FakeAsterisk): unknown;
  /** False: the PBX is gone, with what it had. */
  leavesPbx?: false;
}

const lines: Dialplan = {
  'from-trunk': {
    [NUMBER]: [
      { app: 'Set', data: 'JITTERBUFFER(adaptive)=default' },
      { app: 'Stasis', args: ['inbound', '%'] },
    ],
  },
};

/** What answers behind the trunk. */
const behind: Dialplan[string] = {
  ...standardDialplan['out-dest'],
  talks: [{ app: 'Answer' }, { app: 'Playtones', hz: 300 }, { app: 'Wait', ms: 60_000 }],
};

/** A PBX with a number that reaches the gateway, and a trunk with an echo behind it. */
export function pbxOfLines(): FakeAsteriskOptions {
  return {
    app: APP,
    endpoints: { trunk: { context: 'from-trunk', kind: 'outside' } },
    numbers: { [ECHO]: 'echo' },
    // Of its own for each PBX: faults change it.
    dialplan: structuredClone({
      ...lines,
      'from-trunk': { ...lines['from-trunk'], ...behind },
    } satisfies Dialplan),
  };
}

export function settingsOf(of: Pick<LineSettings, 'kind' | 'number'>): LineSettings {
  return {
    name: of.kind,
    ...of,
    context: of.kind === 'number' ? 'from-trunk' : null,
    isEnabled: true,
    intervalMinutes: 30,
    places: null,
    testsKeys: true,
  };
}

const number = { kind: 'number', number: NUMBER } as const;
const trunk = { kind: 'trunk', number: ECHO } as const;
const pbx = { kind: 'pbx', number: null } as const;
const refuse = (status: number, message: string) => ({ status, body: { message } });

export const lineFaultCases: readonly LineFaultCase[] = [
  {
    name: 'the PBX does not answer',
    code: 'pbx_unreachable',
    line: number,
    inject: (asterisk) => asterisk.loseNetwork(),
    leavesPbx: false,
  },
  {
    name: 'the password was changed at the PBX',
    code: 'pbx_login',
    line: number,
    inject: (asterisk) => {
      asterisk.users['gw'] = { password: 'another' };
    },
  },
  {
    name: 'the user may only read',
    code: 'pbx_rights',
    line: number,
    inject: (asterisk) => {
      asterisk.users['gw'] = { password: 'gwsecret', isReadOnly: true };
    },
  },
  {
    name: 'the line of the number was removed',
    code: 'number_unrouted',
    line: number,
    inject: (asterisk) => asterisk.setExtension('from-trunk', NUMBER, undefined),
  },
  {
    name: 'the dialplan passes another number',
    code: 'wrong_number',
    line: number,
    inject: (asterisk) =>
      asterisk.setExtension('from-trunk', NUMBER, [{ app: 'Stasis', args: ['inbound', '8001'] }]),
  },
  {
    name: 'an announcement answers the number',
    code: 'answered_elsewhere',
    line: number,
    inject: (asterisk) =>
      asterisk.setExtension('from-trunk', NUMBER, [
        { app: 'Answer' },
        { app: 'Playback', sound: 'demo-congrats' },
        { app: 'Wait', ms: 20_000 },
      ]),
  },
  {
    name: 'the number rings a telephone',
    code: 'not_arrived',
    line: number,
    inject: (asterisk) =>
      asterisk.setExtension('from-trunk', NUMBER, [
        { app: 'Ringing' },
        { app: 'Wait', ms: 60_000 },
      ]),
  },
  {
    name: 'the dialplan hangs up',
    code: 'ended_early',
    line: number,
    inject: (asterisk) =>
      asterisk.setExtension('from-trunk', NUMBER, [{ app: 'Hangup', cause: 16 }]),
  },
  {
    name: 'media sockets are refused',
    code: 'media_failed',
    line: pbx,
    inject: (asterisk) => {
      asterisk.faults.rest = ({ path }) =>
        path === 'channels/externalMedia' ? refuse(500, 'An internal error') : undefined;
    },
  },
  {
    name: 'callers hear nothing',
    code: 'one_way_to_caller',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCaller: { isMute: true } };
    },
  },
  {
    name: 'callers are not heard',
    code: 'one_way_from_caller',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCallee: { isMute: true } };
    },
  },
  {
    name: 'no audio passes at all',
    code: 'no_audio',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCaller: { isMute: true }, toCallee: { isMute: true } };
    },
  },
  {
    name: 'one end sends A-law, the other reads mu-law',
    code: 'codec',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCallee: { isMisread: true } };
    },
  },
  {
    name: 'the audio has a hundredth of its volume',
    code: 'faint',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCaller: { gain: 0.02 } };
    },
  },
  {
    name: 'a tenth of the packets is lost',
    code: 'loss',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCallee: { lostPercent: 10 } };
    },
  },
  {
    name: 'the audio is 700 ms late',
    code: 'late_audio',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCaller: { delayMs: 700 } };
    },
  },
  {
    name: 'the audio comes in bursts of 300 ms',
    code: 'jitter',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCallee: { burstFrames: 15 } };
    },
  },
  {
    name: 'keys are lost',
    code: 'keys',
    line: number,
    inject: (asterisk) => {
      asterisk.faults.losesKeys = true;
    },
  },
  {
    name: 'the far end of the trunk is dead',
    code: 'trunk_dead',
    line: trunk,
    inject: (asterisk) => asterisk.answerNumber(ECHO, 'noreply'),
  },
  {
    name: 'the trunk refuses',
    code: 'trunk_refused',
    line: trunk,
    inject: (asterisk) => asterisk.answerNumber(ECHO, 'reject'),
  },
  {
    name: 'the trunk has no free channel',
    code: 'trunk_congested',
    line: trunk,
    inject: (asterisk) => asterisk.answerNumber(ECHO, 'congestion'),
  },
  {
    name: 'the trunk does not know the number',
    code: 'no_route',
    line: trunk,
    inject: (asterisk) => asterisk.answerNumber(ECHO, 'unalloc'),
  },
  {
    name: 'somebody talks behind the trunk',
    code: 'wrong_party',
    line: trunk,
    inject: (asterisk) => asterisk.answerNumber(ECHO, 'talks'),
  },
  {
    name: 'the echo is lost on its way',
    code: 'no_audio',
    line: trunk,
    inject: (asterisk) => {
      asterisk.faults.audio = { toCaller: { isMute: true } };
    },
  },
];
