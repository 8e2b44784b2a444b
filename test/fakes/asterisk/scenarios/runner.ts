// Runs dialplan on a channel, step by step: what a person with a telephone does, or what hands an inbound
// call to an application.

import { sine } from '../../../audio/sounds.ts';
import type { Channel } from '../channel.ts';
import { type Dialplan, priorityOf, type Step, stepsOf } from '../dialplan.ts';
import { prompt } from '../media/sound.ts';
import type { Pbx } from '../pbx.ts';
import { Phone } from '../phone.ts';

/** Answer() waits so long for the first audio before the dialplan goes on. */
const ANSWER_SETTLES_MS = 500;
/** Busy(3), Congestion(3). */
const BUSY_TONE_MS = 3_000;

export interface DialplanSettings {
  plan: Dialplan;
  /** The application of inbound calls, if the call brings no other as its variable TARGET. */
  app: string;
}

export class Runner {
  readonly #pbx: Pbx;
  readonly #settings: DialplanSettings;
  /** Rings another extension for Dial(). */
  connect: (from: Channel, to: Extract<Step, { app: 'Dial' }>) => void = () => undefined;
  onPhone: (phone: Phone) => void = () => undefined;

  constructor(pbx: Pbx, settings: DialplanSettings) {
    this.#pbx = pbx;
    this.#settings = settings;
  }

  has(at: { context: string; exten: string }): boolean {
    return stepsOf(this.#settings.plan, at) !== undefined;
  }

  /** Whether the extension has a line of that priority or label. */
  hasLine(at: { context: string; exten: string }, line: string): boolean {
    const steps = stepsOf(this.#settings.plan, at) ?? [];
    const priority = Number(line);
    return priority > 0 ? priority <= steps.length : steps.some(({ label }) => label === line);
  }

  /** The step with that label; undefined if there is none. */
  priorityOf(at: { context: string; exten: string }, label: string): number | undefined {
    return priorityOf(this.#settings.plan, at, label);
  }

  hasContext(context: string): boolean {
    return this.#settings.plan[context] !== undefined;
  }

  /** The person on a channel. */
  attachPhone(channel: Channel, extension: string): Phone {
    const pbx = this.#pbx;
    const phone = new Phone({
      extension,
      from: channel.caller.number,
      to: channel.exten,
      clock: pbx.clock,
      line: {
        audio: (frame) => channel.line.audio(frame),
        digit: (digit) => channel.line.digit(digit),
        hold: (on) => {
          const held = channel.partner ?? channel;
          held.isHolding = on;
          const facts = on ? { musicclass: 'default' } : {};
          pbx.tell(held, on ? 'ChannelHold' : 'ChannelUnhold', facts);
        },
        hangUp: (cause) => {
          channel.isEndedByPhone = true;
          pbx.hangUp(channel, cause, { cause: 16, soft: true });
        },
      },
    });
    channel.phone = phone;
    this.onPhone(phone);
    return phone;
  }

  /** Runs an extension on a channel; without such an extension the channel is hung up. */
  run(channel: Channel, at: { context: string; exten: string; priority?: number }): void {
    const steps = stepsOf(this.#settings.plan, at);
    Object.assign(channel, { context: at.context, exten: at.exten });
    if (steps === undefined) {
      this.#pbx.hangUp(channel, 0, null);
      return;
    }
    void this.#steps(channel, steps, (at.priority ?? 1) - 1);
  }

  async #steps(channel: Channel, steps: readonly Step[], from: number): Promise<void> {
    for (const [nth, step] of steps.entries()) {
      if (nth < from) continue;
      if (channel.isOver) return;
      channel.priority = nth + 1;
      channel.appName = step.app;
      channel.appData = dataOf(step);
      if (step.app === 'Stasis') channel.appData = this.#stasisData(channel, step).join();
      const facts = { dialplan_app: step.app, dialplan_app_data: channel.appData };
      this.#pbx.tell(channel, 'ChannelDialplan', facts);
      if (step.app === 'Stasis' || step.app === 'Goto') {
        if (this.#leaves(channel, step, steps)) return;
        continue;
      }
      await this.#perform(channel, step);
    }
    if (!channel.isOver) this.#pbx.hangUp(channel, 16, { cause: 16, soft: true });
  }

  async #perform(channel: Channel, step: Step): Promise<void> {
    if (step.app === 'Set') {
      const [name = '', value = ''] = step.data.split(/=(.*)/, 2);
      this.#pbx.setVariable(channel, name, value);
      return;
    }
    const phone = channel.phone ?? this.attachPhone(channel, channel.exten);
    phone.pickUp(this.#pbx.ticker);
    await this.#step(channel, phone, step);
  }

  /** True if the channel goes on elsewhere. */
  #leaves(
    channel: Channel,
    step: Extract<Step, { app: 'Stasis' | 'Goto' }>,
    steps: readonly Step[],
  ): boolean {
    if (step.app === 'Stasis') return this.#enterStasis(channel, step, steps);
    this.run(channel, step);
    return true;
  }

  /** True if the application has the channel. */
  #enterStasis(
    channel: Channel,
    step: Extract<Step, { app: 'Stasis' }>,
    steps: readonly Step[],
  ): boolean {
    const [app = '', ...args] = this.#stasisData(channel, step);
    const next = channel.priority;
    channel.onLeave = (goOn) => {
      if (goOn === null) void this.#steps(channel, [...steps.slice(0, next), hangUp], next);
      else this.run(channel, goOn);
    };
    return this.#pbx.enterStasis(channel, app, args);
  }

  /** The application, and its arguments. */
  #stasisData(channel: Channel, step: Extract<Step, { app: 'Stasis' }>): string[] {
    const app = step.name ?? channel.variables.get('TARGET') ?? this.#settings.app;
    return [app, ...step.args.map((arg) => (arg === '%' ? channel.exten : arg))];
  }

  async #step(channel: Channel, phone: Phone, step: Step): Promise<void> {
    switch (step.app) {
      case 'Ringing':
        channel.line.ring();
        return;
      case 'Progress':
        if (channel.partner !== null) this.#pbx.farProgresses(channel.partner);
        return;
      case 'Answer':
        await this.#answer(channel);
        return;
      case 'Echo':
        phone.echo();
        await phone.ended;
        return;
      case 'Playtones':
        phone.hum(sine({ hz: step.hz, levelDbfs: -12 }));
        return;
      case 'Playback':
        await phone.say(prompt(step.sound));
        return;
      case 'SendDTMF':
        for (const digit of step.digits) {
          phone.press(digit);
          await this.#wait(step.everyMs, phone);
        }
        return;
      case 'Wait':
      case 'Record':
        await this.#wait(step.ms, phone);
        return;
      case 'Dial':
        this.connect(channel, step);
        await phone.ended;
        return;
      default:
        await this.#end(channel, phone, step);
    }
  }

  async #end(channel: Channel, phone: Phone, step: Step): Promise<void> {
    const pbx = this.#pbx;
    if (step.app === 'Hangup') {
      pbx.hangUp(channel, step.cause, { cause: 16, soft: true });
      return;
    }
    const cause = step.app === 'Busy' ? 17 : 34;
    const { partner } = channel;
    if (channel.isSip || partner === null) {
      pbx.hangUp(channel, cause, null);
      return;
    }
    if (partner.dialling?.originated === false) {
      // Nobody listens to that but the application: the tone goes on.
      pbx.tellDial(partner, step.app === 'Busy' ? 'BUSY' : 'CONGESTION');
      await this.#wait(BUSY_TONE_MS, phone);
      pbx.hangUp(channel, cause, { cause: 16, soft: true });
      return;
    }
    // A Local channel passes on that it is busy, but no cause.
    pbx.setState(channel, 'Busy');
    pbx.tellDial(partner, step.app === 'Busy' ? 'BUSY' : 'CONGESTION');
    partner.dialling = null;
    channel.ownCause = cause;
    pbx.hangUp(partner, 0, null);
  }

  async #answer(channel: Channel): Promise<void> {
    if (channel.state === 'Up') return;
    this.#pbx.setState(channel, 'Up');
    channel.line.answer();
    const { phone } = channel;
    if (phone !== null) await this.#wait(ANSWER_SETTLES_MS, phone);
  }

  async #wait(ms: number, phone: Phone): Promise<void> {
    let cancel: () => void = () => undefined;
    const passed = new Promise<void>((resolve) => {
      cancel = this.#pbx.later(ms, resolve);
    });
    await Promise.race([passed, phone.ended]);
    cancel();
  }
}

const hangUp: Step = { app: 'Hangup', cause: 16 };

function dataOf(step: Step): string {
  switch (step.app) {
    case 'Wait':
      return String(step.ms / 1_000);
    case 'Playback':
      return step.sound;
    case 'Set':
      return step.data;
    case 'Hangup':
      return String(step.cause);
    case 'SendDTMF':
      return `${step.digits},250,100`;
    default:
      return '';
  }
}
