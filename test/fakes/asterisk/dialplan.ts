// The dialplan of the simulated PBX: the contexts, destinations and callers of asterisk §1, as data.

/** One step: the dialplan application's name, and what it is given. */
export type Step = (
  | { app: 'Ringing' | 'Progress' | 'Answer' | 'Echo' | 'Busy' | 'Congestion' }
  | { app: 'Wait'; ms: number }
  /** A variable, or a function such as TIMEOUT(absolute): `name=value`. */
  | { app: 'Set'; data: string }
  | { app: 'Playback'; sound: string }
  | { app: 'Playtones'; hz: number }
  | { app: 'SendDTMF'; digits: string; everyMs: number }
  /** Listens until the caller hangs up, at most so long. */
  | { app: 'Record'; ms: number }
  | { app: 'Hangup'; cause: number }
  /** `name`: the application; without it the one of inbound calls. */
  | { app: 'Stasis'; args: string[]; name?: string }
  /** Rings another extension and joins the two: over a Local channel, or over this PJSIP endpoint, where the context is
   *  the endpoint's. */
  | { app: 'Dial'; context: string; exten: string; endpoint?: string }
  /** Goes on at another extension. */
  | { app: 'Goto'; context: string; exten: string }
) & {
  /** `same => n(label),...` */
  label?: string;
};

export type Dialplan = Record<string, Record<string, Step[]>>;

const wait = (seconds: number): Step => ({ app: 'Wait', ms: seconds * 1_000 });
const play = (sound: string): Step => ({ app: 'Playback', sound });
const hangUp = (cause = 16): Step => ({ app: 'Hangup', cause });
const ringing: Step = { app: 'Ringing' };
const answer: Step = { app: 'Answer' };

const destinations: Record<string, Step[]> = {
  answer: [ringing, wait(2), answer, play('hello-world'), wait(60), hangUp()],
  instant: [answer, wait(60), hangUp()],
  early: [{ app: 'Progress' }, play('vm-intro'), answer, wait(60), hangUp()],
  echo: [answer, { app: 'Echo' }],
  busy: [ringing, wait(1), { app: 'Busy' }],
  busynow: [{ app: 'Busy' }],
  noanswer: [ringing, wait(300)],
  /** Switched off: the provider replies with 480. */
  off: [hangUp(19)],
  /** The far end of the trunk does not reply. */
  noreply: [wait(4), hangUp(18)],
  congestion: [{ app: 'Congestion' }],
  reject: [ringing, wait(1), hangUp(21)],
  unalloc: [hangUp(1)],
  noroute: [hangUp(3)],
  netfail: [hangUp(38)],
  hangafter: [answer, wait(2), hangUp()],
  voicemail: [
    ringing,
    wait(2),
    answer,
    play('vm-intro'),
    play('beep'),
    { app: 'Record', ms: 30_000 },
    hangUp(),
  ],
  dtmf: [answer, wait(2), { app: 'SendDTMF', digits: '42#', everyMs: 350 }, wait(30), hangUp()],
};

/** `_X.` is any number of two digits or more. `args` of Stasis: `%` is the extension dialled. */
const inbound: Record<string, Step[]> = {
  '_X.': [{ app: 'Stasis', args: ['inbound', '%'] }, play('pbx-invalid'), hangUp(41)],
};

export const standardDialplan: Dialplan = {
  'pbx-in': inbound,
  'out-dest': destinations,
  'sip-dest': { ...destinations, ...inbound },
  'caller-sim': {
    talk: [play('hello-world'), wait(1), play('demo-congrats'), wait(30), hangUp()],
    silent: [wait(120), hangUp()],
    tone: [{ app: 'Playtones', hz: 440 }, wait(60), hangUp()],
    load: [{ app: 'Playtones', hz: 440 }, wait(600)],
    quiet: [wait(600)],
    echo: [{ app: 'Echo' }],
    dtmf: [wait(3), { app: 'SendDTMF', digits: '12*#', everyMs: 350 }, wait(30), hangUp()],
    short: [wait(4), hangUp()],
    /** For tests that are the caller themselves. */
    person: [wait(3_600)],
  },
  agents: {
    '600': [{ app: 'Dial', context: 'out-dest', exten: 'answer' }, hangUp()],
    failover: [play('pbx-invalid'), hangUp()],
  },
};

/** Counts from 1; undefined if no step has that label. */
export function priorityOf(
  plan: Dialplan,
  at: { context: string; exten: string },
  label: string,
): number | undefined {
  const nth = stepsOf(plan, at)?.findIndex((step) => step.label === label) ?? -1;
  return nth < 0 ? undefined : nth + 1;
}

/** Steps of an extension; undefined if there is none. */
export function stepsOf(
  plan: Dialplan,
  at: { context: string; exten: string },
): readonly Step[] | undefined {
  const context = plan[at.context];
  const any = /^\+?\d{2,}$/.test(at.exten) ? context?.['_X.'] : undefined;
  return context?.[at.exten] ?? any;
}
