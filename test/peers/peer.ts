// A peer as a process: started, found by the line that it prints, and ended with its parent.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { PeerSettings } from './engines.ts';

export type PeerName = 'vosk' | 'wyoming' | 'openai';

/** A model of 130 MB is loaded by the first words, the programs before. */
const START_MS_MAX = 60_000;

export class Peer {
  readonly port: number;
  readonly pid: number;
  /** It has ended, by itself or by `stop`. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.pid = child.pid as number; // It has printed its port.
    this.#child = child;
    this.ended = new Promise((resolve) => child.once('exit', () => resolve()));
  }

  static async start(name: PeerName, settings: PeerSettings): Promise<Peer> {
    const program = `test/peers/${name}-process.ts`;
    const options = ['--import', 'tsx', program, JSON.stringify(settings)];
    const child = spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'] });
    const port = await new Promise<number>((resolve, reject) => {
      const fail = (): void => reject(new Error(`${program} did not start`));
      const late = setTimeout(fail, START_MS_MAX);
      child.once('exit', fail);
      createInterface({ input: child.stdout }).on('line', (line) => {
        const found = /^listening on (\d+)$/.exec(line)?.[1];
        if (found === undefined) return;
        clearTimeout(late);
        resolve(Number(found));
      });
    });
    return new Peer(port, child);
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await this.ended;
  }
}
