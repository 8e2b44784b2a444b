// Detects whether the process with a given epoch is alive, by its unix socket in this data folder, which the kernel
// closes when the process ends. A refused connection proves its death only on the same machine, since its start, and in
// the folder of its creation, so the socket's name contains these. Process ids are not used, because every container
// counts its own; a socket works across containers.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import type { EpochWitness } from './node-entry.ts';
import type { NodeIdentity } from './store-context.ts';

/** Linux file whose content changes with every start of the machine. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
/** Longest path of a socket on the strictest kernel (macOS); a longer one would be cut. */
const PATH_BYTES_MAX = 103;
const PLACE_DIGITS = 8;
const SOCKET_NAME = /^node-[0-9a-f]{8}-(\d+)$/;

export class EpochSocket implements EpochWitness {
  readonly #server: Server | undefined;
  readonly #folder: string;
  readonly #place: Place;

  private constructor(folder: string, place: Place, server: Server | undefined) {
    this.#folder = folder;
    this.#place = place;
    this.#server = server;
  }

  /** Opens the socket. Without one (file system without sockets, path too long), other processes cannot detect this
   *  one. */
  static async open(folder: string, { node, epoch }: NodeIdentity, log: Log): Promise<EpochSocket> {
    const place = placeOf(folder, node);
    try {
      return new EpochSocket(folder, place, await listen(place.pathOf(epoch)));
    } catch (error) {
      log.warn(
        { err: error },
        'no socket can be created in the data folder: equal node names are detected by heartbeats',
      );
      return new EpochSocket(folder, place, undefined);
    }
  }

  async isAlive(epoch: string): Promise<boolean | undefined> {
    if (this.#server === undefined) return undefined;
    const answer = await answerAt(this.#place.pathOf(epoch));
    return answer === 'refused' && !this.#place.isProof ? undefined : ANSWERS[answer];
  }

  forget(epoch: string): void {
    const left = readdirSync(this.#folder).filter((name) => SOCKET_NAME.exec(name)?.[1] === epoch);
    for (const name of left) rmSync(join(this.#folder, name), { force: true });
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    await new Promise((resolve) => server.close(resolve));
  }
}

interface Place {
  pathOf: (epoch: string) => string;
  /** Whether a refusing socket was created here since the start of the machine. */
  isProof: boolean;
}

function placeOf(folder: string, node: string): Place {
  const boot = bootId();
  const { dev, ino } = statSync(folder, { bigint: true });
  const text = JSON.stringify([node, boot ?? '', String(dev), String(ino)]);
  const place = createHash('sha256').update(text).digest('hex').slice(0, PLACE_DIGITS);
  const pathOf = (epoch: string): string => join(folder, `node-${place}-${epoch}`);
  return { pathOf, isProof: boot !== undefined };
}

function bootId(): string | undefined {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim();
  } catch {
    return undefined; // Not Linux.
  }
}

async function listen(path: string): Promise<Server> {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw new RangeError('the path is too long');
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.on('error', reject); // Other processes' connections carry no data.
    server.listen(path, () => resolve(server));
  });
}

const ANSWERS = { accepted: true, refused: false, unknown: undefined };

function answerAt(path: string): Promise<keyof typeof ANSWERS> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve('accepted');
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'unknown');
    });
  });
}
